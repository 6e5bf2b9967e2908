import { hostname, userInfo } from "node:os";
import { randomInt } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { errorCode } from "../../errors.ts";
import { writeWhole } from "../../write-whole.ts";
import { JournalLost } from "../journal/errors.ts";
import { syncFolder } from "../journal/files.ts";
import { continueRun, createRun, type JournalWriter } from "../journal/writer.ts";
import type { RecordedRun, RowInDoubt } from "../journal/reader.ts";
import type { HeaderRecord } from "../journal/records.ts";
import { type RunFile, runFileText, runId, takeOrder } from "./run-file.ts";
import { lockForSending, type LockOptions } from "./run-lock.ts";
import { cannotRecord, type RunStore } from "./run-store.ts";
import {
	type FindUnfinishedOptions,
	findUnfinished,
	headerOf,
	millisecondsOf,
	type RunSpec,
	mark,
	recordedJobKey,
	supersede,
	unmark,
} from "./unfinished.ts";

type RecordingOptions = LockOptions &
	FindUnfinishedOptions & {
		/** tries failed rows again */
		readonly reopen?: boolean;
	};

/** A run whose journal is open. The process holds its lock. */
export type Recording = {
	readonly run: string;
	readonly writer: JournalWriter;
	/** rows that earlier executions may have sent and did not settle */
	readonly inDoubt: ReadonlyMap<number, RowInDoubt>;
	/** undefined for a new run; `seconds` is the duration of the earlier executions */
	readonly resumed: { readonly inDoubt: number; readonly seconds: number } | undefined;
	/** an unfinished run that `--resume` found, and why it was not resumed */
	readonly notResumed: { readonly run: string; readonly why: string } | undefined;
	/** all recorded runs, the newest first */
	readonly all: readonly RunFile[];
	/** unfinished runs that this one has superseded */
	readonly superseded: readonly string[];
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
	const release = async (): Promise<void> => lock[Symbol.asyncDispose]();
	try {
		const { resume, notResumed } = await findUnfinished(spec, options);
		const opened = await (resume === undefined ? startRun(spec, options) : resumeRun(resume, spec, options));
		return { ...opened, notResumed, release };
	} catch (error) {
		await release();
		throw error;
	}
}

type Opened = Omit<Recording, "release" | "notResumed">;

async function startRun(spec: RunSpec, { runs, now }: RecordingOptions): Promise<Opened> {
	const all = await runs.files();
	const order = await takeOrder(runs.folder, all).catch((error: unknown) => {
		throw cannotRecord(runs.folder, error);
	});
	const { run, writer } = await createNamed(runs, now, (name) => headerOf(name, spec, { now: now(), order }));
	const { source, manifest } = spec;
	const path = "path" in source ? source.path : runs.path(run, "manifest");
	try {
		if ("copy" in source) await pipeline(createReadStream(source.copy), createWriteStream(path, DURABLE));
		const file: RunFile = {
			run,
			command: spec.command,
			ragtag: spec.version,
			started: now().toISOString(),
			order,
			by: startedBy(),
			baseUrl: spec.baseUrl,
			manifest: { name: manifest.name, path, sha256: manifest.sha256, rows: manifest.rows, source: spec.madeFrom },
			options: spec.options,
			sending: spec.sending,
			flags: spec.flags,
		};
		await writeWhole(runs.path(run, "run.json"), runFileText(file));
		// Rows are sent after this: the run must be found again after a loss of power.
		await syncFolder(runs.path(run));
		const jobKey = recordedJobKey(file);
		const replaced = all.filter((other) => recordedJobKey(other) === jobKey);
		const superseded = await supersede(runs, replaced, run);
		const undone = all.filter((other) => other.run === spec.undoes);
		const marked = [...superseded, ...(await mark(runs, undone, { by: run, isUndone: true }))];
		const discard = async (): Promise<void> => {
			await unmark(runs, marked, run);
			await runs.remove(run);
		};
		return { run, writer, all, inDoubt: new Map(), resumed: undefined, superseded, discard };
	} catch (error) {
		await writer.close();
		throw cannotRecord(runs.path(run), error);
	}
}

/** A new file that only the user may read, and that is on the storage when it is closed. */
const DURABLE = { flags: "wx", mode: 0o600, flush: true } as const;

/** Many containers run as a user that the system has no entry for. */
function startedBy(): string | undefined {
	try {
		return `${userInfo().username}@${hostname()}`;
	} catch {
		return undefined;
	}
}

/** Makes the folder of a run. Where another run that began in the same millisecond has its name, it gets another one. */
async function createNamed(
	runs: RunStore,
	now: () => Date,
	headerFor: (run: string) => HeaderRecord,
): Promise<Pick<Recording, "run" | "writer">> {
	for (;;) {
		const run = runId(now().getTime(), randomInt(4096));
		try {
			return { run, writer: await createRun(runs.path(run), headerFor(run)) };
		} catch (error) {
			if (!(error instanceof JournalLost) || errorCode(error.cause) !== "EEXIST") throw error;
		}
	}
}

async function resumeRun(
	found: RecordedRun,
	spec: RunSpec,
	{ runs, now, reopen = false }: RecordingOptions,
): Promise<Opened> {
	const { run, manifest } = found.header;
	const earlierMilliseconds = await millisecondsOf(found, runs);
	// These records are read before the first of their rows is settled. A reopened row is as uncertain as one that a killed
	// execution sent: its file may have been stored before it failed.
	const inDoubt = await found.rowsInDoubt(reopen);
	const { all, order } = await beginExecution(run, runs).catch((error: unknown) => {
		throw cannotRecord(runs.path(run), error);
	});
	const header = headerOf(run, spec, { now: now(), order });
	const writer = await continueRun(found, { ...header, manifest, earlierMilliseconds });
	const resumed = { inDoubt: found.state.countInDoubt(), seconds: earlierMilliseconds / 1000 };
	return { run, writer, all, inDoubt, resumed, superseded: [], discard: undefined };
}

/**
 * Gives the next execution of a run its number. The number is in the run's file before anything is sent, so that a run
 * which began later and goes on later too knows that this one may have written since.
 */
async function beginExecution(run: string, runs: RunStore): Promise<{ all: readonly RunFile[]; order: number }> {
	const all = await runs.files();
	const order = await takeOrder(runs.folder, all);
	const file = all.find((one) => one.run === run);
	if (file !== undefined) {
		await writeWhole(runs.path(run, "run.json"), runFileText({ ...file, lastOrder: order }));
	}
	await runs.forgetSummary(run);
	return { all, order };
}
