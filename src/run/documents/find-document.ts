import type { Document, Page } from "../../rest/types.ts";
import { RestError } from "../../rest/errors.ts";
import { differsByCase } from "../../text/names.ts";
import { restErrorOf, retryingPages } from "../retry/request.ts";
import type { Clock } from "../types.ts";
import { type DatasetAccess, documentPages, firstDocuments, wholeList } from "./list.ts";
import { PAGE_SIZE, SMALL_PAGE } from "./pages.ts";

/** Ids of which a hundred fit into what a proxy takes as an address. */
export const PLAIN_ID = /^[\w-]{1,64}$/;

/** Documents that are asked for one by one, where the service lists none by their ids: the pages of a list cost more. */
const FEW = 3;

/** Documents of one dataset. */
export type Wanted = DatasetAccess & { readonly ids: readonly string[] };

/** The wanted documents that a list shows. */
type Listed = {
	readonly found: ReadonlyMap<string, Document>;
	/** documents of the dataset, where all were listed */
	readonly size?: number;
};

/** Documents by their ids, as they are now. In place of one that can't be read for a reason of its own, that reason. */
export type ReadDocuments = ReadonlyMap<string, Document | RestError>;

/**
 * One document by its id, read now, or undefined if the dataset does not list it.
 *
 * @throws RestError of code `OTHER_CASE` where the dataset lists that id in another letter case
 */
export async function findDocument(dataset: DatasetAccess, id: string): Promise<Document | undefined> {
	const found = (await readMany({ ...dataset, ids: [id] })).get(id);
	if (found instanceof RestError) throw found;
	return found;
}

/**
 * Reads documents. Each that lists have not shown is asked for by itself, unless the service ignores that.
 *
 * @param listed as `listMany` gives it
 */
export async function readMany(wanted: Wanted, { found }: Listed = { found: new Map() }): Promise<ReadDocuments> {
	const documents = new Map<string, Document | RestError>(found);
	const [first, ...others] = wanted.ids.filter((id) => !found.has(id));
	if (first === undefined) return documents;
	if (await ask(wanted, first, documents)) await Promise.all(others.map((id) => ask(wanted, id, documents)));
	else await findInWhole(wanted, [first, ...others], documents);
	return documents;
}

/** Asks for one document. Resolves with whether the service heeds ids. */
async function ask(dataset: DatasetAccess, id: string, documents: Map<string, Document | RestError>): Promise<boolean> {
	try {
		const { found, isHeeded } = await askForId(dataset, id);
		if (found !== undefined) documents.set(id, found);
		return found !== undefined || isHeeded;
	} catch (error) {
		// A refusal says nothing of other documents.
		if (!(error instanceof RestError) || error.kind !== "rejected") throw error;
		documents.set(id, error);
		return true;
	}
}

/** Reads the whole list until it has shown all of them. */
async function findInWhole(
	dataset: DatasetAccess,
	ids: readonly string[],
	documents: Map<string, Document | RestError>,
): Promise<void> {
	const left = new Set(ids);
	const folded = new Set(ids.map((id) => id.toLowerCase()));
	const alike = new Map<string, string>();
	for await (const document of wholeList(dataset)) {
		const key = document.id.toLowerCase();
		if (folded.has(key)) alike.set(key, document.id);
		if (left.delete(document.id)) documents.set(document.id, document);
		if (left.size === 0) return;
	}
	for (const id of left) {
		const other = alike.get(id.toLowerCase());
		if (other !== undefined) documents.set(id, otherCase(dataset.datasetId, id, other));
	}
}

/** Those of the wanted documents that lists show; undefined where no list can say it by fewer requests than one for each. */
export async function listMany(wanted: Wanted, clock: Clock): Promise<Listed | undefined> {
	const { idsAtOnce } = wanted.api.dialect.flavour.list;
	const byIds = wanted.ids.length > 1 && idsAtOnce > 1 ? await listByIds(wanted, idsAtOnce) : undefined;
	return byIds ?? (wanted.ids.length > FEW ? listWhole(wanted, clock) : undefined);
}

/** @returns undefined where the service answers with other documents, as v0.25.0 does */
export async function listByIds({ api, request, datasetId, ids }: Wanted, most: number): Promise<Listed | undefined> {
	const found = new Map<string, Document>();
	if (!ids.every((id) => PLAIN_ID.test(id))) return undefined;
	for (let from = 0; from < ids.length; from += most) {
		const some = ids.slice(from, from + most);
		// Ids are compared without case by RAGFlow's database.
		const folded = new Set(some.map((id) => id.toLowerCase()));
		const query = { page: 1, pageSize: some.length, ids: some };
		const { items } = await request(() => api.listDocuments(datasetId, query));
		if (items.some(({ id }) => !folded.has(id.toLowerCase()))) return undefined;
		for (const document of items) found.set(document.id, document);
	}
	return { found };
}

async function listWhole({ ids, ...dataset }: Wanted, clock: Clock): Promise<Listed | undefined> {
	const pages = { ...dataset, request: retryingPages(dataset.request, clock) };
	const start = await firstDocuments(pages);
	const { total = Number.POSITIVE_INFINITY } = start.first;
	if (Math.ceil(total / (start.asked ?? PAGE_SIZE)) > ids.length) return undefined;
	const wanted = new Set(ids);
	const found = new Map<string, Document>();
	let size = 0;
	let isWhole = true;
	const onShort = (): void => void (isWhole = false);
	for await (const page of documentPages(pages, { start, onShort })) {
		size += page.length;
		for (const document of page) if (wanted.has(document.id)) found.set(document.id, document);
	}
	return isWhole ? { found, size } : undefined;
}

/** The answer to a request for one id. */
type IdAnswer = {
	readonly found: Document | undefined;
	/** whether the service filtered by the id; only then a document that was not found does not exist */
	readonly isHeeded: boolean;
};

/** Asks for one document. @throws RestError of code `OTHER_CASE` where the service answers with its id in another letter case */
export async function askForId(dataset: DatasetAccess, id: string): Promise<IdAnswer> {
	const page = await askFor(dataset, { id });
	if (page === undefined) return { found: undefined, isHeeded: false };
	const found = page.items.find((document) => document.id === id);
	const alike = page.items.find((document) => differsByCase(document.id, id));
	if (found === undefined && alike !== undefined) throw otherCase(dataset.datasetId, id, alike.id);
	return { found, isHeeded: page.items.every((document) => document.id === id) };
}

/**
 * The first page of the documents of one id or one name. There are more pages only where the service ignores the filter.
 *
 * RAGFlow answers that it has no such document, and not with an empty list. Here both are an empty page. Undefined where the
 * answer is a bare 404, which may be about anything: only the whole list is certain then.
 */
export async function askFor(
	{ api, request, datasetId }: DatasetAccess,
	filter: { readonly id: string } | { readonly name: string },
): Promise<Page<Document> | undefined> {
	try {
		return await request(() => api.listDocuments(datasetId, { page: 1, pageSize: SMALL_PAGE, ...filter }));
	} catch (error) {
		const answer = restErrorOf(error);
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

export function otherCase(datasetId: string, asked: string, found: string): RestError {
	const text = `document ${asked} is not in dataset ${datasetId} in this letter case; did you mean ${found}? Nothing was sent`;
	return new RestError(text, { kind: "rejected", code: OTHER_CASE });
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
