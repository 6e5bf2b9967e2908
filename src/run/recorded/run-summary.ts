import { type Stats, statSync } from "node:fs";
import { jsonObjectOf } from "../../json/parse-json.ts";
import type { JsonObject, JsonValue } from "../../json/values.ts";
import { writeWhole } from "../../write-whole.ts";
import { packedPath } from "../journal/files.ts";
import { JOURNAL_FILE } from "../journal/reader.ts";
import { isAbsent, readTextIfThere } from "../storage/quick-files.ts";
import type { Totals } from "../types.ts";
import type { RunFile } from "./run-file.ts";
import { type RunStore, SUMMARY_FILE } from "./run-store.ts";

/** The end of a run's last execution. It is in the run's folder, so that a list of runs need not read journals. */
export type RunSummary = {
	/** ISO time */
	readonly ended: string;
	/** how long all executions took together */
	readonly seconds: number;
	readonly exitCode: number;
	readonly totals: Totals;
	/** of the failed rows, those whose documents a newer run had touched */
	readonly superseded: number;
	/** whether any row may have been sent, in any execution */
	readonly wrote: boolean;
};

/** The facts from which a summary is written. */
export type NewSummary = {
	/** the object that the run prints at its end */
	readonly printed: JsonObject;
	readonly file: Pick<RunFile, "started" | "command" | "baseUrl"> & { readonly manifest: { readonly name: string } };
	readonly ended: Date;
	readonly wrote: boolean;
	/** bytes of the journal, whose last record is the end of this execution; undefined where it has no such record */
	readonly journalBytes: number | undefined;
};

/** Writes the summary of a run. The file is complete or absent. @throws an error of the storage */
export async function writeRunSummary(runs: RunStore, run: string, summary: NewSummary): Promise<void> {
	const { printed, file, ended, wrote, journalBytes } = summary;
	const { started, command, baseUrl, manifest } = file;
	const added = { started, ended: ended.toISOString(), command, manifest: manifest.name, base_url: baseUrl, wrote };
	const text = JSON.stringify({ ...printed, ...added, journal_bytes: journalBytes ?? null });
	await writeWhole(runs.path(run, SUMMARY_FILE), `${text}\n`);
}

/**
 * The summary of a run, if its journal is still as it was when the summary was written. A run that is going on, was
 * killed or was damaged since has none, and neither has one of 0.1.0: their state comes from their journals.
 */
export function readRunSummary(runs: RunStore, run: string): RunSummary | undefined {
	const object = summaryFile(runs, run);
	return object !== undefined && isOfJournal(object, runs, run) ? summaryIn(object) : undefined;
}

/** Whether a run is complete, by its summary alone, as its journal may be long. */
export function isComplete(runs: RunStore, run: string): boolean {
	const object = summaryFile(runs, run);
	if (object?.["pending"] !== 0) return false;
	// The summary of an earlier release can't be compared with the journal.
	return !("journal_bytes" in object) || (isOfJournal(object, runs, run) && summaryIn(object) !== undefined);
}

function summaryFile(runs: RunStore, run: string): JsonObject | undefined {
	const text = readTextIfThere(runs.path(run, SUMMARY_FILE));
	return text === undefined ? undefined : jsonObjectOf(text);
}

/** Whether a journal is as it was when the summary was written. */
function isOfJournal(object: JsonObject, runs: RunStore, run: string): boolean {
	const written = statusOf(runs.path(run, SUMMARY_FILE));
	if (written === undefined) return false;
	const journal = statusOf(runs.path(run, JOURNAL_FILE));
	if (journal !== undefined) return fits(object, written, journal);
	// A journal is compressed after the summary, and made plain again before anything is appended to it.
	return typeof object["journal_bytes"] === "number" && isPacked(runs, run);
}

function fits({ journal_bytes: bytes }: JsonObject, written: Stats, journal: Stats): boolean {
	return journal.size === bytes && journal.mtimeMs <= written.mtimeMs;
}

function isPacked(runs: RunStore, run: string): boolean {
	return statusOf(packedPath(runs.path(run, JOURNAL_FILE))) !== undefined;
}

function summaryIn(object: JsonObject): RunSummary | undefined {
	const { ended, seconds, exit_code: exitCode, wrote, duplicate_skipped: duplicateSkipped } = object;
	const superseded = object["superseded"] ?? 0;
	const { rows, updated, unchanged, uploaded, removed, failed, invalid, pending, attempts } = object;
	if (typeof ended !== "string" || typeof wrote !== "boolean") return undefined;
	if (!isNumber(superseded) || !isNumber(seconds) || !isNumber(exitCode) || !isNumber(rows) || !isNumber(updated))
		return undefined;
	if (!isNumber(unchanged) || !isNumber(uploaded) || !isNumber(removed) || !isNumber(failed)) return undefined;
	if (!isNumber(invalid) || !isNumber(duplicateSkipped) || !isNumber(pending) || !isNumber(attempts)) return undefined;
	const settled = { updated, unchanged, uploaded, removed, failed };
	return {
		ended,
		seconds,
		exitCode,
		wrote,
		superseded,
		totals: { rows, ...settled, invalid, duplicateSkipped, pending, attempts },
	};
}

function isNumber(value: JsonValue | undefined): value is number {
	return typeof value === "number";
}

function statusOf(path: string): Stats | undefined {
	try {
		return statSync(path);
	} catch (error) {
		if (isAbsent(error)) return undefined;
		throw error;
	}
}
