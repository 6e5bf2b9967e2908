import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";

/** Bytes and words of a block, which is written at once. It holds a header and whole records of one partition. */
const BLOCK = 4096;
const BLOCK_WORDS = BLOCK / Uint32Array.BYTES_PER_ELEMENT;

/** Words of a block's header: the number of the block before it of the same partition, 0 for none, and its records. */
const HEADER_WORDS = 2;

/** Enough that one partition of a hundred million records still fits into memory. */
const PARTITIONS = 256;

/** Records kept in memory before the disk is used: 160 to 480 kB. */
const IN_MEMORY = 10_000;

/** Records of a fixed size, of which those with an equal first word are found together. Memory does not grow with them. */
export class Records {
	protected readonly words: Uint32Array;
	readonly #recordWords: number;
	readonly #folder: () => Promise<string>;
	readonly #file: string;
	#count = 0;
	#spill: Spill | undefined;

	/**
	 * @param folder makes a private folder, called when memory does not suffice
	 * @param file name of the file in it, which is removed with it
	 */
	constructor(recordWords: number, folder: () => Promise<string>, file: string) {
		this.words = new Uint32Array(IN_MEMORY * recordWords);
		this.#recordWords = recordWords;
		this.#folder = folder;
		this.#file = file;
	}

	/** Whether `makeRoom` must be awaited before the next record. */
	get isFull(): boolean {
		return this.#count === IN_MEMORY;
	}

	async makeRoom(): Promise<void> {
		this.#spill ??= new Spill(await this.#folder(), this.#recordWords, this.#file);
		this.#spill.add(this.words, this.#count);
		this.#count = 0;
	}

	/** The place of a new record in `words`, by its first word. */
	protected place(): number {
		return this.#count++ * this.#recordWords;
	}

	/** All records, in parts: those with an equal first word are in one, in the order in which they were added. */
	protected async *parts(): AsyncGenerator<Uint32Array> {
		if (this.#spill !== undefined) {
			await this.makeRoom();
			yield* this.#spill.partitions();
		} else yield this.words.subarray(0, this.#count * this.#recordWords);
	}

	close(): void {
		this.#spill?.close();
		this.#spill = undefined;
	}
}

/** Records on disk. One file holds all partitions: each block names the one before it of the same partition. */
class Spill {
	readonly #recordWords: number;
	readonly #perBlock: number;
	readonly #file: number;
	/** one block for each partition */
	readonly #blocks = new Uint32Array(PARTITIONS * BLOCK_WORDS);
	readonly #counts = new Uint32Array(PARTITIONS);
	/** the latest block of each partition, numbered from 1 */
	readonly #latest = new Uint32Array(PARTITIONS);
	#written = 0;

	constructor(folder: string, recordWords: number, name: string) {
		this.#recordWords = recordWords;
		this.#perBlock = Math.floor((BLOCK_WORDS - HEADER_WORDS) / recordWords);
		this.#file = openSync(join(folder, name), "wx+", 0o600);
	}

	/** Adds the first `count` records. */
	add(records: Uint32Array, count: number): void {
		const words = this.#recordWords;
		const blocks = this.#blocks;
		for (let from = 0; from < count * words; from += words) {
			const partition = (records[from] ?? 0) % PARTITIONS;
			const kept = this.#counts[partition] ?? 0;
			const to = partition * BLOCK_WORDS + HEADER_WORDS + kept * words;
			for (let word = 0; word < words; word++) blocks[to + word] = records[from + word] ?? 0;
			this.#counts[partition] = kept + 1;
			if (kept + 1 === this.#perBlock) this.#write(partition);
		}
	}

	/** The records of each partition in the order in which they were added. */
	*partitions(): Generator<Uint32Array> {
		for (let partition = 0; partition < PARTITIONS; partition++) {
			if ((this.#counts[partition] ?? 0) > 0) this.#write(partition);
			const records = this.#read(this.#latest[partition] ?? 0);
			if (records.length > 0) yield records;
		}
	}

	close(): void {
		closeSync(this.#file);
	}

	#write(partition: number): void {
		const start = partition * BLOCK_WORDS;
		this.#blocks[start] = this.#latest[partition] ?? 0;
		this.#blocks[start + 1] = this.#counts[partition] ?? 0;
		const [from, at] = [start * Uint32Array.BYTES_PER_ELEMENT, this.#written * BLOCK];
		let written = 0;
		while (written < BLOCK) {
			written += writeSync(this.#file, this.#blocks, from + written, BLOCK - written, at + written);
		}
		this.#latest[partition] = ++this.#written;
		this.#counts[partition] = 0;
	}

	#read(latest: number): Uint32Array {
		const parts: Uint32Array[] = [];
		let size = 0;
		for (let number = latest; number > 0;) {
			const block = new Uint32Array(BLOCK_WORDS);
			readSync(this.#file, block, 0, BLOCK, (number - 1) * BLOCK);
			const [before = 0, count = 0] = block;
			const part = block.subarray(HEADER_WORDS, HEADER_WORDS + count * this.#recordWords);
			parts.push(part);
			size += part.length;
			number = before;
		}
		const records = new Uint32Array(size);
		let at = 0;
		for (const part of parts.reverse()) {
			records.set(part, at);
			at += part.length;
		}
		return records;
	}
}
