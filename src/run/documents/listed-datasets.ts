import type { ListOrder } from "../../rest/flavours.ts";
import type { Api, Document } from "../../rest/types.ts";
import { retryingPages } from "../retry/request.ts";
import type { Clock, Request } from "../types.ts";
import { askForId, foundIn } from "./find-document.ts";
import { allDocuments, firstDocuments, incompleteList, type ShortList } from "./list.ts";
import type { FirstPage } from "./pages.ts";

/** Rows by their dataset. */
export type RowCounts = Pick<ReadonlyMap<string, number>, "get">;

/** The documents of a dataset on disk. First all are added, then `end`, then they are read. */
export type Store = {
	add(document: Document): Promise<void>;
	end(): Promise<void>;
	close(): Promise<void>;
};

/** A dataset that was listed as a whole. */
export type ListedDataset<Documents> = {
	readonly documents: Documents;
	/** present if the list showed fewer documents than its total */
	readonly short: ShortList | undefined;
};

export type ListedDatasetsOptions<Documents extends Store> = {
	/** rows of each dataset; undefined if each document must be read when its row comes */
	readonly rows: (() => Promise<RowCounts>) | undefined;
	/** whether each dataset is listed, whatever it costs */
	readonly listsAll?: boolean;
	/** rows of a dataset from which a list may be cheaper */
	readonly fewestRows: number;
	/** documents of a dataset that is listed at most */
	readonly mostDocuments?: number;
	/** whether an empty list is kept: then no document of that dataset is requested */
	readonly keepsEmptyList: boolean;
	readonly create: (api: Api) => Promise<Documents>;
	/** the order to list in, where it is not the flavour's first */
	readonly order?: (api: Api) => ListOrder | undefined;
	readonly clock: Clock;
	/** called before a dataset is listed, with the number of documents that the service counts */
	readonly onListing?: ((datasetId: string, documents: number) => void) | undefined;
};

/** Lists whole datasets if that costs fewer requests than one for the document of each row. */
export class ListedDatasets<Documents extends Store> {
	readonly #options: ListedDatasetsOptions<Documents>;
	readonly #lists = new Map<string, Promise<ListedDataset<Documents> | undefined>>();
	readonly #stores: Documents[] = [];

	constructor(options: ListedDatasetsOptions<Documents>) {
		this.#options = options;
	}

	/** The list of a dataset, or undefined if each document must be requested. Decided once, and again after a failure. */
	list(api: Api, request: Request, datasetId: string): Promise<ListedDataset<Documents> | undefined> {
		return this.#once(datasetId, () => this.#choose(api, request, datasetId));
	}

	/** The list of a dataset whose service ignored a request for one document. */
	async listAfterAll(api: Api, request: Request, datasetId: string): Promise<ListedDataset<Documents> | undefined> {
		const chosen = this.#lists.get(datasetId);
		const listed = await chosen;
		// Another row has listed it meanwhile.
		if (listed !== undefined) return listed;
		if (this.#lists.get(datasetId) === chosen) this.#lists.delete(datasetId);
		return this.#once(datasetId, () => this.#read(api, request, datasetId));
	}

	/** Forgets the lists: they are read again when they are needed. */
	forget(): void {
		this.#lists.clear();
	}

	/** Removes the lists from the disk. */
	async close(): Promise<void> {
		await Promise.all(this.#stores.splice(0).map((documents) => documents.close()));
	}

	#once(
		datasetId: string,
		decide: () => Promise<ListedDataset<Documents> | undefined>,
	): Promise<ListedDataset<Documents> | undefined> {
		const known = this.#lists.get(datasetId);
		if (known !== undefined) return known;
		const list = decide();
		this.#lists.set(datasetId, list);
		// The row that asked fails or is retried; the next row decides again.
		list.catch(() => this.#lists.delete(datasetId));
		return list;
	}

	async #choose(api: Api, request: Request, datasetId: string): Promise<ListedDataset<Documents> | undefined> {
		const { rows: countRows, fewestRows, mostDocuments, keepsEmptyList, order, clock, listsAll } = this.#options;
		if (listsAll === true) return this.#read(api, request, datasetId);
		if (countRows === undefined) return undefined;
		const rows = (await countRows()).get(datasetId) ?? 0;
		if (rows < fewestRows) return undefined;
		const start = await firstDocuments(api, retryingPages(request, clock), datasetId, order?.(api));
		const size = { asked: start.asked, total: start.first.total, came: start.first.items.length };
		const isEmpty = size.total === 0 && size.came === 0;
		if (!(isEmpty && keepsEmptyList) && !isListingCheaper(rows, size)) return undefined;
		if (mostDocuments !== undefined && (size.total ?? 0) > mostDocuments) return undefined;
		this.#options.onListing?.(datasetId, size.total ?? size.came);
		return this.#read(api, request, datasetId, start);
	}

	async #read(
		api: Api,
		request: Request,
		datasetId: string,
		start?: FirstPage<Document>,
	): Promise<ListedDataset<Documents>> {
		const { create, order, clock } = this.#options;
		const documents = await create(api);
		this.#stores.push(documents);
		let short: ShortList | undefined;
		const list = { start, order: order?.(api), onShort: (found: ShortList) => void (short = found) };
		for await (const document of allDocuments(api, retryingPages(request, clock), datasetId, list)) {
			await documents.add(document);
		}
		await documents.end();
		return { documents, short };
	}
}

/** The size of a list, by its first page. */
export type ListSize = {
	/** documents that the service counts; undefined where it gives no total */
	readonly total: number | undefined;
	/** entries asked for in a page; undefined where the service chose */
	readonly asked: number | undefined;
	/** entries that came */
	readonly came: number;
};

/**
 * Whether the rest of a list costs fewer requests than one look-up for each row. Pure.
 *
 * A list ends with a page without new entries, so it costs one request more than its documents fill. For the same number of
 * requests a look-up is better, as its answer is newer.
 */
export function isListingCheaper(rows: number, { total, asked, came }: ListSize): boolean {
	// The length is not known, and the list may have no end.
	if (total === undefined || came === 0) return false;
	// A page that is shorter than was asked for, with more to come, shows the size that the service really gives.
	const size = asked === undefined || came < total ? came : asked;
	const left = Math.ceil(Math.max(total, came) / size);
	return left < rows;
}

/** The number of rows of each dataset. */
export async function rowsByDataset(
	rows: AsyncIterable<{ readonly datasetId: string }>,
): Promise<ReadonlyMap<string, number>> {
	const counts = new Map<string, number>();
	for await (const { datasetId } of rows) counts.set(datasetId, (counts.get(datasetId) ?? 0) + 1);
	return counts;
}

/**
 * A document from the list of its dataset if that is kept, else by its id; undefined if the dataset does not list it.
 *
 * @throws RestError of code `OTHER_CASE` where it lists that id in another letter case
 */
export async function findListed<Kept>(
	lists: ListedDatasets<Store & { get(id: string): Promise<Kept | undefined> | Kept | undefined }>,
	api: Api,
	request: Request,
	{ datasetId, id }: { readonly datasetId: string; readonly id: string },
): Promise<Kept | Document | undefined> {
	const listed = await lists.list(api, request, datasetId);
	const kept = listed === undefined ? undefined : await foundIn(listed.documents, datasetId, id);
	// A document that a whole list does not show is not there. A short list proves nothing.
	if (kept !== undefined || (listed !== undefined && listed.short === undefined)) return kept;
	const { found, isHeeded } = await askForId(api, request, datasetId, id);
	if (isHeeded) return found;
	if (listed?.short !== undefined) throw incompleteList(datasetId, listed.short);
	const whole = await lists.listAfterAll(api, request, datasetId);
	const inWhole = whole === undefined ? undefined : await foundIn(whole.documents, datasetId, id);
	if (inWhole === undefined && whole?.short !== undefined) throw incompleteList(datasetId, whole.short);
	return inWhole;
}
