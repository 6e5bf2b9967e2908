import type { Api, Dataset, Document, Page } from "../../rest/types.ts";
import { RestError } from "../../rest/errors.ts";
import { allDocuments, type ShortList } from "./list.ts";
import { askFor, askForName } from "./ask-for.ts";
import { refuseOtherCase } from "./other-case.ts";
import { PAGE_SIZE } from "./page-size.ts";
import { differsByCase } from "../../text/names.ts";
import { walk } from "./walk.ts";
import type { Request } from "../types.ts";


/** All entries of a list, each once, to an empty page or one that brings nothing new. */
export async function* allPages<Item extends { readonly id: string }>(
	fetchPage: (page: number) => Promise<Page<Item>>,
): AsyncGenerator<Item> {
	const { refused, endless, count, total } = yield* walk(fetchPage);
	if (refused !== undefined) throw refused;
	if (!endless) return;
	const text = `the list of the service claims ${total ?? "no number of"} entries and showed ${count}: it may never end`;
	throw new RestError(text, { kind: "rejected", code: "INCOMPLETE_LIST" });
}

export function allDatasets(api: Api, request: Request): AsyncGenerator<Dataset> {
	return allPages((page) => request(() => api.listDatasets({ page, pageSize: PAGE_SIZE })));
}

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
