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

/**
 * The documents of a whole dataset on disk, found by their ids, or by the part of their names that the service compares. Add
 * all documents, call `end`, then read.
 */
export class StoredDocuments {
	readonly #records: RecordFile;
	readonly #nameKey: ((name: string) => string) | undefined;
	/** undefined where documents are found by their ids */
	readonly #ids: SeenIds | undefined;

	private constructor(records: RecordFile, nameKey: ((name: string) => string) | undefined) {
		this.#records = records;
		this.#nameKey = nameKey;
		this.#ids = nameKey && new SeenIds();
	}

	/**
	 * @param parent a folder that is the user's alone
	 * @param nameKey undefined where documents are found by their ids
	 */
	static async create(parent: string, nameKey?: (name: string) => string): Promise<StoredDocuments> {
		const what = nameKey === undefined ? "what the documents have" : "the names of the documents";
		return new StoredDocuments(await RecordFile.create(parent, what), nameKey);
	}

	get size(): number {
		return this.#records.size;
	}

	/** @throws CliError exit 7 if it can't be stored */
	add({ id, name, size, ...held }: Named): Promise<void> | undefined {
		this.#ids?.add(id);
		const named = [JSON.stringify(id), JSON.stringify(name), JSON.stringify(size ?? null)];
		return this.#records.add(this.#nameKey?.(name) ?? id, [...named, ...fieldsOf(held)]);
	}

	end(): Promise<void> {
		return this.#records.end();
	}

	async get(id: string): Promise<Named | undefined> {
		const [fields] = await this.#records.get(id);
		return fields && documentOf(fields);
	}

	/** Every document whose name has the same key. */
	async named(name: string): Promise<readonly Named[]> {
		return (await this.#records.get(this.#nameKey?.(name) ?? name)).map(documentOf);
	}

	/** Whether a document of that id was added. */
	showed(id: string): boolean {
		return this.#ids?.has(id) === true;
	}

	/** The id and the name of each document, in the order of the list. */
	async *ids(): AsyncGenerator<Pick<Named, "id" | "name">> {
		for await (const [, id, name] of this.#records.all()) yield { id: textOf(id), name: textOf(name) };
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
