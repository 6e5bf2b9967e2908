import type { Api, Document, Page } from "../../rest/types.ts";
import { RestError } from "../../rest/errors.ts";
import { differsByCase } from "../../text/names.ts";
import type { Request } from "../types.ts";
import { wholeList } from "./list.ts";
import { answerOf, SMALL_PAGE } from "./pages.ts";

/**
 * One document by its id, read now, or undefined if the dataset does not list it.
 *
 * @throws RestError of code `OTHER_CASE` where the dataset lists that id in another letter case
 */
export async function findDocument(
	api: Api,
	request: Request,
	datasetId: string,
	id: string,
): Promise<Document | undefined> {
	const { found, isHeeded } = await askForId(api, request, datasetId, id);
	if (found !== undefined || isHeeded) return found;
	const alike: Document[] = [];
	for await (const document of wholeList(api, request, datasetId)) {
		if (document.id === id) return document;
		if (differsByCase(document.id, id)) alike.push(document);
	}
	refuseOtherCase(datasetId, id, alike);
	return undefined;
}

/** Every document of exactly that name, read now. */
export function findNamesakes(
	api: Api,
	request: Request,
	datasetId: string,
	name: string,
): Promise<readonly Document[]> {
	return findNamed(api, request, datasetId, { name, isNamed: (other) => isSameName(other, name) });
}

/** Every document that has that name by the service's own comparison, read now. */
export function findAlike(api: Api, request: Request, datasetId: string, name: string): Promise<readonly Document[]> {
	const { nameKey } = api.dialect.flavour;
	const key = nameKey(name);
	return findNamed(api, request, datasetId, { name, isNamed: (other) => nameKey(other) === key });
}

/** Whether two names are the same text, however their letters are composed. */
export function isSameName(one: string, other: string): boolean {
	return one === other || one.normalize() === other.normalize();
}

/** Ids of which a hundred fit into what a proxy takes as an address. */
export const PLAIN_ID = /^[\w-]{1,64}$/;

/** The answer to a request for one id. */
type IdAnswer = {
	readonly found: Document | undefined;
	/** whether the service filtered by the id; only then a document that was not found does not exist */
	readonly isHeeded: boolean;
};

/** Asks for one document. @throws RestError of code `OTHER_CASE` where the service answers with its id in another letter case */
export async function askForId(api: Api, request: Request, datasetId: string, id: string): Promise<IdAnswer> {
	const page = await askFor(api, request, datasetId, { id });
	if (page === undefined) return { found: undefined, isHeeded: false };
	refuseOtherCase(datasetId, id, page.items);
	const found = page.items.find((document) => document.id === id);
	return { found, isHeeded: page.items.every((document) => document.id === id) };
}

/**
 * The document of that id in a whole list, or undefined where it is not there.
 *
 * @throws RestError of code `OTHER_CASE` where the list has that id in another letter case
 */
export async function foundIn<Found>(
	list: { get(id: string): Promise<Found | undefined> | Found | undefined },
	datasetId: string,
	id: string,
): Promise<Found | undefined> {
	const found = await list.get(id);
	if (found !== undefined) return found;
	for (const spelling of [id.toLowerCase(), id.toUpperCase()]) {
		if (spelling !== id && (await list.get(spelling)) !== undefined) refuseOtherCase(datasetId, id, [{ id: spelling }]);
	}
	return undefined;
}

/** The documents whose names pass `isNamed`: asked for, or found in the whole list where the service ignores the name. */
async function findNamed(
	api: Api,
	request: Request,
	datasetId: string,
	{ name, isNamed }: { readonly name: string; readonly isNamed: (name: string) => boolean },
): Promise<readonly Document[]> {
	const named = await askForName(api, request, datasetId, name);
	if (named !== undefined) return named.filter((document) => isNamed(document.name));
	const found: Document[] = [];
	for await (const document of wholeList(api, request, datasetId)) if (isNamed(document.name)) found.push(document);
	return found;
}

/** The documents that have a name by the service's own comparison; undefined where the service ignores the name. */
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
 * The first page of the documents of one id or one name. There are more pages only where the service ignores the filter.
 *
 * RAGFlow answers that it has no such document, and not with an empty list. Here both are an empty page. Undefined where the
 * answer is a bare 404, which may be about anything: only the whole list is certain then.
 */
async function askFor(
	api: Api,
	request: Request,
	datasetId: string,
	filter: { readonly id: string } | { readonly name: string },
): Promise<Page<Document> | undefined> {
	try {
		return await request(() => api.listDocuments(datasetId, { page: 1, pageSize: SMALL_PAGE, ...filter }));
	} catch (error) {
		const answer = answerOf(error);
		if (answer?.code !== "NOT_FOUND") throw error;
		return answer.status === 404 ? undefined : { items: [], total: 0 };
	}
}

/**
 * The code of a row whose id differs from its document's by letter case alone. RAGFlow's database compares ids without
 * case (MySQL, `utf8mb4_general_ci`; v0.15 to v0.27), so such an id addresses the document. The run would not recognise the
 * document again: neither in an answer, nor in a list, nor when the run is undone.
 */
export const OTHER_CASE = "OTHER_CASE";

/** @throws RestError of code `OTHER_CASE` where the entries have that id in another case, and none has the id itself */
function refuseOtherCase(datasetId: string, asked: string, entries: readonly { readonly id: string }[]): void {
	const found = entries.find(({ id }) => differsByCase(id, asked));
	if (found === undefined || entries.some(({ id }) => id === asked)) return;
	const text = `document ${asked} is not in dataset ${datasetId} in this letter case; did you mean ${found.id}? Nothing was sent`;
	throw new RestError(text, { kind: "rejected", code: OTHER_CASE });
}

/**
 * The error for an update whose answer names the document in another letter case.
 *
 * @param wasSeen whether a list showed the document under the id that was sent. Then the answer is about another request.
 * Otherwise the document was written, and the row's id has the wrong case: a retry would only write it again.
 */
export function answeredInOtherCase({ message, cause }: RestError, wasSeen: boolean): RestError {
	if (wasSeen) return new RestError(message, { kind: "ambiguous", code: "ECHO_MISMATCH", cause });
	const text = `${message}: it was written; write the id as the service does`;
	return new RestError(text, { kind: "rejected", code: OTHER_CASE, cause });
}
