import { createHash } from "node:crypto";
import type { JsonObject } from "../../json/values.ts";
import type { RecordedRun } from "../journal/reader.ts";
import { compareHeader, FORMAT, type HeaderRecord, type RecordedManifest } from "../journal/records.ts";
import type { RunFile } from "./run-file.ts";
import type { RunStore } from "./run-store.ts";
import type { SendingFlags } from "./sending-flags.ts";
import { type Job, jobKeyOf, overlaps, recordedJobKey, supersededBy } from "./superseded.ts";

/** The task of a run, and its target. */
export type RunSpec = {
	readonly command: string;
	readonly version: string;
	readonly baseUrl: string;
	readonly manifest: RecordedManifest;
	/** for a plan: the manifest whose lines its rows name */
	readonly madeFrom?: { readonly source: string };
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
export type ResumeChoice =
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
};

/**
 * The run to resume, or the reason why there is none. A run given by name is resumed even if newer runs followed it.
 *
 * @throws ForeignRun where the run of that name has other content, another target or other options
 */
export async function findUnfinished(
	spec: RunSpec,
	{ runs, resume, now }: FindUnfinishedOptions,
): Promise<ResumeChoice> {
	if (resume === false) return "none";
	const headerNow = (run: string): HeaderRecord => headerOf(run, spec, now());
	if (resume === true) return await newestUnfinished(spec, headerNow, runs);
	const recorded = await runs.journal(resume);
	if (recorded === undefined) return "none";
	// Another name or path of the same content is no difference.
	const difference = compareHeader(recorded.header, headerNow(resume));
	if (difference !== undefined) throw new ForeignRun(resume, difference);
	return { resume: recorded };
}

/** Only the newest run of a job is resumed: the present metadata of an older run's documents is unknown. */
async function newestUnfinished(
	spec: RunSpec,
	headerNow: (run: string) => HeaderRecord,
	runs: RunStore,
): Promise<ResumeChoice> {
	const jobKey = jobKeyOf(jobOf(spec));
	const all: readonly RunFile[] = await runs.files();
	for (const file of all) {
		if (recordedJobKey(file) !== jobKey || !overlaps(file, spec)) continue;
		const recorded = await runs.journal(file.run);
		// The run was killed before its header was written: nothing was sent.
		if (recorded === undefined) continue;
		const { run } = file;
		if (isFinished(recorded) && (await runs.hasSummary(run))) return "none";
		const newer = await supersededBy(runs, file, all);
		if (newer !== undefined) return { notResumed: { run, why: `run ${newer} has taken its place` } };
		const why = compareHeader(recorded.header, headerNow(run));
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

export function headerOf(
	run: string,
	{ command, version, manifest, baseUrl, options }: RunSpec,
	now: Date,
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
		time: now.toISOString(),
	};
}

function jobOf({ command, baseUrl, options, manifest, source }: RunSpec): Job {
	const path = "path" in source ? source.path : undefined;
	return { command, baseUrl, options, manifest: { name: manifest.name, sha256: manifest.sha256, path } };
}
