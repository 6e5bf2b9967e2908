import { RestError } from "../../rest/errors.ts";
import type { Api, Document, DocumentQuery, Page } from "../../rest/types.ts";
import type { ListOrder } from "../../rest/flavours.ts";
import type { Request } from "../types.ts";
import { type FirstPage, firstPage, PAGE_SIZE, SMALL_PAGE, answerOf, isWhole, walk } from "./pages.ts";
import { SeenIds } from "./seen-ids.ts";

/** What the service is asked to filter by. It may show more than that: who wants no more filters again. */
export type DocumentFilter = {
	readonly name?: string | undefined;
	/** the text of a `metadata_condition`; sent only where the flavour knows them, and where it can hide no document */
	readonly condition?: string | undefined;
	/** the order to begin with, where it is not the flavour's first */
	readonly order?: ListOrder | undefined;
	/** the first page of the whole list in that order, where it was read already */
	readonly start?: FirstPage<Document> | undefined;
};

/** The first page of all documents of a dataset, as `allDocuments` begins with it. */
export function firstDocuments(
	api: Api,
	request: Request,
	datasetId: string,
	order = api.dialect.flavour.list.orders[0],
): Promise<FirstPage<Document>> {
	return firstPage((pageSize) => request(() => api.listDocuments(datasetId, { page: 1, pageSize, order })));
}

/**
 * A list that showed fewer documents than it claims to have, after every way to read it was tried; or so many more that it
 * was left.
 */
export type ShortList = { readonly shown: number; readonly total: number; readonly passes: number };

/**
 * The largest dataset whose filtering is left to the service. Releases that keep metadata apart look at 10,000 entries of
 * it and no more, and entries of removed documents may be among them: a larger dataset would lose matches.
 */
const LARGEST_FILTERED = 5_000;

/** By how much pages are made smaller, to no common measure, so that they end elsewhere. */
const CUT_ELSEWHERE: readonly number[] = [3, 11];

/** Reads one page of one query. */
type Read = (page: number, query: Omit<DocumentQuery, "page">) => Promise<Page<Document>>;

/**
 * All documents of a dataset, each once.
 *
 * Pages can be short, repeat, or be cut silently to a smaller size, and equal times can hide a document between two of
 * them. So where fewer were shown than the list claims, it is walked again in the flavour's next order, in pages of the
 * size that really came. `onShort` hears of a list that stays short; all that it showed was given by then.
 */
export async function* allDocuments(
	api: Api,
	request: Request,
	datasetId: string,
	{ name, condition, order: wanted, start: given }: DocumentFilter = {},
	onShort?: (list: ShortList) => void,
): AsyncGenerator<Document> {
	const read: Read = (page, query) => request(() => api.listDocuments(datasetId, { ...query, page }));
	const { orders: known, condition: knowsConditions } = api.dialect.flavour.list;
	const orders = wanted === undefined ? known : [wanted, ...known];
	const [order] = orders;
	const ids = new SeenIds();
	if (name !== undefined && (yield* namedDocuments(read, order, name, ids))) return;

	const start = given ?? (await firstDocuments(api, request, datasetId, order));
	if (condition !== undefined && knowsConditions && isWorthFiltering(start.first)) {
		if (yield* filteredDocuments(read, order, start, condition, ids)) return;
	}
	const short = yield* inEveryOrder(read, orders, start, ids);
	if (short !== undefined) onShort?.(short);
}

/** The documents of one name. Resolves with whether that is all of them. */
async function* namedDocuments(
	read: Read,
	order: ListOrder | undefined,
	name: string,
	ids: SeenIds,
): AsyncGenerator<Document, boolean> {
	let isHeeded = true;
	const readPage = async (number: number): Promise<Page<Document>> => {
		const page = await read(number, { pageSize: PAGE_SIZE, order, name });
		isHeeded &&= page.items.every((document) => document.name === name);
		return page;
	};
	try {
		const walked = yield* walk(readPage, { asked: PAGE_SIZE, ids });
		// Where the name is heeded, the total may still be that of the whole dataset, and tells nothing.
		return isHeeded ? walked.refused === undefined && !walked.endless : isWhole(walked);
	} catch (error) {
		if (answerOf(error)?.code !== "NOT_FOUND") throw error;
		// RAGFlow's answer where no document bears that name. It is the dataset's absence where this fails as well.
		await read(1, { pageSize: SMALL_PAGE, order });
		return true;
	}
}

/** The documents of the first page and those that the service's own filter finds. Resolves with whether that is enough. */
async function* filteredDocuments(
	read: Read,
	order: ListOrder | undefined,
	{ asked, first }: FirstPage<Document>,
	condition: string,
	ids: SeenIds,
): AsyncGenerator<Document, boolean> {
	for (const document of first.items) if (ids.add(document.id) === "new") yield document;
	return isWhole(yield* walk((page) => read(page, { pageSize: asked, order, condition }), { asked, ids }));
}

function isWorthFiltering({ items, total }: Page<Document>): boolean {
	return total !== undefined && items.length < total && total <= LARGEST_FILTERED;
}

/** Every document that was not shown before. Resolves with what is missing, by the list's own account. */
async function* inEveryOrder(
	read: Read,
	orders: readonly (ListOrder | undefined)[],
	start: FirstPage<Document>,
	ids: SeenIds,
): AsyncGenerator<Document, ShortList | undefined> {
	let { asked } = start;
	let first: Page<Document> | undefined = start.first;
	let total: number | undefined;
	let cut: Error | undefined;
	let passes = 0;
	// A document that falls between two pages in every order is on one of them where pages are cut elsewhere.
	const ways = [
		...orders.map((order) => ({ order, less: 0 })),
		...CUT_ELSEWHERE.map((less) => ({ order: orders[0], less })),
	];
	for (const { order, less } of ways) {
		const pageSize = asked === undefined || asked <= less ? asked : asked - less;
		const walked = yield* walk((page) => read(page, { pageSize, order }), { asked: pageSize, first, ids });
		total = walked.total ?? total;
		if (walked.endless) return { shown: ids.size, total: total ?? 0, passes: passes + 1 };
		if (isWhole(walked) && ids.size >= (total ?? 0)) return undefined;
		if (walked.largest > 0) passes += 1;
		// The first order is the service's own or its plainest: another one that is refused says nothing about the list.
		if (walked.refused === undefined || first !== undefined) cut = walked.refused;
		first = undefined;
		// A size that is cut silently, while offsets are counted with what was asked for, passes documents over.
		if (asked !== undefined && walked.largest > 0) asked = Math.min(asked, walked.largest);
	}
	if (total !== undefined && ids.size >= total) return undefined;
	if (cut !== undefined) throw cut;
	return total === undefined ? undefined : { shown: ids.size, total, passes };
}

/** A list on which a decision rests: that something is not in it counts only where it is complete. */
export async function* wholeList(api: Api, request: Request, datasetId: string): AsyncGenerator<Document> {
	let short: ShortList | undefined;
	yield* allDocuments(api, request, datasetId, {}, (list) => (short = list));
	if (short !== undefined) throw incompleteList(datasetId, short);
}

export function incompleteList(datasetId: string, { shown, total }: ShortList): RestError {
	const text = `dataset ${datasetId} has ${total} documents by the service's account, and its list shows ${shown}: whether this one is there can't be told`;
	return new RestError(text, { kind: "rejected", code: "INCOMPLETE_LIST" });
}
