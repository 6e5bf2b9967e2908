import { randomInt } from "node:crypto";
import { copyFile, open } from "node:fs/promises";
import { syncFolder } from "../journal/files.ts";
import { continueRun, createRun, type OpenRun } from "../journal/open.ts";
import { inDoubtByRow, type RowInDoubt } from "../journal/in-doubt.ts";
import type { RecordedRun } from "../journal/reader.ts";
import { replaceDurably, writeNewDurably } from "../storage/quick-files.ts";
import { cannotRecord, journalCliError } from "./faults.ts";
import { millisecondsOf } from "./run-time.ts";
import { byAge, type RunFile, runFileText, runId, takeOrder } from "./run-file.ts";
import { lockForSending, type LockOptions } from "./run-lock.ts";
import type { RunStore } from "./run-store.ts";
import { isSameJob, supersede, supersededBy, unmark } from "./superseded.ts";
import { findUnfinished, headerOf, type RunSpec } from "./unfinished.ts";

export type RecordingOptions = LockOptions & {
	readonly now: () => Date;
	/** resumes the newest run of the same job, where it is unfinished and has the same content and options; or the run of that name */
	readonly resume: boolean | string;
	/** tries failed rows again */
	readonly reopen?: boolean;
};

/** A run whose journal is open. The process holds its lock. */
export type Recording = {
	readonly run: string;
	readonly opened: OpenRun;
	/** rows that earlier executions may have sent and did not settle */
	readonly inDoubt: ReadonlyMap<number, RowInDoubt>;
	/** undefined for a new run; `seconds` is the duration of the earlier executions */
	readonly resumed: { readonly inDoubt: number; readonly seconds: number } | undefined;
	/** an unfinished run that `--resume` found, and why it was not resumed */
	readonly notResumed: { readonly run: string; readonly why: string } | undefined;
	/** unfinished runs that this one has superseded */
	readonly superseded: readonly string[];
	/** the newer run that had superseded this one, which was resumed by name */
	readonly supersededBy: string | undefined;
	/** Removes the record of a new run of which no row was sent, as if it had not begun. undefined for a resumed run */
	readonly discard: (() => Promise<void>) | undefined;
	/** gives up the lock */
	release(): Promise<void>;
};

/**
 * Opens the record of a new run, or of an unfinished one with the same manifest, target and options.
 *
 * @throws CliError 5 where another process holds the lock, 7 where the storage fails, 8 where the run to resume differs
 */
export async function openRecording(spec: RunSpec, options: RecordingOptions): Promise<Recording> {
	const lock = await lockForSending(spec, options);
	const release = (): Promise<void> => lock.release();
	try {
		const choice = await findUnfinished(spec, options);
		if (choice === "none") return { ...(await startRun(spec, options)), notResumed: undefined, release };
		if ("resume" in choice) return { ...(await resumeRun(choice.resume, spec, options)), release };
		return { ...(await startRun(spec, options)), notResumed: choice.notResumed, release };
	} catch (error) {
		await release();
		throw journalCliError(error);
	}
}

async function startRun(
	spec: RunSpec,
	{ runs, now }: RecordingOptions,
): Promise<Omit<Recording, "release" | "notResumed">> {
	const run = runId(now().getTime(), randomInt(4096));
	const all = await runs.files();
	const order = await takeOrder(runs.folder, all).catch((error: unknown) => {
		throw cannotRecord(runs.folder, error);
	});
	const opened = await createRun(runs.path(run), headerOf(run, spec, now()));
	const { source, manifest } = spec;
	const path = "path" in source ? source.path : runs.path(run, "manifest");
	try {
		if ("copy" in source) await copyDurably(source.copy, path);
		if ("text" in source) await replaceDurably(path, source.text);
		const file: RunFile = {
			run,
			command: spec.command,
			ragtag: spec.version,
			started: now().toISOString(),
			order,
			baseUrl: spec.baseUrl,
			manifest: { name: manifest.name, path, sha256: manifest.sha256, rows: manifest.rows, ...spec.madeFrom },
			options: spec.options,
			...(spec.sending === undefined ? {} : { sending: spec.sending }),
			flags: spec.flags,
		};
		const written = writeNewDurably(runs.path(run, "run.json"), runFileText(file));
		// Rows are sent after this: the run must be found again after a loss of power. The file has its name already.
		await Promise.all([written, syncFolder(runs.path(run))]);
		const replaced = all.filter((other) => other.run === spec.undoes || isSameJob(other, file));
		const superseded = await supersede(runs, replaced, run);
		const discard = async (): Promise<void> => {
			await unmark(runs, superseded, run);
			await runs.remove(run);
		};
		return { run, opened, inDoubt: new Map(), resumed: undefined, superseded, supersededBy: undefined, discard };
	} catch (error) {
		await opened.close();
		throw cannotRecord(runs.path(run), error);
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

async function resumeRun(
	found: RecordedRun,
	spec: RunSpec,
	{ runs, now, reopen = false }: RecordingOptions,
): Promise<Omit<Recording, "release">> {
	const { run, manifest } = found.header;
	const replaced = await supersedeNewer(run, runs);
	const earlierMilliseconds = await millisecondsOf(found, runs);
	// These records are read before the first of their rows is settled. A reopened row is as uncertain as one that a killed
	// execution sent: its file may have been stored before it failed.
	const inDoubt = await inDoubtByRow(found.recordsInDoubt(reopen));
	await runs.forgetSummary(run).catch((error: unknown) => {
		throw cannotRecord(runs.path(run), error);
	});
	runs.forgetJournal();
	const opened = await continueRun(found, { ...headerOf(run, spec, now()), manifest, earlierMilliseconds });
	const resumed = { inDoubt: found.inDoubt, seconds: earlierMilliseconds / 1000 };
	return { run, opened, inDoubt, resumed, notResumed: undefined, discard: undefined, ...replaced };
}

/** A run that is resumed by name writes after newer runs of its job: so these are superseded. */
async function supersedeNewer(run: string, runs: RunStore): Promise<Pick<Recording, "superseded" | "supersededBy">> {
	const all = await runs.files();
	const own = all.find((file) => file.run === run);
	if (own === undefined) return { superseded: [], supersededBy: undefined };
	const by = await supersededBy(runs, own, all);
	const newer = all.filter((file) => byAge(file, own) > 0 && isSameJob(file, own));
	return { superseded: await supersede(runs, newer, run), supersededBy: by };
}
