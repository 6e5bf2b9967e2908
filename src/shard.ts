import { createHash } from "node:crypto";

/** One of `count` parts of a manifest. `index` counts from 1. */
export type Shard = { readonly index: number; readonly count: number };

/** The right form, for messages. */
export const SHARD_FORM = "I/N, as in 2/8: part 2 of 8";

/** Far more machines than one service stands. A larger number is a mistake, such as an id in place of a count. */
const MOST_SHARDS = 100_000;

/** Bytes of a hash that make a number: the most that are exact in one. */
const HASH_BYTES = 6;

/** Reads `2/8`. @returns undefined for any other text */
export function parseShard(text: string): Shard | undefined {
	const [, index, count] = /^([1-9]\d{0,5})\/([1-9]\d{0,5})$/.exec(text) ?? [];
	return index === undefined || count === undefined ? undefined : shardOf(Number(index), Number(count));
}

/** The shard of these numbers; undefined where there is no such part. */
export function shardOf(index: number, count: number): Shard | undefined {
	const isCount = Number.isInteger(count) && count >= 1 && count <= MOST_SHARDS;
	return isCount && Number.isInteger(index) && index >= 1 && index <= count ? { index, count } : undefined;
}

export function shardText({ index, count }: Shard): string {
	return `${index}/${count}`;
}

/**
 * The part, from 1, that a key falls into: its SHA-256, the first 48 bits as a number, modulo the count. It depends on
 * nothing else, so it is the same on every machine and in every release.
 */
export function shardIndexOf(key: string, count: number): number {
	return (createHash("sha256").update(key).digest().readUIntBE(0, HASH_BYTES) % count) + 1;
}

/** Whether no row can be in both: two parts of one division. Parts of different divisions, and a whole manifest, overlap. */
export function areDisjoint(one: Shard | undefined, other: Shard | undefined): boolean {
	return one !== undefined && other !== undefined && one.count === other.count && one.index !== other.index;
}

/** The shard among the recorded options of a run; undefined for a run of a whole manifest. */
export function shardIn(options: { readonly [name: string]: unknown }): Shard | undefined {
	const text = options["shard"];
	return typeof text === "string" ? parseShard(text) : undefined;
}
