import { hash } from "node:crypto";
import type { ManifestOptions } from "../types.ts";
import { Spill } from "./spill.ts";

/** Key hash, payload hash, index (6 bytes), line (6 bytes), column (4 bytes). */
const RECORD = 48;
const RECORD_WORDS = RECORD / Uint32Array.BYTES_PER_ELEMENT;
const HASH = 16;

/** Records kept in memory before the disk is used: half a megabyte. */
const IN_MEMORY = 10_000;

export type Entry = { readonly index: number; readonly line: number; readonly column: number };

/** `conflict`: a row that gives the same document other values than an earlier row. */
export type DuplicateDecision =
	| { readonly kind: "skip"; readonly row: Entry }
	| { readonly kind: "conflict"; readonly row: Entry; readonly earlier: Entry };

/** Decides on rows that are about the same document, in memory that does not grow with their number. */
export class Duplicates {
	readonly #folder: () => Promise<string>;
	readonly #file: string;
	readonly #records = new Uint32Array(IN_MEMORY * RECORD_WORDS);
	readonly #buffer = bytesOf(this.#records);
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
		this.#spill ??= new Spill(await this.#folder(), RECORD_WORDS, this.#file);
		this.#spill.add(this.#records, this.#count);
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
		for (const records of this.#spill.partitions()) yield* decisionsOf(bytesOf(records), policy);
	}

	close(): void {
		this.#spill?.close();
		this.#spill = undefined;
	}
}

function bytesOf(records: Uint32Array): Buffer {
	return Buffer.from(records.buffer, records.byteOffset, records.byteLength);
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
