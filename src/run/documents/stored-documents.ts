import { readSync } from "node:fs";
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { CliError, Exit } from "../../errors.ts";
import { parseJson, parseLoosely } from "../../json/parse-json.ts";
import { isJsonObject, type JsonValue, metadataOf, metadataText, textsOf } from "../../json/values.ts";
import type { Document } from "../../rest/types.ts";
import { withTemporaryStorage } from "../storage/temporary-folders.ts";
import { IdTable, SeenIds } from "./id-table.ts";

/** The metadata of a document, as a list showed it. */
export type RemoteDocument = Pick<Document, "metadata" | "inexact"> &
	Partial<Pick<Document, "name" | "size">> & {
		/** no metadata was shown, and that is doubted: see `Searches` */
		readonly isDoubted?: true;
	};

/** A document with its id and its name. */
export type Named = RemoteDocument & Pick<Document, "id" | "name" | "size">;

/** The text of no metadata, where that is doubted: no writer of metadata has a blank there. */
const DOUBTED = "{ }";

/** Between the fields of a record, and after it. No JSON text has them. */
const BETWEEN = "\t";
const END = "\n";

/** Bytes of which each record takes a multiple, so that 32 bits tell where one begins in a file of 32 GB. */
const UNIT = 8;

/** Bytes that are read of a record at first: most have fewer. */
const FIRST_READ = 512;

/** Characters that wait for a write. */
const WRITE_LENGTH = 256 * 1024;

/**
 * The documents of a whole dataset in a private file, found by their ids, or by the part of their names that the service
 * compares: a million of them need 20 MB of memory. Add all documents, call `end`, then read.
 *
 * A record is the place of the earlier record of its key, and JSON texts: the id, the name, the size and the metadata. A place
 * is counted in units from 1 on.
 */
export class StoredDocuments {
	readonly #folder: string;
	readonly #file: FileHandle;
	readonly #what: string;
	readonly #nameKey: ((name: string) => string) | undefined;
	/** undefined where documents are found by their ids */
	readonly #ids: SeenIds | undefined;
	/** the place of the latest record of a key */
	readonly #places = new IdTable();
	/** the place after the last record */
	#end = 1;
	#size = 0;
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
		return this.#size;
	}

	/**
	 * @returns a promise only where it must be awaited before more is added
	 * @throws CliError exit 7 if it can't be stored
	 */
	add(document: Named): Promise<void> | undefined {
		const { id, name, size } = document;
		this.#ids?.add(id);
		const earlier = this.#places.set(this.#nameKey?.(name) ?? id, this.#end);
		const named = [earlier, JSON.stringify(id), JSON.stringify(name), size ?? "null", ...fieldsOf(document)];
		const record = named.join(BETWEEN) + END;
		const bytes = Buffer.byteLength(record);
		const units = Math.ceil(bytes / UNIT);
		this.#size += 1;
		this.#end += units;
		this.#unwritten += " ".repeat(units * UNIT - bytes) + record;
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
		for (let place = 1; place < this.#end;) {
			const { fields, next } = await this.#read(place);
			const [, id, name] = fields;
			yield { id: textOf(id), name: textOf(name) };
			place = next;
		}
	}

	async close(): Promise<void> {
		await this.#file.close();
		await rm(this.#folder, { recursive: true, force: true });
	}

	/** The documents of that key, the latest first. Other keys may have the same place. */
	async #found(key: string, isMeant: (document: Named) => boolean): Promise<Named[]> {
		const found: Named[] = [];
		for (let place = this.#places.get(key); place !== 0;) {
			const [earlier, ...fields] = (await this.#read(place)).fields;
			const document = documentOf(fields);
			if (isMeant(document)) found.push(document);
			place = Number(earlier);
		}
		return found;
	}

	/** A record, and the place of the next one. A call takes the system some microseconds; in a thread it would take ten times as long. */
	#read(place: number): Promise<{ readonly fields: readonly string[]; readonly next: number }> {
		return withTemporaryStorage(this.#what, async () => {
			for (let length = FIRST_READ; ; length *= 4) {
				const bytes = Buffer.allocUnsafe(length);
				const count = readSync(this.#file.fd, bytes, 0, length, (place - 1) * UNIT);
				const end = bytes.subarray(0, count).indexOf(END);
				if (end !== -1) {
					const fields = bytes.toString("utf8", 0, end).split(BETWEEN);
					return { fields, next: place + Math.ceil((end + 1) / UNIT) };
				}
				if (count < length)
					throw new CliError(`${this.#what} can't be read: their temporary file was cut off`, { exit: Exit.storage });
			}
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
	if (metadata === undefined || inexact === undefined) return { metadata };
	const texts = textsOf(parseJson(inexact));
	// JSON has written null for NaN and the infinities.
	const values = Array.from(texts, ([key, exact]) => [key, parseLoosely(exact) ?? null] as const);
	return { metadata: new Map([...metadata, ...values]), inexact: texts };
}
