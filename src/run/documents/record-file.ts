import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { withTemporaryStorage } from "../storage/temporary-folders.ts";
import { IdTable } from "./id-table.ts";

/** Records of a block, and its characters. One read of the disk gives documents that rows in the order of a list need next. */
const BLOCK_RECORDS = 64;
const BLOCK_LENGTH = 16 * 1024;

/** Characters that wait for a write. */
const WRITE_LENGTH = 256 * 1024;

/** Blocks that a file keeps in memory: the documents of a dataset of some ten thousand. And the bytes of one of them at most. */
const MOST_KEPT = 256;
const LONGEST_KEPT = 4 * BLOCK_LENGTH;

/** After each record, and between its fields. A JSON text has neither. */
const END = "\n";
const BETWEEN = "\t";

/** Records that are read together: their bytes, and where each begins. */
type Block = { readonly bytes: Buffer; readonly starts: readonly number[] };

/**
 * Records in a private file, found by a key: a million of them need 20 MB of memory. Add all records, call `end`, then read.
 *
 * A record is the JSON text of its key, the number of the earlier record of that key, and its fields.
 */
export class RecordFile {
	readonly #folder: string;
	readonly #file: FileHandle;
	readonly #what: string;
	/** the number of the latest record of a key: from 1, `BLOCK_RECORDS` for each block */
	readonly #numbers = new IdTable();
	/** where each block begins in the file, in bytes; the last number is where the file ends */
	readonly #starts = [0];
	/** blocks in memory. The first are kept until others are read: rows in the order of the list need them first */
	readonly #kept = new Map<number, Promise<Block>>();
	/** the records of the block that is being filled, and their characters */
	#filling: string[] = [];
	#length = 0;
	#unwritten: Buffer[] = [];
	#size = 0;

	private constructor(folder: string, file: FileHandle, what: string) {
		this.#folder = folder;
		this.#file = file;
		this.#what = what;
	}

	/**
	 * @param parent a folder that is the user's alone
	 * @param what the stored data, in words for messages
	 */
	static create(parent: string, what: string): Promise<RecordFile> {
		return withTemporaryStorage(what, async () => {
			const folder = await mkdtemp(join(parent, "ragtag-present-"));
			const file = await open(join(folder, "documents"), "wx+", 0o600);
			// Most systems let an open file be removed. Then nothing is left on the disk if the program is killed.
			await rm(folder, { recursive: true, force: true }).catch(() => undefined);
			return new RecordFile(folder, file, what);
		});
	}

	/** records */
	get size(): number {
		return this.#size;
	}

	/**
	 * @param fields JSON texts
	 * @returns a promise only where it must be awaited before more is added
	 * @throws CliError exit 7 if it can't be stored
	 */
	add(key: string, fields: readonly string[]): Promise<void> | undefined {
		const number = (this.#starts.length - 1) * BLOCK_RECORDS + this.#filling.length + 1;
		const record = [JSON.stringify(key), this.#numbers.set(key, number), ...fields].join(BETWEEN);
		this.#filling.push(record);
		this.#length += record.length;
		this.#size += 1;
		if (this.#length >= BLOCK_LENGTH || this.#filling.length === BLOCK_RECORDS) this.#endBlock();
		return this.#unwritten.length * BLOCK_LENGTH >= WRITE_LENGTH ? this.#write() : undefined;
	}

	/** Writes everything. Nothing may be added afterwards. */
	end(): Promise<void> {
		if (this.#length > 0) this.#endBlock();
		return this.#write();
	}

	/** The fields of each record with that key, the oldest first. @throws CliError exit 7 if they can't be read */
	async get(key: string): Promise<readonly (readonly string[])[]> {
		const text = JSON.stringify(key);
		const records: (readonly string[])[] = [];
		for (let number = this.#numbers.get(key); number !== 0;) {
			const block = await this.#read(Math.floor((number - 1) / BLOCK_RECORDS));
			const [found, earlier, ...fields] = recordAt(block, (number - 1) % BLOCK_RECORDS);
			if (found === text) records.unshift(fields);
			number = Number(earlier);
		}
		return records;
	}

	/** The JSON text of the key and the fields of each record, in the order in which they were added. */
	async *all(): AsyncGenerator<readonly string[]> {
		for (let number = 0; number < this.#starts.length - 1; number += 1) {
			const block = await this.#load(number);
			for (const index of block.starts.keys()) {
				const [key = "", , ...fields] = recordAt(block, index);
				yield [key, ...fields];
			}
		}
	}

	async close(): Promise<void> {
		this.#kept.clear();
		await this.#file.close();
		await rm(this.#folder, { recursive: true, force: true });
	}

	#endBlock(): void {
		const bytes = Buffer.from(this.#filling.map((record) => record + END).join(""));
		const number = this.#starts.length - 1;
		if (this.#kept.size < MOST_KEPT && bytes.length <= LONGEST_KEPT) {
			this.#kept.set(number, Promise.resolve(blockOf(bytes)));
		}
		this.#starts.push((this.#starts.at(-1) ?? 0) + bytes.length);
		this.#unwritten.push(bytes);
		this.#filling = [];
		this.#length = 0;
	}

	async #write(): Promise<void> {
		const bytes = Buffer.concat(this.#unwritten.splice(0));
		if (bytes.length > 0) await withTemporaryStorage(this.#what, () => this.#file.appendFile(bytes));
	}

	/** A block, read once for all rows that wait for it, and kept in place of the oldest. */
	#read(number: number): Promise<Block> {
		const known = this.#kept.get(number);
		if (known !== undefined) return known;
		const reading = this.#load(number);
		for (const oldest of this.#kept.keys()) {
			if (this.#kept.size < MOST_KEPT) break;
			this.#kept.delete(oldest);
		}
		this.#kept.set(number, reading);
		reading.then(
			({ bytes }) => bytes.length > LONGEST_KEPT && this.#kept.delete(number),
			() => this.#kept.delete(number),
		);
		return reading;
	}

	async #load(number: number): Promise<Block> {
		const [start = 0, end = 0] = this.#starts.slice(number, number + 2);
		const bytes = Buffer.allocUnsafeSlow(end - start);
		await withTemporaryStorage(this.#what, () => this.#file.read(bytes, 0, bytes.length, start));
		return blockOf(bytes);
	}
}

function blockOf(bytes: Buffer): Block {
	const starts: number[] = [];
	for (let at = 0; at < bytes.length; at = bytes.indexOf(END, at) + END.length) starts.push(at);
	return { bytes, starts };
}

function recordAt({ bytes, starts }: Block, index: number): readonly string[] {
	const end = (starts[index + 1] ?? bytes.length) - END.length;
	return bytes.toString("utf8", starts[index], end).split(BETWEEN);
}
