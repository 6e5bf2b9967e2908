import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";

/** Bytes written at a time for one partition: a header and whole records. */
const BLOCK = 4096;
const HEADER = 16;

/** Enough that one partition of a hundred million records still fits into memory. */
const PARTITIONS = 256;

/**
 * Fixed-size records divided by their first byte, on disk, so that equal ones can be looked for a part at a time.
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
