import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CliError, Exit, reason } from "../../errors.ts";
import { syncFolder } from "../journal/files.ts";
import { createRun, type JournalWriter } from "../journal/writer.ts";
import type { HeaderRecord, JournalRecord, OutcomeRecord } from "../journal/records.ts";
import type { Work } from "../types.ts";
import { recorderOf } from "./recorder.ts";
import { recordsByRow } from "./recorded-rows.ts";
import { byAge, type RunFile, runFileText, runId, takeOrder } from "./run-file.ts";
import { cannotRecord, type RunStore } from "./run-store.ts";
import { type ShardRun, wholeOptions } from "./shard-runs.ts";
import { headerOf } from "./unfinished.ts";

/** Records that wait for the storage at a time. */
const BATCH = 512;

/** A run whose record was made from those of its shards, still open for its end. */
export type MergedRun = Awaited<ReturnType<typeof mergeRuns>>;

/**
 * Records the run that finished shards are together. Every row has its records of exactly one shard, at its position in the
 * manifest, which the shards share.
 *
 * @param tool version of the program
 * @throws CliError exit 7 where the storage fails, 8 where two shards have the same row; then no file is left
 */
export async function mergeRuns(runs: RunStore, whole: readonly [ShardRun, ...ShardRun[]], tool: string) {
	const run = runId(Date.now(), randomInt(4096));
	const times = timesOf(whole);
	const base = whole.find(({ isLocal }) => isLocal) ?? whole[0];
	const path = hasCopy(base) ? runs.path(run, "manifest") : base.file.manifest.path;
	const rows = whole.reduce((sum, part) => sum + part.recorded.header.manifest.rows, 0);
	const file: RunFile = {
		...base.file,
		run,
		ragtag: tool,
		started: new Date(times.began).toISOString(),
		order: await orderOf(runs, whole, times.began),
		manifest: { ...base.file.manifest, sha256: base.recorded.header.manifest.sha256, path, rows },
		mergedFrom: whole.map((part) => part.file.run),
		options: wholeOptions(base.file.options),
	};
	const writer = await createRun(runs.path(run), mergedHeader(file, whole, times));
	try {
		for (const part of whole) await copyRecords(part, writer);
		if (hasCopy(base)) await copyFile(join(base.folder, "manifest"), path);
		await writeFile(runs.path(run, "run.json"), runFileText(file), { mode: 0o600, flag: "wx", flush: true });
		await syncFolder(runs.path(run));
		return {
			file,
			journal: recorderOf<Work>(writer, new Map(), Date.now),
			/** when its last shard ended */
			ended: new Date(times.ended),
			/** from the start of its first shard to the end of its last */
			seconds: (times.ended - times.first) / 1000,
		};
	} catch (error) {
		await writer.close();
		await runs.remove(run);
		throw cannotRecord(runs.path(run), error);
	}
}

type Times = { readonly first: number; readonly began: number; readonly ended: number };

/** When the first shard began, when the last one began, and when the last one ended; epoch milliseconds. */
function timesOf(whole: readonly ShardRun[]): Times {
	const starts = whole.map(({ file }) => Date.parse(file.started));
	const ends = whole.map(({ recorded }) => Date.parse(recorded.state.end?.time ?? recorded.header.time));
	const latest = (times: readonly number[]): number => times.reduce((one, other) => Math.max(one, other));
	const first = starts.reduce((one, other) => Math.min(one, other));
	return { first, began: latest(starts), ended: Math.max(latest(ends), latest(starts)) };
}

/**
 * The place of the merged run in the order of runs: that of its newest shard, as its writes are the shards'. A run that
 * followed the shards stays newer, and explains what it overwrote. Numbers of other machines mean nothing here, so of their
 * shards the times count.
 */
async function orderOf(runs: RunStore, whole: readonly ShardRun[], began: number): Promise<number> {
	const all = await runs.files();
	const own = new Set(whole.filter(({ isLocal }) => isLocal).map(({ file }) => file.run));
	const isForeign = own.size < whole.length;
	const newest = all.filter(({ run }) => own.has(run)).reduce((most, { order }) => Math.max(most, order), 0);
	const before = all.filter((file) => file.order <= newest || (isForeign && Date.parse(file.started) <= began));
	const [last] = before.toSorted((one, other) => byAge(other, one));
	if (before.length === all.length && isForeign) return takeOrder(runs.folder, all);
	// Without such a run, all recorded runs followed the shards.
	return last?.order ?? 0;
}

function mergedHeader(file: RunFile, whole: readonly ShardRun[], { first, began }: Times): HeaderRecord {
	const { path, name, sha256, rows } = file.manifest;
	const sum = (of: (part: ShardRun) => number): number => whole.reduce((total, part) => total + of(part), 0);
	const counts = {
		rows,
		invalid: sum(({ recorded }) => recorded.header.manifest.invalid),
		duplicateSkipped: sum(({ recorded }) => recorded.header.manifest.duplicateSkipped),
	};
	const bytes = whole[0]?.recorded.header.manifest.bytes ?? 0;
	const { command, ragtag: version, baseUrl, options } = file;
	const spec = { command, version, baseUrl, options, manifest: { name, path, sha256, bytes, ...counts } };
	return { ...headerOf(file.run, spec, { now: new Date(began) }), earlierMilliseconds: began - first };
}

/** Copies the records of a shard: all of what was sent, and of each row the last outcome, with the attempts of all. */
async function copyRecords({ recorded, file }: ShardRun, writer: JournalWriter): Promise<void> {
	const { lost, end } = recorded.state;
	try {
		if (lost > 0) await writer.append({ kind: "lost", records: lost, time: end?.time ?? recorded.header.time });
		// A row is sent before it is settled.
		await appendAll(writer, recorded.sentRecords());
		await appendAll(writer, lastOutcomes(recorded));
	} catch (error) {
		if (error instanceof CliError) throw error;
		throw new CliError(`run ${file.run} does not fit the other shards: ${reason(error)}; nothing was merged`, {
			exit: Exit.foreign,
			hint: "Two shards have the same row. Were all of them made by one release of ragtag?",
		});
	}
}

/** The outcome with which each row ended. A row that failed and was tried again has earlier ones, whose attempts count. */
async function* lastOutcomes(recorded: ShardRun["recorded"]): AsyncGenerator<OutcomeRecord> {
	for await (const outcomes of recordsByRow(() => recorded.outcomes())) {
		const attempts = outcomes.reduce((sum, outcome) => sum + outcome.attempts, 0);
		const last = outcomes.at(-1);
		if (last !== undefined) yield { ...last, attempts };
	}
}

/** Appends records, as many at a time as one sync may serve. */
async function appendAll(writer: JournalWriter, records: AsyncIterable<JournalRecord>): Promise<void> {
	let waiting: Promise<void>[] = [];
	try {
		for await (const record of records) {
			if (waiting.push(writer.append(record)) < BATCH) continue;
			await Promise.all(waiting);
			waiting = [];
		}
		await Promise.all(waiting);
	} finally {
		await Promise.allSettled(waiting);
	}
}

/** A manifest from a pipe is in the folder of its run. Each shard has the same one. */
function hasCopy({ folder }: ShardRun): boolean {
	return existsSync(join(folder, "manifest"));
}
