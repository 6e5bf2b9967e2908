import type { Api, Document, ListedDocument } from "../../rest/types.ts";
import type { Clock, Request } from "../types.ts";
import { findListed, ListedDatasets, type RowsOf, type Store } from "./listed-datasets.ts";

/** Rows of a dataset from which it may be listed: one look-up is as cheap as the first page of a list. */
const FEWEST_ROWS = 2;

/** Documents of a dataset that is listed at most: each takes some 200 bytes of memory until the run ends. */
const MOST_DOCUMENTS = 200_000;

/** @param isAsked whether the document is asked for when its row comes, unless the service ignores ids */
type Ask = { readonly api: Api; readonly request: Request; readonly isAsked?: boolean };

/**
 * The documents that rows remove, from one list of the dataset where that costs fewer requests than asking for each.
 *
 * The list may be as old as the run. That is safe for a removal: an id is never given to another document, and a document
 * that is gone meanwhile can't be removed twice.
 */
export class RemovableDocuments extends ListedDatasets<KeptForRemoval> {
	readonly #rowsOf: RowsOf;
	/** the list of each dataset, after its first row */
	readonly #first = new Map<string, Promise<unknown>>();

	constructor(rowsOf: RowsOf, clock: Clock) {
		super({
			rowsOf,
			fewestRows: FEWEST_ROWS,
			mostDocuments: MOST_DOCUMENTS,
			keepsEmptyList: false,
			create: async (api) => new KeptForRemoval(api),
			clock,
		});
		this.#rowsOf = rowsOf;
	}

	/**
	 * The document of a row; undefined where the dataset does not list it.
	 *
	 * @throws RestError of code `OTHER_CASE` where the dataset lists that id in another letter case
	 */
	async find(ask: Ask, datasetId: string, id: string): Promise<ListedDocument | undefined> {
		const first = this.#first.get(datasetId);
		if (ask.isAsked === true || first !== undefined) {
			if (ask.isAsked !== true) await first;
			return findListed(this, ask, datasetId, id);
		}
		// The first row shows whether the service heeds ids. Then the dataset is listed, while no document is removed: its
		// pages do not move.
		const asked = findListed(this, { ...ask, isAsked: true }, datasetId, id);
		const listed = asked.then(() => this.list(ask.api, ask.request, datasetId));
		this.#first.set(datasetId, listed);
		listed.catch(() => this.#first.delete(datasetId));
		await listed;
		return asked;
	}

	/** Whether several rows of a dataset are removed: then it is worth a request to ask for a faster way. */
	hasSeveral(datasetId: string): boolean {
		return this.#rowsOf(datasetId) >= FEWEST_ROWS;
	}

	/** Documents in the list of a dataset; undefined where it was not listed as a whole. */
	sizeOf(datasetId: string): number | undefined {
		const listed = this.whole(datasetId);
		return listed?.short === undefined ? listed?.documents.size : undefined;
	}
}

/** The documents of a dataset, in memory, without what they have. */
class KeptForRemoval extends Map<string, ListedDocument> implements Store {
	readonly #api: Pick<Api, "forRemoval">;

	constructor(api: Pick<Api, "forRemoval">) {
		super();
		this.#api = api;
	}

	add(document: Document): undefined {
		this.set(document.id, this.#api.forRemoval(document));
	}

	async end(): Promise<void> {}

	async close(): Promise<void> {
		this.clear();
	}
}
