import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { withTemporaryStorage } from "../storage/temporary-folders.ts";
import { IdTable } from "./id-table.ts";

/** Characters of a block. One read of the disk gives some fifty documents, which rows in the order of a list need next. */
const BLOCK_LENGTH = 16 * 1024;

/** Characters that wait for a write. */
const WRITE_LENGTH = 256 * 1024;

/** Blocks that a file keeps in memory: the documents of a dataset of some ten thousand. And the bytes of one of them at most. */
const MOST_KEPT = 256;
const LONGEST_KEPT = 4 * BLOCK_LENGTH;

/** Before each record, and between its fields. A JSON text has neither. */
const BEFORE = "\n";
const BETWEEN = "\t";

/**
 * Records in a private file, found by a key: a million of them need 20 MB of memory. Add all records, call `end`, then read.
 *
 * A record is the JSON text of its key, the block with the earlier record of that key, and its fields.
 */
export class RecordFile {
	readonly #folder: string;
	readonly #file: FileHandle;
	readonly #what: string;
	/** the block, counted from 1, that has the latest record of a key */
	readonly #blockOf = new IdTable();
	/** where each block begins in the file, in bytes; the last number is where the file ends */
	readonly #starts = [0];
	/** blocks in memory. The first are kept until others are read: rows in the order of the list need them first */
	readonly #kept = new Map<number, Promise<Buffer>>();
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
		const block = this.#starts.length;
		const before = this.#blockOf.set(key, block);
		const record = [JSON.stringify(key), before === block ? 0 : before, ...fields].join(BETWEEN);
		this.#filling.push(record);
		this.#length += record.length;
		this.#size += 1;
		if (this.#length >= BLOCK_LENGTH) this.#endBlock();
		return this.#unwritten.length * BLOCK_LENGTH >= WRITE_LENGTH ? this.#write() : undefined;
	}

	/** Writes everything. Nothing may be added afterwards. */
	end(): Promise<void> {
		if (this.#length > 0) this.#endBlock();
		return this.#write();
	}

	/** The fields of each record with that key, the oldest first. @throws CliError exit 7 if they can't be read */
	async get(key: string): Promise<readonly (readonly string[])[]> {
		const beginning = `${BEFORE}${JSON.stringify(key)}${BETWEEN}`;
		const records: (readonly string[])[] = [];
		for (let block = this.#blockOf.get(key); block !== 0;) {
			const found = recordsIn(await this.#read(block), beginning);
			// Only the first of a block says which other block has an earlier one.
			block = Number(found[0]?.[0] ?? 0);
			records.unshift(...found.map(([, ...fields]) => fields));
		}
		return records;
	}

	/** The JSON text of the key and the fields of each record, in the order in which they were added. */
	async *all(): AsyncGenerator<readonly string[]> {
		for (let block = 1; block < this.#starts.length; block += 1) {
			const records = (await this.#load(block)).toString().split(BEFORE);
			for (const record of records.slice(1)) {
				const [key = "", , ...fields] = record.split(BETWEEN);
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
		const bytes = Buffer.from(this.#filling.map((record) => BEFORE + record).join(""));
		const block = this.#starts.length;
		if (this.#kept.size < MOST_KEPT && bytes.length <= LONGEST_KEPT) this.#kept.set(block, Promise.resolve(bytes));
		this.#starts.push((this.#starts.at(-1) ?? 0) + bytes.length);
		this.#unwritten.push(bytes);
		this.#filling = [];
		this.#length = 0;
	}

	async #write(): Promise<void> {
		const bytes = Buffer.concat(this.#unwritten.splice(0));
		if (bytes.length > 0) await withTemporaryStorage(this.#what, () => this.#file.appendFile(bytes));
	}

	/** The bytes of a block, read once for all rows that wait for it, and kept in place of the oldest. */
	#read(block: number): Promise<Buffer> {
		const known = this.#kept.get(block);
		if (known !== undefined) return known;
		const reading = this.#load(block);
		for (const oldest of this.#kept.keys()) {
			if (this.#kept.size < MOST_KEPT) break;
			this.#kept.delete(oldest);
		}
		this.#kept.set(block, reading);
		reading.then(
			({ length }) => length > LONGEST_KEPT && this.#kept.delete(block),
			() => this.#kept.delete(block),
		);
		return reading;
	}

	async #load(block: number): Promise<Buffer> {
		const [start = 0, end = 0] = this.#starts.slice(block - 1, block + 1);
		const bytes = Buffer.allocUnsafeSlow(end - start);
		await withTemporaryStorage(this.#what, () => this.#file.read(bytes, 0, bytes.length, start));
		return bytes;
	}
}

/** What follows that beginning in each record that has it. Only these are decoded. */
function recordsIn(bytes: Buffer, beginning: string): readonly (readonly string[])[] {
	const found: (readonly string[])[] = [];
	const length = Buffer.byteLength(beginning);
	for (let at = bytes.indexOf(beginning); at !== -1; at = bytes.indexOf(beginning, at + 1)) {
		const end = bytes.indexOf(BEFORE, at + length);
		found.push(bytes.toString("utf8", at + length, end === -1 ? undefined : end).split(BETWEEN));
	}
	return found;
}
