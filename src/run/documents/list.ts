import { RestError } from "../../rest/errors.ts";
import type { Api, Document, Page } from "../../rest/types.ts";
import type { ListOrder } from "../../rest/flavours.ts";
import type { Request } from "../types.ts";
import { entriesOf, type FirstPage, firstPage, isWhole, walk } from "./pages.ts";
import { SeenIds } from "./id-table.ts";

/** Entries by which pages are made smaller, so that they end at other documents. The numbers have no common divisor. */
const SMALLER_BY: readonly number[] = [3, 11];

/** A list with fewer documents than its total, after every way to read it was tried; or with so many more that it was left. */
export type ShortList = { readonly shown: number; readonly total: number; readonly passes: number };

/** A dataset of a service in one dialect, and what sends the requests about it. */
export type DatasetAccess = { readonly api: Api; readonly request: Request; readonly datasetId: string };

/** How documents are listed. */
type ListOptions = {
	/** the order to begin with, where it is not the flavour's first */
	readonly order?: ListOrder | undefined;
	/** the first page of the whole list in that order, where it was read already */
	readonly start?: FirstPage<Document> | undefined;
	/** the ids that it has shown, where they are kept; none yet */
	readonly ids?: SeenIds | undefined;
	/** called after the last document if the list stays short */
	readonly onShort?: ((list: ShortList) => void) | undefined;
	/** called before the first document with the number of all, where the service gives it */
	readonly onTotal?: ((total: number) => void) | undefined;
};

/** All documents of a dataset, each once. */
export function allDocuments(dataset: DatasetAccess, options?: ListOptions): AsyncGenerator<Document> {
	return entriesOf(documentPages(dataset, options));
}

/**
 * All documents of a dataset, each once, by the page that showed them.
 *
 * Pages can be short, repeat, or be cut silently to a smaller size, and equal times can hide a document between two of
 * them. So where the list showed fewer documents than its total, it is walked again in the flavour's next order, in pages of
 * the size that really came.
 */
export async function* documentPages(
	dataset: DatasetAccess,
	{ order, start: given, ids = new SeenIds(), onShort, onTotal }: ListOptions = {},
): AsyncGenerator<readonly Document[]> {
	const { api, request, datasetId } = dataset;
	const { orders: known, countsAll } = api.dialect.flavour.list;
	const orders = order === undefined ? known : [order, ...known];
	let { asked, first }: Partial<FirstPage<Document>> = given ?? (await firstDocuments(dataset, orders[0]));
	let total = first?.total;
	if (total !== undefined) onTotal?.(total);
	let cut: Error | undefined;
	let passes = 0;
	// A document that falls between two pages in every order is on a page where the pages end at other documents.
	const ways = [...orders.map((by) => ({ by, less: 0 })), ...SMALLER_BY.map((less) => ({ by: orders[0], less }))];
	for (const { by, less } of ways) {
		const pageSize = asked === undefined || asked <= less ? asked : asked - less;
		const read = (page: number): Promise<Page<Document>> =>
			request(() => api.listDocuments(datasetId, { page, pageSize, order: by }));
		const walked = yield* walk(read, { asked: pageSize, first, ids, countsAll });
		total = walked.total ?? total;
		if (walked.endless) return onShort?.({ shown: ids.size, total: total ?? 0, passes: passes + 1 });
		if (isWhole(walked) && ids.size >= (total ?? 0)) return;
		if (walked.largest > 0) passes += 1;
		// The first order is the service's own or its plainest. The refusal of another one means nothing for the list.
		if (walked.refused === undefined || first !== undefined) cut = walked.refused;
		first = undefined;
		// Where a size is cut silently, and offsets are computed from the size that was asked for, documents are skipped.
		if (asked !== undefined && walked.largest > 0) asked = Math.min(asked, walked.largest);
	}
	if (total !== undefined && ids.size >= total) return;
	if (cut !== undefined) throw cut;
	if (total !== undefined) onShort?.({ shown: ids.size, total, passes });
}

/** The first page of all documents of a dataset, as `allDocuments` begins with it. */
export function firstDocuments(
	{ api, request, datasetId }: DatasetAccess,
	order = api.dialect.flavour.list.orders[0],
): Promise<FirstPage<Document>> {
	return firstPage((pageSize) => request(() => api.listDocuments(datasetId, { page: 1, pageSize, order })));
}

/** Every document of a dataset, for a decision that needs the whole list. @throws RestError where the list stays short */
export async function* wholeList(dataset: DatasetAccess): AsyncGenerator<Document> {
	let short: ShortList | undefined;
	yield* allDocuments(dataset, { onShort: (list) => (short = list) });
	if (short !== undefined) throw incompleteList(dataset.datasetId, short);
}

/** @param unknown what can't be known then */
export function incompleteList(
	datasetId: string,
	{ shown, total }: ShortList,
	unknown = "whether this document exists",
): RestError {
	const text = `the service counts ${total} documents in dataset ${datasetId}, and its list shows ${shown}, so it is not known ${unknown}`;
	return new RestError(text, { kind: "rejected", code: "INCOMPLETE_LIST" });
}
