import type { Api, Document, ListedDocument } from "../../rest/types.ts";
import type { Clock, Request } from "../types.ts";
import type { Lookup } from "./find-document.ts";
import { findListed, ListedDatasets, type Store } from "./listed-datasets.ts";
import type { RowCounts } from "./row-counts.ts";

/** Finds the document that a row removes, or undefined where the dataset does not list it. */
export type FindRemovable = (
	api: Api,
	request: Request,
	datasetId: string,
	id: string,
) => Promise<ListedDocument | undefined>;

/** The documents that rows remove. */
export type Removable = {
	readonly find: FindRemovable;
	/** whether several rows of a dataset are removed, as far as that is known: then it is worth a request to ask for a faster way */
	hasSeveral(datasetId: string): Promise<boolean> | boolean;
	/** the number of documents in the list of a dataset; undefined where it was not listed as a whole */
	sizeOf(datasetId: string): number | undefined;
};

/** Each document is asked for when its row comes. */
export function askedForAlone(lookup: Pick<Lookup, "byId">): Removable {
	return { find: (...asked) => lookup.byId(...asked), hasSeveral: () => true, sizeOf: () => undefined };
}

/** Rows of a dataset from which it may be listed: one look-up is as cheap as the first page of a list. */
const FEWEST_ROWS = 2;

/** Documents of a dataset that is listed at most: each takes some 200 bytes of memory until the run ends. */
const MOST_DOCUMENTS = 200_000;

/**
 * Finds the documents that rows remove, in one list of the dataset where that costs fewer requests than asking for each.
 *
 * The list may be as old as the run. That is safe for a removal: an id is never given to another document, and a document
 * that is gone meanwhile can't be removed twice.
 */
export class RemovableDocuments implements Removable {
	readonly #lookup: Pick<Lookup, "byId" | "isIndexed">;
	readonly #lists: ListedDatasets<KeptForRemoval>;
	readonly #rows: RowCounts;
	/** the first row of each dataset */
	readonly #first = new Map<string, Promise<unknown>>();

	constructor(lookup: Pick<Lookup, "byId" | "isIndexed">, rows: RowCounts, clock: Clock) {
		this.#lookup = lookup;
		this.#rows = rows;
		this.#lists = new ListedDatasets({
			rows,
			fewestRows: FEWEST_ROWS,
			mostDocuments: MOST_DOCUMENTS,
			keepsEmptyList: false,
			create: async (api) => new KeptForRemoval(api),
			clock,
		});
	}

	/**
	 * @throws RestError of code `OTHER_CASE` where the dataset lists that id in another letter case
	 */
	readonly find: FindRemovable = async (api, request, datasetId, id) => {
		const first = this.#first.get(datasetId);
		if (first === undefined) {
			const asked = this.#begin(api, request, datasetId, id);
			this.#first.set(datasetId, asked);
			asked.catch(() => this.#first.delete(datasetId));
			return asked;
		}
		await first;
		if (this.#lookup.isIndexed(datasetId)) return this.#lookup.byId(api, request, datasetId, id);
		return findListed(this.#lists, api, request, { datasetId, id });
	};

	hasSeveral(datasetId: string): Promise<boolean> | boolean {
		return this.#rows.reaches(datasetId, FEWEST_ROWS);
	}

	sizeOf(datasetId: string): number | undefined {
		const listed = this.#lists.whole(datasetId);
		return listed?.short === undefined ? listed?.documents.size : undefined;
	}

	/**
	 * The first row asks by its id. Where the service ignores that, the look-up reads the list for all rows. Otherwise the list
	 * is read now: no document is removed while it is read, so its pages do not move.
	 */
	async #begin(api: Api, request: Request, datasetId: string, id: string): Promise<ListedDocument | undefined> {
		const found = await this.#lookup.byId(api, request, datasetId, id);
		if (!this.#lookup.isIndexed(datasetId)) await this.#lists.list(api, request, datasetId);
		return found;
	}
}

/** The documents of a dataset, in memory, without what they have. */
class KeptForRemoval implements Store {
	readonly #api: Pick<Api, "forRemoval">;
	readonly #byId = new Map<string, ListedDocument>();

	constructor(api: Pick<Api, "forRemoval">) {
		this.#api = api;
	}

	async add(document: Document): Promise<void> {
		this.#byId.set(document.id, this.#api.forRemoval(document));
	}

	get(id: string): ListedDocument | undefined {
		return this.#byId.get(id);
	}

	get size(): number {
		return this.#byId.size;
	}

	async end(): Promise<void> {}

	async close(): Promise<void> {
		this.#byId.clear();
	}
}
