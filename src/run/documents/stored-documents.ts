import { parseJson, parseLoosely } from "../../json/parse-json.ts";
import { isJsonObject, type JsonValue, type Metadata, metadataOf, metadataText, textsOf } from "../../json/values.ts";
import type { InexactValues } from "../../rest/inexact.ts";
import { SeenIds } from "./id-table.ts";
import { RecordFile } from "./record-file.ts";

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

const WHAT = "what the documents have";

/** The metadata of a whole dataset, found by id. Add all documents, call `end`, then read. */
export class StoredDocuments {
	readonly #records: RecordFile;

	private constructor(records: RecordFile) {
		this.#records = records;
	}

	/** @param parent a folder that is the user's alone */
	static async create(parent: string): Promise<StoredDocuments> {
		return new StoredDocuments(await RecordFile.create(parent, WHAT));
	}

	get size(): number {
		return this.#records.size;
	}

	/** @throws CliError exit 7 if it can't be stored */
	add(document: { readonly id: string } & RemoteDocument): Promise<void> | undefined {
		const named = [JSON.stringify(document.name ?? null), JSON.stringify(document.size ?? null)];
		return this.#records.add(document.id, [...named, ...fieldsOf(document)]);
	}

	end(): Promise<void> {
		return this.#records.end();
	}

	async get(id: string): Promise<RemoteDocument | undefined> {
		const [fields] = await this.#records.get(id);
		return fields && documentOf(fields);
	}

	/** The id and the name of each document, in the order of the list. */
	async *ids(): AsyncGenerator<{ readonly id: string; readonly name: string | undefined }> {
		for await (const [id, name] of this.#records.all()) yield { id: textOf(id) ?? "", name: textOf(name) };
	}

	close(): Promise<void> {
		return this.#records.close();
	}
}

/** The documents of a whole dataset, found by the part of their names that the service compares. */
export class StoredNames {
	readonly #records: RecordFile;
	readonly #keyOf: (name: string) => string;
	readonly #ids = new SeenIds();

	private constructor(records: RecordFile, keyOf: (name: string) => string) {
		this.#records = records;
		this.#keyOf = keyOf;
	}

	/** @param parent a folder that is the user's alone */
	static async create(parent: string, keyOf: (name: string) => string): Promise<StoredNames> {
		return new StoredNames(await RecordFile.create(parent, "the names of the documents"), keyOf);
	}

	/** @throws CliError exit 7 if it can't be stored */
	add({ id, name, size, ...held }: Named): Promise<void> | undefined {
		this.#ids.add(id);
		const named = [JSON.stringify(id), JSON.stringify(name), JSON.stringify(size ?? null)];
		return this.#records.add(this.#keyOf(name), [...named, ...fieldsOf(held)]);
	}

	end(): Promise<void> {
		return this.#records.end();
	}

	/** Whether a document of that id was added. */
	showed(id: string): boolean {
		return this.#ids.has(id);
	}

	/** Every document whose name has the same key. */
	async get(name: string): Promise<Named[]> {
		const found: Named[] = [];
		for (const [idText, nameText, sizeText, ...fields] of await this.#records.get(this.#keyOf(name))) {
			const [id, stored] = [textOf(idText), textOf(nameText)];
			if (id === undefined || stored === undefined) continue;
			found.push({ id, name: stored, size: sizeOf(sizeText), ...heldOf(fields) });
		}
		return found;
	}

	close(): Promise<void> {
		return this.#records.close();
	}
}

function fieldsOf({ metadata, inexact, isDoubted }: RemoteDocument): readonly string[] {
	if (metadata === undefined) return [];
	if (isDoubted === true) return [DOUBTED];
	const texts = [metadataText(metadata)];
	return inexact === undefined ? texts : [...texts, metadataText(inexact)];
}

/** @param fields its name, its size, its metadata, and the exact digits of the numbers in it */
function documentOf([name, size, ...fields]: readonly string[]): RemoteDocument {
	return { name: textOf(name), size: sizeOf(size), ...heldOf(fields) };
}

function sizeOf(json: string | undefined): number | undefined {
	return json === undefined || json === "null" ? undefined : Number(json);
}

function textOf(json: string | undefined): string | undefined {
	// Nearly every name stands in its JSON text as it is.
	if (json?.startsWith('"') === true && !json.includes("\\")) return json.slice(1, -1);
	const value = json === undefined ? null : parseJson(json);
	return typeof value === "string" ? value : undefined;
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
