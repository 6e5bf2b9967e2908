import { readSync } from "node:fs";
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { parseJson, parseLoosely } from "../../json/parse-json.ts";
import { isJsonObject, type JsonValue, type Metadata, metadataOf, metadataText, textsOf } from "../../json/values.ts";
import type { InexactValues } from "../../rest/inexact.ts";
import { withTemporaryStorage } from "../storage/temporary-folders.ts";
import { IdTable, SeenIds } from "./id-table.ts";

/** The metadata of a document, as a list showed it. */
export type RemoteDocument = {
	readonly name?: string | undefined;
	/** bytes; undefined if the list does not say them */
	readonly size?: number | undefined;
	/** undefined if the list has no `meta_fields` for it */
	readonly metadata: Metadata | undefined;
	/** the JSON text of `metadata`, where it is at hand */
	readonly text?: string | undefined;
	/** values that JavaScript can't hold as the service gave them; absent if there are none */
	readonly inexact?: InexactValues;
	/** no metadata was shown, and that is doubted: see `Searches` */
	readonly isDoubted?: true;
};

/** A document with its id and its name. */
export type Named = RemoteDocument & {
	readonly id: string;
	readonly name: string;
	/** bytes; undefined if the list does not say them */
	readonly size: number | undefined;
};

/** The text of no metadata, where that is doubted: no writer of metadata has a blank there. */
const DOUBTED = "{ }";

/** Between the fields of a record. No JSON text has it. */
const BETWEEN = "\t";

/** Characters that wait for a write. */
const WRITE_LENGTH = 256 * 1024;

/** Documents that are read together where all are read. */
const TOGETHER = 256;

/**
 * The documents of a whole dataset in a private file, found by their ids, or by the part of their names that the service
 * compares: a million of them need 30 MB of memory. Add all documents, call `end`, then read.
 *
 * A record is the number of the earlier record of its key, and JSON texts: the id, the name, the size and the metadata.
 */
export class StoredDocuments {
	readonly #folder: string;
	readonly #file: FileHandle;
	readonly #what: string;
	readonly #nameKey: ((name: string) => string) | undefined;
	/** undefined where documents are found by their ids */
	readonly #ids: SeenIds | undefined;
	/** the number of the latest record of a key, from 1 on */
	readonly #numbers = new IdTable();
	/** where each record begins in the file, in bytes; the last number is where the file ends */
	readonly #starts = [0];
	#unwritten = "";

	private constructor(folder: string, file: FileHandle, nameKey: ((name: string) => string) | undefined) {
		this.#folder = folder;
		this.#file = file;
		this.#what = whatIn(nameKey);
		this.#nameKey = nameKey;
		this.#ids = nameKey && new SeenIds();
	}

	/**
	 * @param parent a folder that is the user's alone
	 * @param nameKey undefined where documents are found by their ids
	 * @throws CliError exit 7 where nothing can be stored
	 */
	static create(parent: string, nameKey?: (name: string) => string): Promise<StoredDocuments> {
		return withTemporaryStorage(whatIn(nameKey), async () => {
			const folder = await mkdtemp(join(parent, "ragtag-present-"));
			const file = await open(join(folder, "documents"), "wx+", 0o600);
			// Most systems let an open file be removed. Then nothing is left on the disk if the program is killed.
			await rm(folder, { recursive: true, force: true }).catch(() => undefined);
			return new StoredDocuments(folder, file, nameKey);
		});
	}

	get size(): number {
		return this.#starts.length - 1;
	}

	/**
	 * @returns a promise only where it must be awaited before more is added
	 * @throws CliError exit 7 if it can't be stored
	 */
	add({ id, name, size, ...held }: Named): Promise<void> | undefined {
		this.#ids?.add(id);
		const earlier = this.#numbers.set(this.#nameKey?.(name) ?? id, this.#starts.length);
		const named = [earlier, JSON.stringify(id), JSON.stringify(name), JSON.stringify(size ?? null)];
		const record = [...named, ...fieldsOf(held)].join(BETWEEN);
		this.#starts.push((this.#starts.at(-1) ?? 0) + Buffer.byteLength(record));
		this.#unwritten += record;
		return this.#unwritten.length >= WRITE_LENGTH ? this.end() : undefined;
	}

	/** Writes everything. */
	async end(): Promise<void> {
		const text = this.#unwritten;
		this.#unwritten = "";
		if (text !== "") await withTemporaryStorage(this.#what, () => this.#file.appendFile(text));
	}

	async get(id: string): Promise<Named | undefined> {
		return (await this.#found(id, (document) => document.id === id)).at(-1);
	}

	/** Every document whose name has the same key. */
	async named(name: string): Promise<readonly Named[]> {
		const key = this.#nameKey?.(name) ?? name;
		return (await this.#found(key, (document) => this.#nameKey?.(document.name) === key)).toReversed();
	}

	/** Whether a document of that id was added. */
	showed(id: string): boolean {
		return this.#ids?.has(id) === true;
	}

	/** The id and the name of each document, in the order of the list. */
	async *ids(): AsyncGenerator<Pick<Named, "id" | "name">> {
		for (let first = 1; first <= this.size; first += TOGETHER) {
			for (const [, id, name] of await this.#read(first, Math.min(TOGETHER, this.size - first + 1))) {
				yield { id: textOf(id), name: textOf(name) };
			}
		}
	}

	async close(): Promise<void> {
		await this.#file.close();
		await rm(this.#folder, { recursive: true, force: true });
	}

	/** The documents of that key, the latest first. Other keys may have the same number. */
	async #found(key: string, isMeant: (document: Named) => boolean): Promise<Named[]> {
		const found: Named[] = [];
		for (let number = this.#numbers.get(key); number !== 0;) {
			const [[earlier, ...fields] = []] = await this.#read(number, 1);
			const document = documentOf(fields);
			if (isMeant(document)) found.push(document);
			number = Number(earlier);
		}
		return found;
	}

	/** The fields of so many records. A call takes the system some microseconds; in a thread it would take ten times as long. */
	#read(number: number, count: number): Promise<readonly (readonly string[])[]> {
		const starts = this.#starts.slice(number - 1, number + count);
		const [start = 0, end = 0] = [starts[0], starts.at(-1)];
		return withTemporaryStorage(this.#what, async () => {
			const bytes = Buffer.allocUnsafe(end - start);
			readSync(this.#file.fd, bytes, 0, bytes.length, start);
			const ends = starts.slice(1);
			return ends.map((each, at) => bytes.toString("utf8", (starts[at] ?? 0) - start, each - start).split(BETWEEN));
		});
	}
}

function whatIn(nameKey: unknown): string {
	return nameKey === undefined ? "what the documents have" : "the names of the documents";
}

function fieldsOf({ metadata, inexact, isDoubted }: RemoteDocument): readonly string[] {
	if (metadata === undefined) return [];
	if (isDoubted === true) return [DOUBTED];
	const texts = [metadataText(metadata)];
	return inexact === undefined ? texts : [...texts, metadataText(inexact)];
}

/** @param fields its id, its name, its size, its metadata, and the exact digits of the numbers in it */
function documentOf([id, name, size, ...fields]: readonly string[]): Named {
	return { id: textOf(id), name: textOf(name), size: size === "null" ? undefined : Number(size), ...heldOf(fields) };
}

function textOf(json = ""): string {
	// Nearly every text stands in its JSON as it is.
	if (!json.includes("\\")) return json.slice(1, -1);
	const value = parseJson(json);
	return typeof value === "string" ? value : "";
}

function heldOf([text, inexact]: readonly string[]): Omit<RemoteDocument, "name" | "size"> {
	if (text === DOUBTED) return { metadata: new Map(), isDoubted: true };
	const value: JsonValue = text === undefined ? null : parseJson(text);
	const metadata = isJsonObject(value) ? metadataOf(value) : undefined;
	if (metadata === undefined || inexact === undefined) return { metadata, text };
	const texts = textsOf(parseJson(inexact));
	// JSON has written null for NaN and the infinities.
	const values = Array.from(texts, ([key, exact]) => [key, parseLoosely(exact)] as const);
	return { metadata: new Map([...metadata, ...values]), inexact: texts };
}
