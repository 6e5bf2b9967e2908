import { createHash, randomInt } from "node:crypto";
import { copyFile, mkdir, open, stat, writeFile } from "node:fs/promises";
import { CliError, Exit } from "../../errors.ts";
import type { JsonObject } from "../../json.ts";
import { compareHeader } from "../journal/compare.ts";
import { type Doubt, doubtsByRow } from "../journal/doubt.ts";
import { syncFolder } from "../journal/files.ts";
import { continueRun, createRun, JOURNAL_FILE, type OpenRun, type RecordedRun, readRun } from "../journal/open.ts";
import { FORMAT, type HeaderRecord, type RecordedManifest } from "../journal/records.ts";
import { explained, notKept } from "./faults.ts";
import { type RunFile, runFileText } from "./run-file.ts";
import { runId } from "./run-id.ts";
import { type LockOptions, lockOfRun } from "./run-lock.ts";
import type { Runs } from "./runs.ts";

/** What a run is to do, and where. */
export type Wanted = {
	readonly command: string;
	readonly version: string;
	readonly baseUrl: string;
	readonly manifest: RecordedManifest;
	/** of a plan, the manifest whose lines its rows name */
	readonly madeFrom?: { readonly source: string };
	/** absolute path of the manifest, or of the text that stands for it */
	readonly source: { readonly path: string } | { readonly copy: string } | { readonly text: string };
	/** what changes what is sent: its hash tells runs apart, and a run is gone on with by it */
	readonly options: JsonObject;
	/** global flags that the next command needs as well */
	readonly flags: readonly string[];
};

export type RecordingOptions = LockOptions & {
	readonly now: () => Date;
	/** goes on with the newest unfinished run of the manifest, or with the one that is named */
	readonly resume: boolean | string;
	/** the rows that failed are to be tried again, too */
	readonly reopen?: boolean;
};

/** A run whose journal is open. Its lock is held. */
export type Recording = {
	readonly run: string;
	readonly opened: OpenRun;
	readonly doubts: ReadonlyMap<number, Doubt>;
	/** undefined for a new run */
	readonly resumed: { readonly settled: number; readonly inDoubt: number; readonly seconds: number } | undefined;
	/** gives up the lock */
	release(): Promise<void>;
};

/**
 * Opens the record of a run: a new one, or an unfinished one of the same manifest, target and options.
 *
 * @throws CliError 5 where another process is at it, 7 where the storage fails, 8 where the run is another's
 */
export async function openRecording(wanted: Wanted, options: RecordingOptions): Promise<Recording> {
	const lock = await lockOfRun(wanted, options);
	try {
		const found = options.resume === false ? undefined : await findUnfinished(wanted, options);
		const recording = await (found === undefined ? begin(wanted, options) : goOn(found, wanted, options));
		return { ...recording, release: () => lock.release() };
	} catch (error) {
		await lock.release();
		throw explained(error);
	}
}

async function begin(wanted: Wanted, { runs, now }: RecordingOptions): Promise<Omit<Recording, "release">> {
	const run = runId(now().getTime(), randomInt(4096));
	await mkdir(runs.folder, { recursive: true, mode: 0o700 });
	const opened = await createRun(runs.path(run), headerOf(run, wanted, now()));
	const { source, manifest } = wanted;
	const path = "path" in source ? source.path : runs.path(run, "manifest");
	try {
		if ("copy" in source) await copyDurably(source.copy, path);
		if ("text" in source) await writeFile(path, source.text, { mode: 0o600, flush: true });
		const file: RunFile = {
			run,
			command: wanted.command,
			ragtag: wanted.version,
			started: now().toISOString(),
			baseUrl: wanted.baseUrl,
			manifest: { name: manifest.name, path, sha256: manifest.sha256, rows: manifest.rows, ...wanted.madeFrom },
			options: wanted.options,
			flags: wanted.flags,
		};
		await writeFile(runs.path(run, "run.json"), runFileText(file), { mode: 0o600, flag: "wx", flush: true });
		// Rows are sent from here on: after a loss of power the run must be found.
		await syncFolder(runs.path(run));
	} catch (error) {
		await opened.close();
		throw notKept(runs.path(run), error);
	}
	return { run, opened, doubts: new Map(), resumed: undefined };
}

async function copyDurably(from: string, to: string): Promise<void> {
	await copyFile(from, to);
	const copy = await open(to, "r+");
	try {
		await copy.sync();
	} finally {
		await copy.close();
	}
}

async function goOn(
	found: RecordedRun,
	wanted: Wanted,
	{ runs, now, reopen = false }: RecordingOptions,
): Promise<Omit<Recording, "release">> {
	const { run } = found.header;
	const before = await millisecondsOf(found, runs);
	// Asked before the first of them is settled.
	// What a row sent before it failed is as uncertain as what a killed sitting sent: it may have been stored.
	const doubts = await doubtsByRow(found.doubts(reopen));
	const { rows, pending, invalid, duplicateSkipped } = found.state.totals();
	const settled = rows - pending - invalid - duplicateSkipped;
	await runs.forgetSummary(run).catch((error: unknown) => {
		throw notKept(runs.path(run), error);
	});
	const { manifest } = found.header;
	const opened = await continueRun(found, { ...headerOf(run, wanted, now()), manifest, before });
	return { run, opened, doubts, resumed: { settled, inDoubt: found.inDoubt, seconds: before / 1000 } };
}

/** How long earlier sittings took. Of one that was killed, the last write to its journal says until when it lived. */
async function millisecondsOf({ state }: RecordedRun, runs: Runs): Promise<number> {
	const { headers, end, header } = state;
	const last = headers.at(-1);
	if (last === undefined || header === undefined) return 0;
	const until = end === undefined ? (await stat(runs.path(header.run, JOURNAL_FILE))).mtimeMs : Date.parse(end.time);
	return (last.before ?? 0) + Math.max(0, Math.round(until - Date.parse(last.time)));
}

function headerOf(run: string, { command, version, manifest, baseUrl, options }: Wanted, now: Date): HeaderRecord {
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

/**
 * The run to go on with; undefined where a new one is to begin.
 *
 * @throws CliError 8 where the unfinished run of that path is of other content or other options
 */
export async function findUnfinished(
	wanted: Wanted,
	{ runs, resume, now }: Pick<RecordingOptions, "runs" | "resume" | "now">,
): Promise<RecordedRun | undefined> {
	const names = typeof resume === "string" ? [resume] : await runs.names();
	for (const name of names) {
		const file = await runs.read(name);
		if (file === undefined || !(typeof resume === "string" || isCandidate(file, wanted))) continue;
		const recorded = await readRun(runs.path(name));
		if (recorded === undefined) continue;
		if (typeof resume !== "string" && isFinished(recorded) && (await runs.hasSummary(name))) continue;
		const header = headerOf(name, wanted, now());
		// Where it is named otherwise now, or is a copy, is no difference.
		const difference = compareHeader(recorded.header, header);
		if (difference === undefined) return recorded;
		throw new CliError(`run ${name} can't be gone on with: ${difference}; nothing was sent`, {
			exit: Exit.foreign,
			hint: "Bring back what it began with, or start a new run by leaving --resume out.",
		});
	}
	return undefined;
}

/**
 * Whether nothing is left to do. A run that was killed behind its last row, before it told how it ended, is not over: a
 * new one would send all of it again.
 */
export function isFinished({ state }: RecordedRun): boolean {
	return state.end !== undefined && state.totals().pending === 0;
}

function isCandidate(file: RunFile, { command, baseUrl, source, manifest }: Wanted): boolean {
	if (file.command !== command || file.baseUrl !== baseUrl) return false;
	return file.manifest.sha256 === manifest.sha256 || ("path" in source && file.manifest.path === source.path);
}
