import { hash } from "node:crypto";
import type { ManifestOptions } from "../types.ts";
import { openSync, closeSync, writeSync, readSync } from "node:fs";
import { join } from "node:path";

/** Key hash, payload hash, index (6 bytes), line (6 bytes), column (4 bytes). */
const RECORD = 48;
const HASH = 16;

/** Records kept in memory before the disk is used: half a megabyte. */
const IN_MEMORY = 10_000;

export type Entry = { readonly index: number; readonly line: number; readonly column: number };

/** `conflict`: a row that gives the same document other values than an earlier row. */
export type DuplicateDecision =
	| { readonly kind: "skip"; readonly row: Entry }
	| { readonly kind: "conflict"; readonly row: Entry; readonly earlier: Entry };

/** Finds rows that are about the same document, in memory that does not grow with their number. */
export class Duplicates {
	readonly #folder: () => Promise<string>;
	readonly #file: string;
	readonly #buffer = Buffer.allocUnsafe(IN_MEMORY * RECORD);
	#count = 0;
	#spill: Spill | undefined;

	/**
	 * @param folder makes the private folder, called when memory does not suffice
	 * @param file name of the file in it
	 */
	constructor(folder: () => Promise<string>, file: string) {
		this.#folder = folder;
		this.#file = file;
	}

	/** The number of rows that repeat the document of an earlier row. */
	async count(): Promise<number> {
		let count = 0;
		for await (const _ of this.decisions("first")) count++;
		return count;
	}

	/** Whether `makeRoom` must be awaited before the next `add`. */
	get isFull(): boolean {
		return this.#count === IN_MEMORY;
	}

	async makeRoom(): Promise<void> {
		this.#spill ??= new Spill(await this.#folder(), RECORD, this.#file);
		for (let index = 0; index < this.#count; index++) this.#spill.add(this.#buffer, index * RECORD);
		this.#count = 0;
	}

	/** @param key identifies the row's document; @param payload its content */
	add(key: string, payload: string, { index, line, column }: Entry): void {
		const at = this.#count++ * RECORD;
		const buffer = this.#buffer;
		buffer.write(hash("sha256", key, "binary"), at, HASH, "latin1");
		buffer.write(hash("sha256", payload, "binary"), at + HASH, HASH, "latin1");
		buffer.writeUIntBE(index, at + 32, 6);
		buffer.writeUIntBE(line, at + 38, 6);
		buffer.writeUInt32BE(column, at + 44);
	}

	/** The decision on rows that are not the only ones about their document. */
	async *decisions(policy: ManifestOptions["onDuplicate"]): AsyncGenerator<DuplicateDecision> {
		if (this.#spill === undefined) {
			yield* decisionsOf(this.#buffer.subarray(0, this.#count * RECORD), policy);
			return;
		}
		await this.makeRoom();
		for (const records of this.#spill.partitions()) yield* decisionsOf(records, policy);
	}

	close(): void {
		this.#spill?.close();
		this.#spill = undefined;
	}
}

function* decisionsOf(records: Buffer, policy: ManifestOptions["onDuplicate"]): Generator<DuplicateDecision> {
	const chosen = new Map<string, number>();
	for (let at = 0; at < records.length; at += RECORD) {
		const key = records.toString("latin1", at, at + HASH);
		const earlier = chosen.get(key);
		if (earlier === undefined) chosen.set(key, at);
		else if (policy === "first" || isSamePayload(records, earlier, at))
			yield { kind: "skip", row: entryAt(records, at) };
		else if (policy === "last") {
			chosen.set(key, at);
			yield { kind: "skip", row: entryAt(records, earlier) };
		} else yield { kind: "conflict", row: entryAt(records, at), earlier: entryAt(records, earlier) };
	}
}

function isSamePayload(records: Buffer, left: number, right: number): boolean {
	return records.compare(records, left + HASH, left + 2 * HASH, right + HASH, right + 2 * HASH) === 0;
}

function entryAt(records: Buffer, at: number): Entry {
	return {
		index: records.readUIntBE(at + 32, 6),
		line: records.readUIntBE(at + 38, 6),
		column: records.readUInt32BE(at + 44),
	};
}

/** Bytes written at a time for one partition: a header and whole records. */
const BLOCK = 4096;
const HEADER = 16;

/** Enough that one partition of a hundred million records still fits into memory. */
const PARTITIONS = 256;

/**
 * Fixed-size records on disk, divided by their first byte, so that equal ones are found one part at a time.
 *
 * One file holds all partitions: each block points to the one before it of the same partition.
 */
export class Spill {
	readonly #recordSize: number;
	readonly #perBlock: number;
	readonly #file: number;
	readonly #blocks: Buffer[];
	readonly #counts = new Uint32Array(PARTITIONS);
	readonly #previous = new Float64Array(PARTITIONS).fill(-1);
	#end = 0;

	/**
	 * @param folder a private one: the file is removed with it
	 * @param name of the file
	 */
	constructor(folder: string, recordSize: number, name: string) {
		this.#recordSize = recordSize;
		this.#perBlock = Math.floor((BLOCK - HEADER) / recordSize);
		this.#file = openSync(join(folder, name), "wx+", 0o600);
		this.#blocks = Array.from({ length: PARTITIONS }, () => Buffer.allocUnsafe(BLOCK));
	}

	add(records: Buffer, from: number): void {
		const partition = records[from] ?? 0;
		const block = this.#blocks[partition] ?? Buffer.alloc(0);
		const count = this.#counts[partition] ?? 0;
		records.copy(block, HEADER + count * this.#recordSize, from, from + this.#recordSize);
		this.#counts[partition] = count + 1;
		if (count + 1 === this.#perBlock) this.#write(partition);
	}

	/** The records of each partition in the order in which they were added. */
	*partitions(): Generator<Buffer> {
		for (let partition = 0; partition < PARTITIONS; partition++) {
			if ((this.#counts[partition] ?? 0) > 0) this.#write(partition);
			const records = this.#read(this.#previous[partition] ?? -1);
			if (records.length > 0) yield records;
		}
	}

	close(): void {
		closeSync(this.#file);
	}

	#write(partition: number): void {
		const block = this.#blocks[partition] ?? Buffer.alloc(BLOCK);
		block.writeDoubleLE(this.#previous[partition] ?? -1, 0);
		block.writeDoubleLE(this.#counts[partition] ?? 0, 8);
		let written = 0;
		while (written < BLOCK) written += writeSync(this.#file, block, written, BLOCK - written, this.#end + written);
		this.#previous[partition] = this.#end;
		this.#counts[partition] = 0;
		this.#end += BLOCK;
	}

	#read(last: number): Buffer {
		const parts: Buffer[] = [];
		for (let at = last; at >= 0;) {
			const block = Buffer.allocUnsafe(BLOCK);
			readSync(this.#file, block, 0, BLOCK, at);
			parts.push(block.subarray(HEADER, HEADER + block.readDoubleLE(8) * this.#recordSize));
			at = block.readDoubleLE(0);
		}
		return Buffer.concat(parts.reverse());
	}
}
