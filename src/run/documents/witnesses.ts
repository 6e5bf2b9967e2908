import type { Api, Document, DocumentQuery, Page } from "../../rest/types.ts";
import type { Request } from "../types.ts";
import { restErrorOf } from "../retry/request.ts";
import { PAGE_SIZE, SMALL_PAGE } from "./pages.ts";

/** Documents that have shown metadata and are remembered: the latest of them may have been cleared since. */
const REMEMBERED = 3;

/** Other datasets in which a document with metadata is looked for. */
const OTHER_DATASETS = 3;

/** A page of documents of which none shows metadata. */
export type DoubtedPage = {
	/** the service in the dialect of the request */
	readonly api: Api;
	readonly datasetId: string;
	readonly documents: readonly Document[];
};

type Witness = { readonly datasetId: string; readonly id: string };

/** Whether a page lists documents, and none of them shows metadata. A list without the member hides it on purpose. */
export function isDoubtful({ items }: Page<Document>): boolean {
	return items.some(({ metadata }) => metadata !== undefined) && !showsSome(items);
}

function showsSome(documents: readonly Document[]): boolean {
	return documents.some(({ metadata }) => metadata !== undefined && metadata.size > 0);
}

/** Documents that have shown metadata. Where they show it now, the searches of the service work now. */
export class Witnesses {
	/** the latest first */
	#known: readonly Witness[] = [];
	/** the look that is going on */
	#running: Promise<boolean> | undefined;
	/** the look that begins after it */
	#next: Promise<boolean> | undefined;

	/** Whether any document has shown metadata. */
	get areKnown(): boolean {
		return this.#known.length > 0;
	}

	/** Remembers a document of the page that shows metadata. Resolves with whether there is one. */
	add(datasetId: string, { items }: Page<Document>): boolean {
		const found = items.find(({ metadata }) => metadata !== undefined && metadata.size > 0);
		if (found === undefined) return false;
		const others = this.#known.filter(({ id }) => id !== found.id);
		this.#known = [{ datasetId, id: found.id }, ...others].slice(0, REMEMBERED);
		return true;
	}

	/** A document of that dataset that has shown metadata, and is none of these. */
	of(datasetId: string, others: ReadonlySet<string>): string | undefined {
		return this.#known.find((known) => known.datasetId === datasetId && !others.has(known.id))?.id;
	}

	/** Whether some document shows metadata now. Looks begun after the call are shared. */
	show(page: DoubtedPage, request: Request): Promise<boolean> {
		return (this.#next ??= (this.#running ?? Promise.resolve(false))
			.catch(() => false)
			.then(() => {
				this.#next = undefined;
				return (this.#running = this.#look(page, request));
			}));
	}

	async #look({ api, datasetId }: DoubtedPage, request: Request): Promise<boolean> {
		const [order] = api.dialect.flavour.list.orders;
		const newest = order && { ...order, descending: true };
		const shows = async (dataset: string, query: Omit<DocumentQuery, "page">): Promise<boolean> => {
			try {
				return showsSome((await request(() => api.listDocuments(dataset, { page: 1, ...query }))).items);
			} catch (error) {
				// What was removed, or may not be listed any more, shows nothing.
				if (restErrorOf(error)?.isRefusal === true) return false;
				throw error;
			}
		};
		for (const known of this.#known)
			if (await shows(known.datasetId, { pageSize: SMALL_PAGE, id: known.id })) return true;
		for (const by of [order, newest]) if (await shows(datasetId, { pageSize: PAGE_SIZE, order: by })) return true;
		const datasets = await request(() => api.listDatasets({ page: 1, pageSize: PAGE_SIZE }));
		const others = datasets.items.filter(({ id, documentCount }) => id !== datasetId && documentCount !== 0);
		for (const { id } of others.slice(0, OTHER_DATASETS))
			if (await shows(id, { pageSize: PAGE_SIZE, order })) return true;
		return false;
	}
}
