import { parseJson } from "../../json/parse-json.ts";
import { type BlockCache, BlockFile, END } from "./block-file.ts";
import { IdTable } from "./id-table.ts";

/** Between the fields of a record. A JSON text has neither this nor the end of a text in a file. */
const BETWEEN = "\t";

/**
 * Records in a private file, found by a key. Memory holds the place of each record, and some of the records. Add all
 * records, call `end`, then read.
 */
export class IndexedRecords {
	readonly #file: BlockFile;
	readonly #table = new IdTable();

	private constructor(file: BlockFile) {
		this.#file = file;
	}

	/**
	 * @param parent a folder that is the user's alone
	 * @param what the stored data, in words for messages
	 */
	static async create(parent: string, what: string, cache: BlockCache): Promise<IndexedRecords> {
		return new IndexedRecords(await BlockFile.create(parent, what, cache));
	}

	get size(): number {
		return this.#table.size;
	}

	/**
	 * @param fields JSON texts
	 * @returns a promise only where it must be awaited before more is added
	 * @throws CliError exit 7 if it can't be stored
	 */
	add(key: string, fields: readonly string[]): Promise<void> | undefined {
		this.#table.add(key, this.#file.add(`${[JSON.stringify(key), ...fields].join(BETWEEN)}`));
		return this.#file.isFull ? this.#file.write() : undefined;
	}

	/** Writes the buffered records. */
	end(): Promise<void> {
		return this.#file.end();
	}

	/** The fields of the first record with that key, if it is in memory. Undefined also where there is none. */
	atHand(key: string): readonly string[] | undefined {
		const beginning = beginningOf(key);
		for (const place of this.#table.candidates(key)) {
			const record = this.#file.atHand(place);
			// In a record that must be read, there may be that key.
			if (record === undefined) return undefined;
			if (record.startsWith(beginning)) return fieldsOf(record, beginning);
		}
		return undefined;
	}

	/** The fields of each record with that key. */
	async *get(key: string): AsyncGenerator<readonly string[]> {
		const beginning = beginningOf(key);
		for (const place of this.#table.candidates(key)) {
			const record = await this.#file.read(place);
			if (record.startsWith(beginning)) yield fieldsOf(record, beginning);
		}
	}

	/** The key and the fields of each record, in the order in which they were added. */
	async *all(): AsyncGenerator<readonly [key: string, ...fields: string[]]> {
		for await (const records of this.#file.all()) {
			for (const record of records.split(END)) {
				const [text = "", ...fields] = record.split(BETWEEN);
				const key = text === "" ? undefined : parseJson(text);
				if (typeof key === "string") yield [key, ...fields];
			}
		}
	}

	close(): Promise<void> {
		return this.#file.close();
	}
}

/** The beginning of each record with that key. */
function beginningOf(key: string): string {
	return `${JSON.stringify(key)}${BETWEEN}`;
}

function fieldsOf(record: string, beginning: string): readonly string[] {
	return record.slice(beginning.length).split(BETWEEN);
}
