import { isJsonObject, type JsonValue, type Metadata, metadataOf, metadataText, textsOf } from "../../json/values.ts";
import { parseLoosely } from "../../json/not-json.ts";
import type { InexactValues } from "../../rest/inexact.ts";
import { IndexedRecords } from "./indexed-records.ts";

/** The metadata of a document, as a list showed it. */
export type RemoteDocument = {
	readonly name?: string | undefined;
	/** undefined if the list has no `meta_fields` for it */
	readonly metadata: Metadata | undefined;
	/** values that JavaScript can't hold as the service gave them; absent if there are none */
	readonly inexact?: InexactValues;
};

/** A document with its id and its name. */
export type Named = RemoteDocument & { readonly id: string; readonly name: string };

const WHAT = "what the documents have";

/** The metadata of a whole dataset, found by id. Add all documents, call `end`, then read. */
export class StoredDocuments {
	readonly #records: IndexedRecords;

	private constructor(records: IndexedRecords) {
		this.#records = records;
	}

	/** @param parent a folder that is the user's alone */
	static async create(parent: string): Promise<StoredDocuments> {
		return new StoredDocuments(await IndexedRecords.create(parent, WHAT));
	}

	get size(): number {
		return this.#records.size;
	}

	/** @throws CliError exit 7 if it can't be stored */
	add(document: { readonly id: string } & RemoteDocument): Promise<void> {
		return this.#records.add(document.id, [JSON.stringify(document.name ?? null), ...fieldsOf(document)]);
	}

	end(): Promise<void> {
		return this.#records.end();
	}

	async get(id: string): Promise<RemoteDocument | undefined> {
		for await (const [name, ...fields] of this.#records.get(id)) {
			return { ...heldOf(fields), name: typeof name === "string" ? name : undefined };
		}
		return undefined;
	}

	/** The id and the name of each document, in the order of the list. */
	async *ids(): AsyncGenerator<{ readonly id: string; readonly name: string | undefined }> {
		for await (const [id, name] of this.#records.all()) yield { id, name: typeof name === "string" ? name : undefined };
	}

	close(): Promise<void> {
		return this.#records.close();
	}
}

/** The documents of a whole dataset, found by the part of their names that the service compares. */
export class StoredNames {
	readonly #records: IndexedRecords;
	readonly #keyOf: (name: string) => string;

	private constructor(records: IndexedRecords, keyOf: (name: string) => string) {
		this.#records = records;
		this.#keyOf = keyOf;
	}

	/** @param parent a folder that is the user's alone */
	static async create(parent: string, keyOf: (name: string) => string): Promise<StoredNames> {
		return new StoredNames(await IndexedRecords.create(parent, "the names of the documents"), keyOf);
	}

	/** @throws CliError exit 7 if it can't be stored */
	add({ id, name, ...held }: Named): Promise<void> {
		const named = [JSON.stringify(id), JSON.stringify(name)];
		return this.#records.add(this.#keyOf(name), [...named, ...fieldsOf(held)]);
	}

	end(): Promise<void> {
		return this.#records.end();
	}

	/** Every document whose name has the same key. */
	async get(name: string): Promise<Named[]> {
		const found: Named[] = [];
		for await (const [id, stored, ...fields] of this.#records.get(this.#keyOf(name))) {
			if (typeof id === "string" && typeof stored === "string") found.push({ id, name: stored, ...heldOf(fields) });
		}
		return found;
	}

	close(): Promise<void> {
		return this.#records.close();
	}
}

function fieldsOf({ metadata, inexact }: RemoteDocument): readonly string[] {
	if (metadata === undefined) return [];
	const texts = [metadataText(metadata)];
	return inexact === undefined ? texts : [...texts, metadataText(inexact)];
}

function heldOf([metadata, inexact]: readonly JsonValue[]): Omit<RemoteDocument, "name"> {
	const held = isJsonObject(metadata) ? metadataOf(metadata) : undefined;
	if (held === undefined || inexact === undefined) return { metadata: held };
	const texts = textsOf(inexact);
	// JSON has written null for NaN and the infinities.
	const values = Array.from(texts, ([key, text]) => [key, parseLoosely(text)] as const);
	return { metadata: new Map([...held, ...values]), inexact: texts };
}
