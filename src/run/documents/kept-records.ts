import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { isJsonArray, type JsonValue, parseJson } from "../../json/values.ts";
import { withTemporaryStorage } from "../storage/temporary-folders.ts";
import { IdTable } from "./id-table.ts";

/** Bytes that are gathered before they are written. */
const BLOCK = 256 * 1024;

/**
 * Records in a private file, found by a key: memory holds where each is, and no record. First all are added, then `end`,
 * then they are read.
 */
export class KeptRecords {
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
	 * @param what is kept, in words
	 */
	static async create(parent: string, what: string): Promise<KeptRecords> {
		return withTemporaryStorage(what, async () => {
			const folder = await mkdtemp(join(parent, "ragtag-present-"));
			const file = await open(join(folder, "documents"), "wx+", 0o600);
			// Where a system lets an open file go, a program that is killed leaves nothing behind.
			await rm(folder, { recursive: true, force: true }).catch(() => undefined);
			return new KeptRecords(folder, file, what);
		});
	}

	get size(): number {
		return this.#table.size;
	}

	/**
	 * @param fields JSON texts
	 * @throws CliError exit 7 where it can't be kept
	 */
	async add(key: string, fields: readonly string[]): Promise<void> {
		const bytes = Buffer.from(`[${[JSON.stringify(key), ...fields].join(",")}]`);
		this.#table.add(key, { offset: this.#end, length: bytes.length });
		this.#end += bytes.length;
		this.#waiting.push(bytes);
		this.#waitingBytes += bytes.length;
		if (this.#waitingBytes >= BLOCK) await this.end();
	}

	/** Writes what waits. */
	async end(): Promise<void> {
		const bytes = Buffer.concat(this.#waiting);
		this.#waiting = [];
		this.#waitingBytes = 0;
		await withTemporaryStorage(this.#what, () => this.#file.appendFile(bytes));
	}

	/** The fields of each record of that key. */
	async *get(key: string): AsyncGenerator<readonly JsonValue[]> {
		for (const { offset, length } of this.#table.candidates(key)) {
			const buffer = Buffer.allocUnsafe(length);
			const { bytesRead } = await withTemporaryStorage(this.#what, () => this.#file.read(buffer, 0, length, offset));
			const record = parseJson(buffer.toString("utf8", 0, bytesRead));
			const [found, ...fields] = isJsonArray(record) ? record : [];
			if (found === key) yield fields;
		}
	}

	async close(): Promise<void> {
		await this.#file.close();
		await rm(this.#folder, { recursive: true, force: true });
	}
}
