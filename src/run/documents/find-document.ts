import type { Api, Document, Page } from "../../rest/types.ts";
import { wholeList } from "./list.ts";
import { differsByCase } from "../../text/names.ts";
import type { Request } from "../types.ts";
import { SMALL_PAGE, answerOf } from "./pages.ts";
import { RestError } from "../../rest/errors.ts";

/** One document by its id, or undefined where the dataset does not list it. */
export async function findDocument(
	api: Api,
	request: Request,
	datasetId: string,
	id: string,
): Promise<Document | undefined> {
	const page = await askFor(api, request, datasetId, { id });
	const found = page?.items.find((document) => document.id === id);
	if (found !== undefined || page?.items.length === 0) return found;
	// It answered with other documents, so it ignores `id`: only the whole list can tell.
	const alike: Document[] = [];
	for await (const document of wholeList(api, request, datasetId)) {
		if (document.id === id) return document;
		if (differsByCase(document.id, id)) alike.push(document);
	}
	refuseOtherCase(datasetId, id, alike);
	return undefined;
}

/** Every document of exactly that name, asked for now. */
export async function findNamesakes(api: Api, request: Request, datasetId: string, name: string): Promise<Document[]> {
	const found: Document[] = [];
	const named = await askForName(api, request, datasetId, name);
	if (named !== undefined) return named.filter((document) => isSameName(document.name, name));
	for await (const document of wholeList(api, request, datasetId)) {
		if (isSameName(document.name, name)) found.push(document);
	}
	return found;
}

/** Every document that has that name by the service's own comparison, asked for now. */
export async function findAlike(
	api: Api,
	request: Request,
	datasetId: string,
	name: string,
): Promise<readonly Document[]> {
	const named = await askForName(api, request, datasetId, name);
	if (named !== undefined) return named;
	const { nameKey } = api.dialect.flavour;
	const key = nameKey(name);
	const found: Document[] = [];
	for await (const document of wholeList(api, request, datasetId)) {
		if (nameKey(document.name) === key) found.push(document);
	}
	return found;
}

/** Whether two names are one text, however their letters are composed. */
export function isSameName(one: string, other: string): boolean {
	return one === other || one.normalize() === other.normalize();
}

/**
 * The first page of the documents of one id or one name: more than that only where the service ignores what it is asked.
 *
 * RAGFlow does not answer with an empty list, but that it has no such document; here both are an empty page. Undefined
 * where the answer is a bare 404, which may be about anything: only the whole list can tell then.
 *
 * @throws RestError of code `OTHER_CASE` where the service answers with the document of that id in another letter case
 */
export async function askFor(
	api: Api,
	request: Request,
	datasetId: string,
	filter: { readonly id: string } | { readonly name: string },
): Promise<Page<Document> | undefined> {
	// So few are refused by no service, and of one id there is no more than one.
	const first = { page: 1, pageSize: SMALL_PAGE };
	try {
		const page = await request(() => api.listDocuments(datasetId, { ...first, ...filter }));
		if ("id" in filter) refuseOtherCase(datasetId, filter.id, page.items);
		return page;
	} catch (error) {
		const answer = answerOf(error);
		if (answer?.code !== "NOT_FOUND") throw error;
		return answer.status === 404 ? undefined : { items: [], total: 0 };
	}
}

/** The documents that have a name by the service's own comparison; undefined where it ignores what it is asked. */
export async function askForName(
	api: Api,
	request: Request,
	datasetId: string,
	name: string,
): Promise<readonly Document[] | undefined> {
	const { nameKey } = api.dialect.flavour;
	const key = nameKey(name);
	const page = await askFor(api, request, datasetId, { name });
	return page?.items.every((document) => nameKey(document.name) === key) === true ? page.items : undefined;
}

/**
 * The code of a row whose id differs from its document's by letter case alone. RAGFlow's database compares ids without
 * case (MySQL, `utf8mb4_general_ci`; v0.15 to v0.27), so such an id addresses the document, and the run would then not
 * know it again: neither in the answer, nor in a list, nor when the run is undone.
 */
export const OTHER_CASE = "OTHER_CASE";

/** The spellings under which the same document may be listed. */
export function otherSpellings(id: string): readonly string[] {
	return [id.toLowerCase(), id.toUpperCase()].filter((spelling) => spelling !== id);
}

/** @throws RestError of code `OTHER_CASE` where the entries have that id in another case, and none has the id itself */
export function refuseOtherCase(datasetId: string, asked: string, entries: readonly { readonly id: string }[]): void {
	const found = entries.find(({ id }) => differsByCase(id, asked));
	if (found === undefined || entries.some(({ id }) => id === asked)) return;
	const text = `document ${asked} is not in dataset ${datasetId} in this letter case; did you mean ${found.id}? Nothing was sent`;
	throw new RestError(text, { kind: "rejected", code: OTHER_CASE });
}

/**
 * What the answer to an update means that names the document in another letter case. Of a document that was seen under the
 * id that was asked for, it is the answer to another request. Else it says that this document was written, and what was
 * asked for is its id in the wrong case: sending it again would only write it again.
 */
export function answeredInOtherCase({ message, cause }: RestError, wasSeen: boolean): RestError {
	if (wasSeen) return new RestError(message, { kind: "ambiguous", code: "ECHO_MISMATCH", cause });
	const text = `${message}: it was written; write the id as the service does`;
	return new RestError(text, { kind: "rejected", code: OTHER_CASE, cause });
}

/** Every document of a dataset, read once, for a service that can't be asked for one. */
type Index = {
	readonly byId: ReadonlyMap<string, Document>;
	/** by what the service compares of a name */
	readonly byName: ReadonlyMap<string, readonly Document[]>;
};

/**
 * Finds documents by id or by name for many rows of a run.
 *
 * A service may ignore what a list is asked for. Then each dataset is read once as a whole, not once for each row; an
 * answer may then be as old as the run.
 */
export class Lookup {
	readonly #indexes = new Map<string, Promise<Index>>();

	/** Whether the service can't be asked for one document of that dataset, so that it was read as a whole. */
	isIndexed(datasetId: string): boolean {
		return this.#indexes.has(datasetId);
	}

	/** The document, or undefined where the dataset does not list it. */
	async byId(api: Api, request: Request, datasetId: string, id: string): Promise<Document | undefined> {
		const index = this.#indexes.get(datasetId);
		if (index !== undefined) return foundIn(await index, datasetId, id);
		const page = await askFor(api, request, datasetId, { id });
		if (page?.items.every((document) => document.id === id) === true) return page.items[0];
		return foundIn(await this.#read(api, request, datasetId), datasetId, id);
	}

	/** Every document that has that name by the service's own comparison. */
	async byName(api: Api, request: Request, datasetId: string, name: string): Promise<readonly Document[]> {
		const index = this.#indexes.get(datasetId);
		const found = index === undefined ? await askForName(api, request, datasetId, name) : undefined;
		if (found !== undefined) return found;
		const { byName } = await this.#read(api, request, datasetId);
		return byName.get(api.dialect.flavour.nameKey(name)) ?? [];
	}

	#read(api: Api, request: Request, datasetId: string): Promise<Index> {
		const known = this.#indexes.get(datasetId);
		if (known !== undefined) return known;
		const reading = readIndex(api, request, datasetId);
		this.#indexes.set(datasetId, reading);
		// The row that asked fails or is tried again; the next one reads anew.
		reading.catch(() => this.#indexes.delete(datasetId));
		return reading;
	}
}

function foundIn({ byId }: Index, datasetId: string, id: string): Document | undefined {
	const found = byId.get(id);
	if (found !== undefined) return found;
	refuseOtherCase(
		datasetId,
		id,
		otherSpellings(id).flatMap((spelling) => byId.get(spelling) ?? []),
	);
	return undefined;
}

async function readIndex(api: Api, request: Request, datasetId: string): Promise<Index> {
	const byId = new Map<string, Document>();
	const byName = new Map<string, Document[]>();
	for await (const document of wholeList(api, request, datasetId)) {
		byId.set(document.id, document);
		const key = api.dialect.flavour.nameKey(document.name);
		const same = byName.get(key);
		if (same === undefined) byName.set(key, [document]);
		else same.push(document);
	}
	return { byId, byName };
}
