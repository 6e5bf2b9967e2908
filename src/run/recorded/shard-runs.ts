import { CliError, Exit } from "../../errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../json/values.ts";
import { type Shard, shardIn, shardText } from "../../shard.ts";
import type { RecordedRun } from "../journal/reader.ts";
import { allRowsOf } from "../journal/records.ts";
import type { RunFile } from "./run-file.ts";
import { isFinished } from "./unfinished.ts";

/** A recorded run that may be a shard. */
export type RunPart = {
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

/** Options that are paths of one machine. They say where files are, never what is sent of them. */
const OF_A_MACHINE: readonly string[] = ["filesRoot", "schema"];

/** The recorded options without the shard: those of the whole manifest. */
export function wholeOptions(options: JsonObject): JsonObject {
	return withoutMembers(options, ["shard"]);
}

/**
 * The parts, in the order of their shards, if they are one whole: finished shards of one division, each once.
 *
 * @param resume the command that resumes a run
 * @throws CliError exit 8 naming what is missing, doubled, different or unfinished
 */
export function wholeOf(parts: readonly RunPart[], resume: (run: string) => string): readonly ShardRun[] {
	const sharded = parts.map((part) => ({ ...part, shard: shardOfPart(part) }));
	const [first] = sharded;
	if (first === undefined) throw new Error("no shard was given");
	for (const other of sharded) checkSame(first, other);
	const byIndex = new Map<number, ShardPart[]>();
	for (const part of sharded) byIndex.set(part.shard.index, [...(byIndex.get(part.shard.index) ?? []), part]);
	const { count } = first.shard;
	const indexes = Array.from({ length: count }, (_, at) => at + 1);
	const missing = indexes.filter((index) => !byIndex.has(index)).map((index) => shardText({ index, count }));
	if (missing.length > 0) {
		throw refused(
			`${missing.length === 1 ? "shard" : "shards"} ${listOf(missing)} of ${first.file.manifest.name} ${missing.length === 1 ? "is" : "are"} missing`,
			"Name the runs of all shards, or the folders that have them with --from DIR.",
		);
	}
	for (const same of byIndex.values()) {
		const [one] = same;
		if (one === undefined || same.length === 1) continue;
		const names = same.map(({ file }) => file.run).join(" and ");
		throw refused(
			`shard ${shardText(one.shard)} is there twice: ${names}`,
			"Name the runs to merge, one for each shard.",
		);
	}
	const whole = indexes.flatMap((index) => byIndex.get(index) ?? []);
	const finished = whole.flatMap(({ recorded, ...part }) =>
		recorded !== undefined && isFinished(recorded) ? [{ ...part, recorded }] : [],
	);
	if (finished.length < whole.length) throw unfinished(whole, resume);
	checkCounts(finished);
	return finished;
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
	const options = (of: RunFile): string => canonical(withoutMembers(of.options, ["shard", ...OF_A_MACHINE]));
	return options(one) === options(other) ? undefined : "their options change differently what is sent";
}

function unfinished(whole: readonly ShardPart[], resume: (run: string) => string): CliError {
	const open = whole.filter(({ recorded }) => recorded === undefined || !isFinished(recorded));
	const names = open.map(({ file, shard }) => `${shardText(shard)} (run ${file.run})`);
	const commands = open.map(({ file, isLocal }) => (isLocal ? resume(file.run) : `ragtag runs resume ${file.run}`));
	const isHere = open.every(({ isLocal }) => isLocal);
	return refused(
		`${open.length === 1 ? "shard" : "shards"} ${listOf(names)} ${open.length === 1 ? "is" : "are"} unfinished`,
		`Resume ${open.length === 1 ? "it" : "them"}${isHere ? "" : " where it ran, and copy the folder again"}: ${listOf(commands)}`,
	);
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

function withoutMembers(options: JsonObject, left: readonly string[]): JsonObject {
	return Object.fromEntries(Object.entries(options).filter(([name]) => !left.includes(name)));
}

function canonical(value: JsonValue): string {
	return JSON.stringify(value, (_name, member: JsonValue) =>
		isJsonObject(member) ? Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)) : member,
	);
}

function refused(text: string, hint: string): CliError {
	return new CliError(`${text}; nothing was merged`, { exit: Exit.foreign, hint });
}
