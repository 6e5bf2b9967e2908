import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { CliError, Exit, reason, usageError } from "../../errors.ts";
import type { JsonObject } from "../../json/values.ts";
import { type Shard, shardIn, shardText } from "../../shard.ts";
import { show } from "../../text/show.ts";
import { type RecordedRun, readRun } from "../journal/reader.ts";
import { allRowsOf } from "../journal/records.ts";
import { isAbsent } from "../storage/quick-files.ts";
import { isRunId, readRunFile, type RunFile } from "./run-file.ts";
import type { RunStore } from "./run-store.ts";
import { isFinished, SUPERSEDED_FILE } from "./unfinished.ts";

/** A recorded run that may be a shard. */
type RunPart = {
	/** in a folder of runs, or a copy from another machine */
	readonly folder: string;
	readonly file: RunFile;
	/** undefined where it was killed before it recorded anything */
	readonly recorded: RecordedRun | undefined;
	/** whether it is among the recorded runs of this machine */
	readonly isLocal: boolean;
};

/** A recorded run of a shard. */
type ShardPart = RunPart & { readonly shard: Shard };

/** A finished shard. */
export type ShardRun = ShardPart & { readonly recorded: RecordedRun };

/** Folders below that of `--from`: MACHINE/.local/state/ragtag/runs/RUN is the deepest that is usual. */
const DEEPEST = 6;

/** The runs of the command line, each once: names of recorded runs, folders of runs, and folders that contain such. */
export async function findParts(
	named: readonly string[],
	from: readonly string[],
	runs: RunStore,
): Promise<readonly RunPart[]> {
	const parts = new Map<string, RunPart>();
	const add = (part: RunPart): void => {
		// The run of this machine, rather than a copy of it, is the one that the user sees in lists.
		if (!parts.has(part.file.run) || part.isLocal) parts.set(part.file.run, part);
	};
	for (const name of named) {
		add(isRunId(name) ? await partOf(runs.path(name), await runs.find(name), runs) : await namedPart(name, runs));
	}
	for (const folder of from) {
		const found = await runFoldersBelow(folder, DEEPEST);
		let shards = 0;
		for (const each of found) {
			const file = await runFileIn(each);
			if (file === undefined || shardIn(file.options) === undefined) continue;
			// A newer run of the same shard has taken its place.
			if (existsSync(join(each, SUPERSEDED_FILE))) continue;
			add(await partOf(each, file, runs));
			shards += 1;
		}
		if (shards === 0) {
			throw usageError(
				`--from ${show(folder)}: there is no run of a shard below it; nothing was merged`,
				"Name a folder that has copies of the state folders of the machines, or of their runs.",
			);
		}
	}
	return [...parts.values()];
}

/** @throws CliError exit 2 where the folder is none of a run */
async function namedPart(folder: string, runs: RunStore): Promise<RunPart> {
	const file = await runFileIn(folder);
	if (file !== undefined) return partOf(folder, file, runs);
	throw usageError(
		`${show(folder)} is neither the name nor the folder of a run; nothing was merged`,
		"ragtag runs list shows all runs of this machine; a folder that contains runs is named with --from DIR.",
	);
}

async function partOf(folder: string, file: RunFile, runs: RunStore): Promise<RunPart> {
	const isLocal = resolve(folder) === resolve(runs.path(file.run));
	return { folder, file, recorded: await readRun(folder), isLocal };
}

/** @throws CliError exit 2 where the folder can't be read */
async function runFoldersBelow(folder: string, depth: number): Promise<string[]> {
	const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
		throw usageError(`--from ${show(folder)}: ${reason(error)}; nothing was merged`, undefined, error);
	});
	if (entries.some(({ name }) => name === "run.json")) return [folder];
	if (depth === 0) return [];
	const found: string[] = [];
	for (const { name } of entries.filter((entry) => entry.isDirectory())) {
		found.push(...(await runFoldersBelow(join(folder, name), depth - 1)));
	}
	return found.toSorted();
}

async function runFileIn(folder: string): Promise<RunFile | undefined> {
	try {
		return readRunFile(await readFile(join(folder, "run.json"), "utf8"));
	} catch (error) {
		if (isAbsent(error)) return undefined;
		throw usageError(`${show(folder)}: ${reason(error)}; nothing was merged`, undefined, error);
	}
}

/** The recorded options without the shard: those of the whole manifest. */
export function wholeOptions(options: JsonObject): JsonObject {
	const { shard: _, ...whole } = options;
	return whole;
}

/** The same without paths of one machine. They say where files are, never what is sent of them. */
function sharedOptions(options: JsonObject): JsonObject {
	const { filesRoot: _, schema: _schema, ...shared } = wholeOptions(options);
	return shared;
}

/**
 * The parts, in the order of their shards, if they are one whole: finished shards of one division, each once.
 *
 * @param resume the command that resumes a run
 * @throws CliError exit 8 naming what is missing, doubled, different or unfinished
 */
export function wholeOf(
	parts: readonly RunPart[],
	resume: (run: string) => string,
): readonly [ShardRun, ...ShardRun[]] {
	const sharded = parts.map((part) => ({ ...part, shard: shardOfPart(part) }));
	const [first] = sharded;
	if (first === undefined) throw new Error("no shard was given");
	for (const other of sharded) checkSame(first, other);
	const { count } = first.shard;
	const byIndex = Array.from({ length: count }, (_, at) => sharded.filter(({ shard }) => shard.index === at + 1));
	const missing = byIndex.flatMap((same, at) => (same.length === 0 ? shardText({ index: at + 1, count }) : []));
	if (missing.length > 0) {
		throw refused(
			`shards of ${first.file.manifest.name} are missing: ${listOf(missing)}`,
			"Name the runs of all shards, or the folders that have them with --from DIR.",
		);
	}
	const twice = byIndex.find((same) => same.length > 1);
	if (twice !== undefined) {
		const names = twice.map(({ file, shard }) => `${shardText(shard)} (run ${file.run})`);
		throw refused(`shards are there twice: ${listOf(names)}`, "Name the runs to merge, one for each shard.");
	}
	const whole = byIndex.flat();
	const finished = whole.flatMap(({ recorded, ...part }) =>
		recorded !== undefined && isFinished(recorded) ? [{ ...part, recorded }] : [],
	);
	const [one, ...others] = finished;
	if (one === undefined || finished.length < whole.length) throw unfinished(whole, resume);
	checkCounts(finished);
	return [one, ...others];
}

function shardOfPart({ file }: RunPart): Shard {
	const shard = shardIn(file.options);
	if (shard !== undefined) return shard;
	throw refused(`run ${file.run} is of a whole manifest, and no shard`, "Name runs that began with --shard.");
}

/** @throws CliError exit 8 where they are parts of different wholes */
function checkSame(one: ShardPart, other: ShardPart): void {
	const difference = differenceOf(one, other);
	if (difference === undefined) return;
	throw refused(
		`runs ${one.file.run} and ${other.file.run} are no shards of one run: ${difference}`,
		"Name the shards of one run, one for each part of its manifest.",
	);
}

function differenceOf({ file: one, shard }: ShardPart, { file: other, shard: its }: ShardPart): string | undefined {
	if (one.command !== other.command) return `one is of ${one.command}, the other of ${other.command}`;
	if (one.manifest.sha256 !== other.manifest.sha256) return "their manifests have different content";
	if (one.baseUrl !== other.baseUrl) return `one wrote to ${one.baseUrl}, the other to ${other.baseUrl}`;
	if (shard.count !== its.count) return `one is shard ${shardText(shard)}, the other ${shardText(its)}`;
	const isSame = isDeepStrictEqual(sharedOptions(one.options), sharedOptions(other.options));
	return isSame ? undefined : "their options change differently what is sent";
}

function unfinished(whole: readonly ShardPart[], resume: (run: string) => string): CliError {
	const open = whole.filter(({ recorded }) => recorded === undefined || !isFinished(recorded));
	const names = open.map(({ file, shard }) => `${shardText(shard)} (run ${file.run})`);
	const commands = open.map(({ file, isLocal }) => (isLocal ? resume(file.run) : `ragtag runs resume ${file.run}`));
	const where = open.every(({ isLocal }) => isLocal) ? "" : " where it ran, and copy the folder again";
	return refused(`shards are unfinished: ${listOf(names)}`, `Resume each${where}: ${listOf(commands)}`);
}

/** Each shard counts its own rows, and how many the others have: together these are the manifest. */
function checkCounts(whole: readonly ShardRun[]): void {
	const rows = whole.reduce((sum, { recorded }) => sum + recorded.header.manifest.rows, 0);
	const odd = whole.find(({ recorded }) => allRowsOf(recorded.header.manifest) !== rows);
	if (odd === undefined) return;
	const { run } = odd.file;
	throw refused(
		`the shards count ${rows} rows together, and run ${run} counts ${allRowsOf(odd.recorded.header.manifest)} in its manifest`,
		"Were all of them made by one release of ragtag?",
	);
}

/** Names that a message lists before it only counts. */
const LISTED = 8;

function listOf(names: readonly string[]): string {
	const more = names.length - LISTED;
	return names.slice(0, LISTED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function refused(text: string, hint: string): CliError {
	return new CliError(`${text}; nothing was merged`, { exit: Exit.foreign, hint });
}
