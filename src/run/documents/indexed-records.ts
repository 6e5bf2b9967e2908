import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { parseJson } from "../../json/parse-json.ts";
import { isJsonArray, type JsonValue } from "../../json/values.ts";
import { withTemporaryStorage } from "../storage/temporary-folders.ts";
import { hash } from "node:crypto";

/** Bytes that are buffered before a write. */
const BLOCK = 256 * 1024;

const LINE_FEED = 0x0a;

/**
 * Records in a private file, found by a key. Memory holds the place of each record, not the record. Add all records,
 * call `end`, then read.
 */
export class IndexedRecords {
	readonly #folder: string;
	readonly #file: FileHandle;
	readonly #what: string;
	readonly #table = new IdTable();
	#waiting: Buffer[] = [];
	#waitingBytes = 0;
	#end = 0;

	private constructor(folder: string, file: FileHandle, what: string) {
		this.#folder = folder;
		this.#file = file;
		this.#what = what;
	}

	/**
	 * @param parent a folder that is the user's alone
	 * @param what the stored data, in words for messages
	 */
	static async create(parent: string, what: string): Promise<IndexedRecords> {
		return withTemporaryStorage(what, async () => {
			const folder = await mkdtemp(join(parent, "ragtag-present-"));
			const file = await open(join(folder, "documents"), "wx+", 0o600);
			// Most systems let an open file be removed. Then nothing is left on the disk if the program is killed.
			await rm(folder, { recursive: true, force: true }).catch(() => undefined);
			return new IndexedRecords(folder, file, what);
		});
	}

	get size(): number {
		return this.#table.size;
	}

	/**
	 * @param fields JSON texts
	 * @throws CliError exit 7 if it can't be stored
	 */
	async add(key: string, fields: readonly string[]): Promise<void> {
		// JSON text has no line end, so each record is a line.
		const bytes = Buffer.from(`[${[JSON.stringify(key), ...fields].join(",")}]\n`);
		this.#table.add(key, { offset: this.#end, length: bytes.length });
		this.#end += bytes.length;
		this.#waiting.push(bytes);
		this.#waitingBytes += bytes.length;
		if (this.#waitingBytes >= BLOCK) await this.end();
	}

	/** Writes the buffered records. */
	async end(): Promise<void> {
		const bytes = Buffer.concat(this.#waiting);
		this.#waiting = [];
		this.#waitingBytes = 0;
		await withTemporaryStorage(this.#what, () => this.#file.appendFile(bytes));
	}

	/** The fields of each record with that key. */
	async *get(key: string): AsyncGenerator<readonly JsonValue[]> {
		for (const { offset, length } of this.#table.candidates(key)) {
			const buffer = Buffer.allocUnsafe(length);
			const { bytesRead } = await withTemporaryStorage(this.#what, () => this.#file.read(buffer, 0, length, offset));
			const record = parseJson(buffer.toString("utf8", 0, bytesRead));
			const [found, ...fields] = isJsonArray(record) ? record : [];
			if (found === key) yield fields;
		}
	}

	/** The key and the fields of each record, in the order in which they were added. */
	async *all(): AsyncGenerator<readonly [key: string, ...fields: JsonValue[]]> {
		let rest = Buffer.alloc(0);
		for (let offset = 0; offset < this.#end;) {
			const block = Buffer.allocUnsafe(Math.min(BLOCK, this.#end - offset));
			const { bytesRead } = await withTemporaryStorage(this.#what, () =>
				this.#file.read(block, 0, block.length, offset),
			);
			if (bytesRead === 0) return;
			offset += bytesRead;
			let text = Buffer.concat([rest, block.subarray(0, bytesRead)]);
			for (let end = text.indexOf(LINE_FEED); end >= 0; end = text.indexOf(LINE_FEED)) {
				const record = parseJson(text.toString("utf8", 0, end));
				const [key, ...fields] = isJsonArray(record) ? record : [];
				if (typeof key === "string") yield [key, ...fields];
				text = text.subarray(end + 1);
			}
			rest = text;
		}
	}

	async close(): Promise<void> {
		await this.#file.close();
		await rm(this.#folder, { recursive: true, force: true });
	}
}

/** Slots of the smallest table. All sizes are powers of two, as the lowest bits of a hash are its slot. */
const SMALLEST = 1024;

/** Share of used slots above which the table doubles: a fuller table needs longer searches. */
const FULLEST = 0.5;

/** The place of a record in a file, in bytes. */
export type Place = { readonly offset: number; readonly length: number };

/**
 * The possible places of each id's record, in about forty bytes an id, whatever its length.
 *
 * It stores only a part of each id's hash. So a caller checks the id of the record that it reads, and tries the next
 * candidate if the id differs.
 */
export class IdTable {
	#tags = new Uint32Array(SMALLEST);
	#offsets = new Float64Array(SMALLEST);
	/** zero for a free slot, as no record is empty */
	#lengths = new Uint32Array(SMALLEST);
	#count = 0;

	get size(): number {
		return this.#count;
	}

	add(id: string, place: Place): void {
		if (this.#count >= this.#lengths.length * FULLEST) this.#grow();
		this.#put(tagOf(id), place.offset, place.length);
		this.#count += 1;
	}

	/** The possible places of the id's record: nearly always one, or none. */
	*candidates(id: string): Generator<Place> {
		const tag = tagOf(id);
		const last = this.#lengths.length - 1;
		for (let slot = tag & last; ; slot = (slot + 1) & last) {
			const length = this.#lengths[slot] ?? 0;
			if (length === 0) return;
			if (this.#tags[slot] === tag) yield { offset: this.#offsets[slot] ?? 0, length };
		}
	}

	#put(tag: number, offset: number, length: number): void {
		const last = this.#lengths.length - 1;
		let slot = tag & last;
		while (this.#lengths[slot] !== 0) slot = (slot + 1) & last;
		this.#tags[slot] = tag;
		this.#offsets[slot] = offset;
		this.#lengths[slot] = length;
	}

	#grow(): void {
		const [tags, offsets, lengths] = [this.#tags, this.#offsets, this.#lengths];
		this.#tags = new Uint32Array(tags.length * 2);
		this.#offsets = new Float64Array(tags.length * 2);
		this.#lengths = new Uint32Array(tags.length * 2);
		for (const [slot, length] of lengths.entries()) {
			if (length > 0) this.#put(tags[slot] ?? 0, offsets[slot] ?? 0, length);
		}
	}
}

/** A hash of the id. Numbered ids differ in few characters, which alone would fill only a few slots. */
function tagOf(id: string): number {
	return Number.parseInt(hash("sha256", id, "hex").slice(0, 8), 16);
}
