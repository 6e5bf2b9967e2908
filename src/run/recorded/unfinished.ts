import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import type { JsonObject } from "../../json/values.ts";
import { JOURNAL_FILE, type RecordedRun } from "../journal/reader.ts";
import { compareHeader, FORMAT, type HeaderRecord, type RecordedManifest } from "../journal/records.ts";
import type { RunFile } from "./run-file.ts";
import type { RunStore } from "./run-store.ts";
import type { SendingFlags } from "./run-file.ts";
import { type Job, jobKeyOf, markOf, recordedJobKey } from "./superseded.ts";

/** The task of a run, and its target. */
export type RunSpec = {
	readonly command: string;
	readonly version: string;
	readonly baseUrl: string;
	readonly manifest: RecordedManifest;
	/** for a plan: the manifest whose lines its rows name */
	readonly madeFrom: string | undefined;
	/** absolute path of the manifest, or of a file to copy, or the text itself */
	readonly source: { readonly path: string } | { readonly copy: string } | { readonly text: string };
	/** the options that change what is sent: a run is only resumed with the same options */
	readonly options: JsonObject;
	/** how the rows are sent, where the command line says so */
	readonly sending?: SendingFlags | undefined;
	/** global flags that the next command needs as well */
	readonly flags: readonly string[];
	/** the run that this one takes back */
	readonly undoes?: string | undefined;
};

/** The effect of `--resume`. */
type ResumeChoice =
	| { readonly resume: RecordedRun }
	/** a new run starts, and the unfinished one is left alone */
	| { readonly notResumed: { readonly run: string; readonly why: string } }
	/** a new run starts, as none is unfinished */
	| "none";

/** The run to resume differs from the wanted one. Nothing was sent. */
export class ForeignRun extends Error {
	override readonly name = "ForeignRun";
	readonly run: string;
	readonly difference: string;

	constructor(run: string, difference: string) {
		super(`run ${run} can't be resumed: ${difference}`);
		this.run = run;
		this.difference = difference;
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
	if (resume === false) return "none";
	const headerNow = (run: string): HeaderRecord => headerOf(run, spec, { now: now() });
	if (resume === true) return await newestUnfinished(spec, headerNow, { runs, touchedSince });
	const recorded = await runs.journal(resume);
	if (recorded === undefined) return "none";
	// Another name or path of the same content is no difference.
	const difference = compareHeader(recorded.header, headerNow(resume));
	if (difference !== undefined) throw new ForeignRun(resume, difference);
	return { resume: recorded };
}

/** Only the newest run of a job is resumed. */
async function newestUnfinished(
	spec: RunSpec,
	headerNow: (run: string) => HeaderRecord,
	{ runs, touchedSince }: Pick<FindUnfinishedOptions, "runs" | "touchedSince">,
): Promise<ResumeChoice> {
	const jobKey = jobKeyOf(jobOf(spec));
	for (const file of await runs.files()) {
		if (recordedJobKey(file) !== jobKey) continue;
		const recorded = await runs.journal(file.run);
		// The run was killed before its header was written: nothing was sent.
		if (recorded === undefined) continue;
		const { run } = file;
		if (isFinished(recorded) && runs.hasSummary(run)) return "none";
		const mark = markOf(runs, run);
		if (mark !== undefined) {
			const why = mark.isUndone ? `run ${mark.by} undid it` : `run ${mark.by} has taken its place`;
			return { notResumed: { run, why } };
		}
		const why = compareHeader(recorded.header, headerNow(run)) ?? (await touchedSince?.(file));
		return why === undefined ? { resume: recorded } : { notResumed: { run, why } };
	}
	return "none";
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
	const written = async (): Promise<number> => (await stat(runs.path(header.run, JOURNAL_FILE))).mtimeMs;
	const until = state.end === undefined ? await written() : Date.parse(state.end.time);
	return earlierMilliseconds + Math.max(0, Math.round(until - Date.parse(time)));
}

export function headerOf(
	run: string,
	{ command, version, manifest, baseUrl, options }: RunSpec,
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

function jobOf({ command, baseUrl, options, manifest, source }: RunSpec): Job {
	const path = "path" in source ? source.path : undefined;
	return { command, baseUrl, options, manifest: { sha256: manifest.sha256, path } };
}
