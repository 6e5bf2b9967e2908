import * as v from "valibot";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { OUTCOMES } from "../../outcomes.ts";
import { jsonObjectOf } from "../../json/parse-json.ts";
import type { JsonObject } from "../../json/values.ts";
import { writeWhole } from "../../write-whole.ts";
import { packedPath } from "../journal/files.ts";
import { JOURNAL_FILE } from "../journal/reader.ts";
import { FOUND_RATE } from "../rate/found-rate.ts";
import { ifThere, readTextIfThere } from "../storage/quick-files.ts";
import type { Totals } from "../types.ts";
import { known, type RunFile } from "./run-file.ts";
import { type RunStore, SUMMARY_FILE } from "./run-store.ts";

/** The end of a run's last execution. It is in the run's folder, so that a list of runs need not read journals. */
export type RunSummary = NonNullable<ReturnType<typeof summaryIn>>;

/**
 * Writes the summary of a run, whose last execution has ended.
 *
 * @param printed the object that the run prints at its end
 * @param journal its bytes, the last record of which is that end; undefined where it has no such record
 * @throws an error of the storage
 */
export async function writeRunSummary(
	runs: RunStore,
	{ run, started, command, baseUrl, manifest }: RunFile,
	printed: object,
	{ ended, wrote, journal }: { readonly ended: Date; readonly wrote: boolean; readonly journal: number | undefined },
): Promise<void> {
	const added = { started, ended: ended.toISOString(), command, manifest: manifest.name, base_url: baseUrl, wrote };
	const text = JSON.stringify({ ...printed, ...added, journal_bytes: journal ?? null });
	await writeWhole(runs.path(run, SUMMARY_FILE), `${text}\n`);
}

/**
 * The summary of a run, if its journal is still as it was when the summary was written. A run that is going on, was
 * killed or was damaged since has none: its state comes from its journal.
 */
export function readRunSummary(runs: RunStore, run: string): RunSummary | undefined {
	const object = summaryFile(runs.path(run));
	return object !== undefined && isOfJournal(object, runs.path(run)) ? summaryIn(object) : undefined;
}

/** The summary in a folder, as it is there: in a copy of a folder, the files may have other times. */
export function readSummary(folder: string): RunSummary | undefined {
	const object = summaryFile(folder);
	return object === undefined ? undefined : summaryIn(object);
}

/** Whether a run is complete, by its summary alone, as its journal may be long. */
export function isComplete(runs: RunStore, run: string): boolean {
	return readRunSummary(runs, run)?.totals.pending === 0;
}

function summaryFile(folder: string): JsonObject | undefined {
	const text = readTextIfThere(join(folder, SUMMARY_FILE));
	return text === undefined ? undefined : jsonObjectOf(text);
}

/** Whether a journal is as it was when the summary was written. */
function isOfJournal({ journal_bytes: bytes }: JsonObject, folder: string): boolean {
	const written = ifThere(() => statSync(join(folder, SUMMARY_FILE)));
	const path = join(folder, JOURNAL_FILE);
	const journal = ifThere(() => statSync(path));
	if (written === undefined) return false;
	// It was compressed after the summary, and is made plain before anything is appended.
	if (journal === undefined) return existsSync(packedPath(path));
	return journal.size === bytes && journal.mtimeMs <= written.mtimeMs;
}

const VERIFIED = ["rows", "checked", "equal", "normalised", "lost", "changed_since", "unknown", "pending"] as const;

const SUMMARY = v.object({
	/** ISO time */
	ended: v.string(),
	/** whether any row may have been sent, in any execution */
	wrote: v.boolean(),
	/** how long all executions took together */
	seconds: v.number(),
	exit_code: v.number(),
	/** of the failed rows, those whose documents a newer run had touched */
	superseded: v.number(),
	duplicate_skipped: v.number(),
	counts: v.object(v.entriesFromList(["rows", ...OUTCOMES, "invalid", "pending", "attempts"], v.number())),
	/** why it ended before its last row */
	stop: known(v.object({ code: v.number(), text: v.string() })),
	slow: v.fallback(v.array(v.object({ cause: v.string(), seconds: v.number() })), []),
	verify: known(v.object({ mode: v.picklist(["sample", "all"]), ...v.entriesFromList(VERIFIED, v.number()) })),
	verified: known(v.boolean()),
	found_rate: known(FOUND_RATE),
	/** the command that undoes it */
	undo: known(v.string()),
});

/** The end in a printed summary with the members that a file adds; undefined where one is missing. */
export function summaryIn(object: JsonObject) {
	const { success, output } = v.safeParse(SUMMARY, { ...object, counts: object });
	if (!success) return undefined;
	const { exit_code: exitCode, duplicate_skipped: duplicateSkipped, counts, verified, found_rate, ...others } = output;
	const totals: Totals = { ...counts, duplicateSkipped };
	return {
		...others,
		exitCode,
		totals,
		/** whether an update was seen to arrive, and none is known to be lost */
		isVerified: verified === true,
		/** what `--rate auto` found */
		foundRate: found_rate,
	};
}
