import type { Api, Dataset, Document, Page } from "../rest/types.ts";

/** Entries asked for in one page: releases of the server differ, and 100 is the most that all of them take. */
export const PAGE_SIZE = 100;

/** Runs one request: paced, and tried again where that may help. */
export type Request = <Answer>(request: () => Promise<Answer>) => Promise<Answer>;

/**
 * All entries of a list, each once.
 *
 * The end is an empty page or a page that brings nothing new: `total` can be wrong, pages can be short,
 * and a service that ignores `page` would otherwise be read for ever.
 */
export async function* allPages<Item extends { readonly id: string }>(
	fetchPage: (page: number) => Promise<Page<Item>>,
): AsyncGenerator<Item> {
	const seen = new Set<string>();
	for (let page = 1; ; page += 1) {
		const { items } = await fetchPage(page);
		const before = seen.size;
		for (const item of items) {
			if (seen.has(item.id)) continue;
			seen.add(item.id);
			yield item;
		}
		if (seen.size === before) return;
	}
}

export function allDatasets(api: Api, request: Request): AsyncGenerator<Dataset> {
	return allPages((page) => request(() => api.listDatasets({ page, pageSize: PAGE_SIZE })));
}

export type DocumentFilter = { readonly name?: string; readonly condition?: string };

export function allDocuments(
	api: Api,
	request: Request,
	datasetId: string,
	filter: DocumentFilter = {},
): AsyncGenerator<Document> {
	return allPages((page) => request(() => api.listDocuments(datasetId, { page, pageSize: PAGE_SIZE, ...filter })));
}

/** One document by its id, or undefined where the dataset does not list it. */
export async function findDocument(
	api: Api,
	request: Request,
	datasetId: string,
	id: string,
): Promise<Document | undefined> {
	const page = await request(() => api.listDocuments(datasetId, { page: 1, pageSize: PAGE_SIZE, id }));
	const found = page.items.find((document) => document.id === id);
	if (found !== undefined || page.items.length === 0) return found;
	// It answered with other documents, so it ignores `id`: only the whole list can tell.
	for await (const document of allDocuments(api, request, datasetId)) if (document.id === id) return document;
	return undefined;
}
