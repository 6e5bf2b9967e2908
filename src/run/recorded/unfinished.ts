import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import type { JsonObject } from "../../json/values.ts";
import { JOURNAL_FILE, type RecordedRun } from "../journal/reader.ts";
import { compareHeader, FORMAT, type HeaderRecord, type RecordedManifest } from "../journal/records.ts";
import type { RunFile, SendingFlags } from "./run-file.ts";
import type { RunStore } from "./run-store.ts";
import { basename, dirname } from "node:path";
import { errorCode } from "../../errors.ts";
import { jsonObjectOf } from "../../json/parse-json.ts";
import { writeWhole } from "../../write-whole.ts";
import { readTextIfThere, removeFile } from "../storage/quick-files.ts";
import { isComplete } from "./run-summary.ts";

/** The task of a run, and its target. */
export type RunSpec = {
	readonly command: string;
	readonly version: string;
	readonly baseUrl: string;
	readonly manifest: RecordedManifest;
	/** for a plan: the manifest whose lines its rows name */
	readonly madeFrom: string | undefined;
	/** absolute path of the manifest, or of a file to copy, or the text itself */
	readonly source: { readonly path: string } | { readonly copy: string };
	/** the options that change what is sent: a run is only resumed with the same options */
	readonly options: JsonObject;
	/** how the rows are sent, where the command line says so */
	readonly sending?: SendingFlags | undefined;
	/** global flags that the next command needs as well */
	readonly flags: readonly string[];
	/** the run that this one takes back */
	readonly undoes?: string | undefined;
};

/** The effect of `--resume`. A new run starts unless `resume` is there. */
type ResumeChoice = {
	readonly resume?: RecordedRun;
	/** an unfinished run that is left alone */
	readonly notResumed?: { readonly run: string; readonly why: string };
};

/** The run to resume differs from the wanted one. Nothing was sent. */
export class ForeignRun extends Error {
	override readonly name = "ForeignRun";
	readonly run: string;

	constructor(run: string, difference: string) {
		super(`run ${run} can't be resumed: ${difference}`);
		this.run = run;
	}
}

export type FindUnfinishedOptions = {
	readonly runs: RunStore;
	/** the newest run of the same job, where it is unfinished and has the same content and options; or the run of that name */
	readonly resume: boolean | string;
	readonly now: () => Date;
	/** why the run that was found is not resumed: a newer run has touched its documents. undefined where none has */
	readonly touchedSince?: ((file: RunFile) => Promise<string | undefined>) | undefined;
};

/**
 * The run to resume, or the reason why there is none. A run given by name is resumed even if newer runs followed it.
 *
 * @throws ForeignRun where the run of that name has other content, another target or other options
 */
export async function findUnfinished(
	spec: RunSpec,
	{ runs, resume, now, touchedSince }: FindUnfinishedOptions,
): Promise<ResumeChoice> {
	if (resume === false) return {};
	// Neither the name of the run nor the time is compared.
	const wanted = headerOf("", spec, { now: now() });
	if (resume === true) return await newestUnfinished(spec, wanted, { runs, touchedSince });
	const recorded = await runs.journal(resume);
	if (recorded === undefined) return {};
	// Another name or path of the same content is no difference.
	const difference = compareHeader(recorded.header, wanted);
	if (difference !== undefined) throw new ForeignRun(resume, difference);
	return { resume: recorded };
}

/** Only the newest run of a job is resumed. */
async function newestUnfinished(
	spec: RunSpec,
	wanted: HeaderRecord,
	{ runs, touchedSince }: Pick<FindUnfinishedOptions, "runs" | "touchedSince">,
): Promise<ResumeChoice> {
	const jobKey = jobKeyOf(spec, "path" in spec.source ? spec.source.path : undefined);
	for (const file of await runs.files()) {
		if (recordedJobKey(file) !== jobKey) continue;
		const recorded = await runs.journal(file.run);
		// The run was killed before its header was written: nothing was sent.
		if (recorded === undefined) continue;
		const { run } = file;
		if (isFinished(recorded) && runs.hasSummary(run)) return {};
		const mark = markOf(runs, run);
		if (mark !== undefined) {
			const why = mark.isUndone ? `run ${mark.by} undid it` : `run ${mark.by} has taken its place`;
			return { notResumed: { run, why } };
		}
		const why = compareHeader(recorded.header, wanted) ?? (await touchedSince?.(file));
		return why === undefined ? { resume: recorded } : { notResumed: { run, why } };
	}
	return {};
}

/**
 * Whether a run is complete. A run that was killed after its last row has no end yet, so it is not finished: a new run
 * would send all its rows again.
 */
export function isFinished({ state }: RecordedRun): boolean {
	return state.end !== undefined && state.totals().pending === 0;
}

/** The duration of all executions of a run. A killed execution ended at the last write to its journal. */
export async function millisecondsOf({ header, state }: RecordedRun, runs: RunStore): Promise<number> {
	const { earlierMilliseconds = 0, time } = state.headers.at(-1) ?? header;
	const until = state.end ? Date.parse(state.end.time) : (await stat(runs.path(header.run, JOURNAL_FILE))).mtimeMs;
	return earlierMilliseconds + Math.max(0, Math.round(until - Date.parse(time)));
}

export function headerOf(
	run: string,
	{ command, version, manifest, baseUrl, options }: Omit<RunSpec, "madeFrom" | "source" | "flags">,
	{ now, order }: { readonly now: Date; readonly order?: number | undefined },
): HeaderRecord {
	return {
		kind: "header",
		version: FORMAT,
		run,
		tool: version,
		command,
		manifest,
		target: { baseUrl },
		options: createHash("sha256").update(JSON.stringify(options)).digest("hex"),
		order,
		time: now.toISOString(),
	};
}

/** Names the run that superseded or undid this one. It stays when that run's record is removed, as its writes stay too. */
export const SUPERSEDED_FILE = "superseded.json";

/**
 * Why a run is not resumed without its name: a newer run of its job began after it, or it was undone. It protects no
 * document: `newer/newer-runs.ts` does that, by the documents themselves.
 */
export type Mark = { readonly by: string; readonly isUndone: boolean };

/** The mark of a run; undefined for nearly every run. */
export function markOf(runs: RunStore, run: string): Mark | undefined {
	const text = readTextIfThere(runs.path(run, SUPERSEDED_FILE));
	// A damaged file does not count.
	const { by, undone } = (text === undefined ? undefined : jsonObjectOf(text)) ?? {};
	return typeof by === "string" ? { by, isUndone: undone === true } : undefined;
}

/**
 * Marks unfinished runs as superseded. Finished runs and runs that have a mark stay as they are.
 *
 * @returns the names of the runs that it marked
 */
export async function supersede(runs: RunStore, files: readonly RunFile[], by: string): Promise<string[]> {
	const open = files.filter(({ run }) => run !== by && !isComplete(runs, run) && markOf(runs, run) === undefined);
	return await mark(runs, open, { by, isUndone: false });
}

/** Marks runs, finished or not, in place of other marks. @returns the names of those that were still there */
export async function mark(runs: RunStore, files: readonly RunFile[], { by, isUndone }: Mark): Promise<string[]> {
	const marked: string[] = [];
	const text = `${JSON.stringify({ schema: 1, by, ...(isUndone ? { undone: true } : {}) })}\n`;
	for (const { run } of files) {
		try {
			// An incomplete mark would not count, and no later mark would replace it.
			await writeWhole(runs.path(run, SUPERSEDED_FILE), text);
			marked.push(run);
		} catch (error) {
			// The record of the older run was removed since the runs were listed.
			if (errorCode(error) !== "ENOENT") throw error;
		}
	}
	return marked;
}

/** Takes the marks of a run away again, which has sent nothing. Call it before the record of that run is removed. */
export async function unmark(runs: RunStore, marked: readonly string[], by: string): Promise<void> {
	for (const run of marked) {
		if (markOf(runs, run)?.by === by) removeFile(runs.path(run, SUPERSEDED_FILE));
	}
}

/** The command of a run that takes another one back. */
export const UNDO_COMMAND = "runs undo";

/** The command in the record of a sync. */
export const SYNC_COMMAND = "docs sync";

const UNDO_PREFIX = "undo of ";

/** The name of the manifest of an undo. */
export function undoManifestName(run: string): string {
	return `${UNDO_PREFIX}${run}`;
}

/** The run that an undo takes back; undefined for any other run. */
export function undoneRunOf({
	command,
	manifest: { name },
}: Pick<RunFile, "command"> & { readonly manifest: Pick<RunFile["manifest"], "name"> }): string | undefined {
	return command === UNDO_COMMAND && name.startsWith(UNDO_PREFIX) ? name.slice(UNDO_PREFIX.length) : undefined;
}

/** The members by which `--resume` knows the job of a run. */
type Job = Pick<RunFile, "command" | "baseUrl" | "options"> & { readonly manifest: Pick<RecordedManifest, "sha256"> };

/**
 * The key that runs of the same job share: command, target, the options that change what is sent, and the manifest by its
 * path. Rows from a pipe or from arguments have no path: their content counts.
 *
 * @param path absolute; undefined where the run keeps a copy
 */
function jobKeyOf({ command, baseUrl, options, manifest: { sha256 } }: Job, path: string | undefined): string {
	// Each sync compares the folder anew: its job is to bring its state and its dataset up to date. An undo has a state, too.
	if (command === SYNC_COMMAND) return JSON.stringify([command, baseUrl, options["sync"], options["dataset"]]);
	const rows = path === undefined ? ["content", sha256] : ["path", path];
	return JSON.stringify([command, baseUrl, options, ...rows]);
}

export function recordedJobKey(file: RunFile): string {
	const { path } = file.manifest;
	// The state folder may have been elsewhere when the run began, so only the end of the path is compared.
	const isCopy = basename(path) === "manifest" && basename(dirname(path)) === file.run;
	return jobKeyOf(file, isCopy ? undefined : path);
}
