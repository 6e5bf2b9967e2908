import { createHash, randomInt } from "node:crypto";
import { copyFile, open, stat, writeFile } from "node:fs/promises";
import type { JsonObject } from "../../json/values.ts";
import { compareHeader, FORMAT, type HeaderRecord, type RecordedManifest } from "../journal/records.ts";
import { type Doubt, doubtsByRow } from "../journal/doubt.ts";
import { syncFolder } from "../journal/files.ts";
import { continueRun, createRun, JOURNAL_FILE, type OpenRun, type RecordedRun, readRun } from "../journal/open.ts";
import { type Choice, chooseUnfinished } from "./choice.ts";
import { explained, ForeignRun, notKept } from "./faults.ts";
import { byAge, takeOrder, type RunFile, runFileText, runId } from "./run-file.ts";
import { type LockOptions, lockOfWork } from "./run-lock.ts";
import type { Runs } from "./runs.ts";
import { supersede, supersededBy, recordedWork, type WorkFile, workOf } from "./superseded.ts";

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
	/** the run that this one takes back: what it did is not done any more */
	readonly takesBack?: string | undefined;
};

export type RecordingOptions = LockOptions & {
	readonly now: () => Date;
	/** goes on with the newest run of this work where that is unfinished and the same, or with the one that is named */
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
	readonly resumed: { readonly inDoubt: number; readonly seconds: number } | undefined;
	/** an unfinished run that was to be gone on with, and why it was not */
	readonly instead: { readonly run: string; readonly why: string } | undefined;
	/** unfinished runs whose place this one takes, from now on */
	readonly superseded: readonly string[];
	/** the newer run that took the place of this one, which was gone on with by name all the same */
	readonly supersededBy: string | undefined;
	/** gives up the lock */
	release(): Promise<void>;
};

/**
 * Opens the record of a run: a new one, or an unfinished one of the same manifest, target and options.
 *
 * @throws CliError 5 where another process is at it, 7 where the storage fails, 8 where the run is another's
 */
export async function openRecording(wanted: Wanted, options: RecordingOptions): Promise<Recording> {
	const lock = await lockOfWork(wanted, options);
	try {
		const choice = await findUnfinished(wanted, options);
		if (choice !== "none" && "goesOn" in choice) {
			return { ...(await goOn(choice.goesOn, wanted, options)), release: () => lock.release() };
		}
		const instead = choice === "none" ? undefined : choice.instead;
		return { ...(await begin(wanted, options)), instead, release: () => lock.release() };
	} catch (error) {
		await lock.release();
		throw explained(error);
	}
}

async function begin(wanted: Wanted, { runs, now }: RecordingOptions): Promise<Omit<Recording, "release" | "instead">> {
	const run = runId(now().getTime(), randomInt(4096));
	const all = await runs.files();
	const order = await takeOrder(runs.folder, all).catch((error: unknown) => {
		throw notKept(runs.folder, error);
	});
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
			order,
			baseUrl: wanted.baseUrl,
			manifest: { name: manifest.name, path, sha256: manifest.sha256, rows: manifest.rows, ...wanted.madeFrom },
			options: wanted.options,
			flags: wanted.flags,
		};
		await writeFile(runs.path(run, "run.json"), runFileText(file), { mode: 0o600, flag: "wx", flush: true });
		// Rows are sent from here on: after a loss of power the run must be found.
		await syncFolder(runs.path(run));
		const work = workOf(workFileOf(wanted));
		const replaced = all.filter((file) => file.run === wanted.takesBack || recordedWork(file) === work);
		const superseded = await supersede(runs, replaced, run);
		return { run, opened, doubts: new Map(), resumed: undefined, superseded, supersededBy: undefined };
	} catch (error) {
		await opened.close();
		throw notKept(runs.path(run), error);
	}
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
	const replaced = await replacedBy(run, runs);
	const before = await millisecondsOf(found, runs);
	// Asked before the first of them is settled.
	// What a row sent before it failed is as uncertain as what a killed sitting sent: it may have been stored.
	const doubts = await doubtsByRow(found.doubts(reopen));
	await runs.forgetSummary(run).catch((error: unknown) => {
		throw notKept(runs.path(run), error);
	});
	const { manifest } = found.header;
	const opened = await continueRun(found, { ...headerOf(run, wanted, now()), manifest, before });
	const resumed = { inDoubt: found.inDoubt, seconds: before / 1000 };
	return { run, opened, doubts, resumed, instead: undefined, ...replaced };
}

/**
 * A run that is gone on with by name writes behind those that began after it: none of them is to be gone on with by
 * itself any more.
 */
async function replacedBy(run: string, runs: Runs): Promise<Pick<Recording, "superseded" | "supersededBy">> {
	const all = await runs.files();
	const own = all.find((file) => file.run === run);
	if (own === undefined) return { superseded: [], supersededBy: undefined };
	const by = await supersededBy(runs, own, all);
	const work = recordedWork(own);
	const newer = all.filter((file) => byAge(file, own) > 0 && recordedWork(file) === work);
	return { superseded: await supersede(runs, newer, run), supersededBy: by };
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
 * The run to go on with, or why there is none. A run that is named is gone on with whatever came after it.
 *
 * @throws ForeignRun where the run that is named is of other content, target or options
 */
export async function findUnfinished(
	wanted: Wanted,
	{ runs, resume, now }: Pick<RecordingOptions, "runs" | "resume" | "now">,
): Promise<Choice> {
	if (resume === false) return "none";
	const header = (run: string): HeaderRecord => headerOf(run, wanted, now());
	if (resume === true) return chooseUnfinished(workOf(workFileOf(wanted)), header, runs, await runs.files());
	const recorded = await readRun(runs.path(resume));
	if (recorded === undefined) return "none";
	// Where it is named otherwise now, or is a copy, is no difference.
	const difference = compareHeader(recorded.header, header(resume));
	if (difference !== undefined) throw new ForeignRun(resume, difference);
	return { goesOn: recorded };
}

function workFileOf({ command, baseUrl, options, manifest, source }: Wanted): WorkFile {
	const path = "path" in source ? source.path : undefined;
	return { command, baseUrl, options, manifest: { name: manifest.name, sha256: manifest.sha256, path } };
}
