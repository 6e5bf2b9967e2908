import { KeyTypes } from "../../json/value-types.ts";
import type { ListOrder } from "../../rest/flavours.ts";
import type { Api, Document } from "../../rest/types.ts";
import { retryingPages } from "../retry/request.ts";
import type { Clock } from "../types.ts";
import { askForId, otherCase } from "./find-document.ts";
import { type DatasetAccess, documentPages, firstDocuments, incompleteList, type ShortList } from "./list.ts";
import type { FirstPage } from "./pages.ts";
import { FRESH_MS } from "./read-ahead.ts";
import type { Named, StoredDocuments } from "./stored-documents.ts";

/** A dataset that was listed as a whole. */
type ListedDataset = {
	readonly documents: StoredDocuments;
	/** present if the list showed fewer documents than its total */
	readonly short: ShortList | undefined;
	/** when its reading began, on the clock */
	readonly at: number;
	/** milliseconds that its reading took */
	readonly took: number;
};

/** Whether a dataset is listed. */
type Choice = {
	/** undefined where each document must be requested */
	readonly list: Promise<ListedDataset | undefined>;
	/** the list, once it was read */
	whole?: ListedDataset | undefined;
};

/** A renewed list is used for so many times as long as its reading took: reading it again costs a run a tenth of its time. */
const TIMES_ITS_READING = 10;

/** Rows of a dataset that a command has. */
export type RowsOf = (datasetId: string) => number;

type ListedDatasetsOptions = {
	readonly rowsOf: RowsOf;
	/** whether each dataset is listed, whatever it costs */
	readonly listsAll?: boolean;
	/** rows of a dataset from which a list may be cheaper */
	readonly fewestRows: number;
	/** whether an old list is read again. Without it a list may be as old as the run */
	readonly isRenewed?: boolean;
	/** whether an empty list is kept: then no document of that dataset is requested */
	readonly keepsEmptyList: boolean;
	readonly create: (api: Api) => Promise<StoredDocuments>;
	/** the order to list in, where it is not the flavour's first */
	readonly order?: (api: Api) => ListOrder | undefined;
	/** marks a document whose metadata are doubted */
	readonly marked?: (document: Document) => Document;
	readonly clock: Clock;
	/** called before a dataset is listed, with the number of documents that the service counts */
	readonly onListing?: ((datasetId: string, documents: number) => void) | undefined;
	/** called after a dataset was listed, before any document of the list is given */
	readonly onListed?: ((keys: KeyTypes) => void) | undefined;
};

/** Lists whole datasets if that costs fewer requests than one for the document of each row. */
export class ListedDatasets {
	readonly #options: ListedDatasetsOptions;
	readonly #lists = new Map<string, Choice>();
	/** datasets whose service ignored a request for one document */
	readonly #ignoring = new Set<string>();
	readonly #stores = new Set<StoredDocuments>();
	/** of forgotten lists */
	readonly #forgotten: StoredDocuments[] = [];

	constructor(options: ListedDatasetsOptions) {
		this.#options = options;
	}

	/** The list of a dataset, or undefined if each document must be requested. Decided once, and again after a failure. */
	async list(dataset: DatasetAccess): Promise<ListedDataset | undefined> {
		const { datasetId } = dataset;
		this.#renew(datasetId);
		return this.#once(datasetId, () => this.#choose(this.#paged(dataset)));
	}

	/**
	 * A document from the list of its dataset if that is kept, else by its id; undefined if the dataset does not list it.
	 *
	 * @param isAsked whether it is asked for by its id even so, unless the service ignores that
	 * @throws RestError of code `OTHER_CASE` where the dataset lists that id in another letter case
	 */
	async find(dataset: DatasetAccess, id: string, isAsked: boolean): Promise<Named | undefined> {
		const { datasetId } = dataset;
		const listed = isAsked && !this.isIgnoring(datasetId) ? undefined : await this.list(dataset);
		const kept = listed && (await foundIn(listed, datasetId, id));
		// A document that a whole list does not show is not there. A short list proves nothing.
		if (kept !== undefined || (listed !== undefined && listed.short === undefined)) return kept;
		const { found, isHeeded } = await askForId(dataset, id);
		if (isHeeded) return found;
		// It may have been read again while the service was asked: the list before it is closed then.
		const whole = await this.listAfterAll(dataset);
		const inWhole = await foundIn(whole, datasetId, id);
		if (inWhole === undefined && whole.short !== undefined) throw incompleteList(datasetId, whole.short);
		return inWhole;
	}

	/** The list of a dataset, if it was read. */
	whole(datasetId: string): ListedDataset | undefined {
		return this.#lists.get(datasetId)?.whole;
	}

	/** Whether any list was read. */
	get hasWhole(): boolean {
		return [...this.#lists.values()].some(({ whole }) => whole !== undefined);
	}

	/** Whether the service can't be asked for one document of that dataset, so that it was listed. */
	isIgnoring(datasetId: string): boolean {
		return this.#ignoring.has(datasetId);
	}

	/** The list of a dataset whose service ignored a request for one document, or for one name. */
	async listAfterAll(dataset: DatasetAccess): Promise<ListedDataset> {
		const { datasetId } = dataset;
		this.#ignoring.add(datasetId);
		const chosen = this.#lists.get(datasetId);
		const listed = await chosen?.list;
		// Another row has listed it meanwhile.
		if (listed !== undefined) return listed;
		if (this.#lists.get(datasetId) === chosen) this.#lists.delete(datasetId);
		const whole = await this.#once(datasetId, () => this.#readAll(this.#paged(dataset)));
		return whole ?? this.listAfterAll(dataset);
	}

	/** Forgets a list, unless that was done already: it is read again when it is needed. */
	forgetList(datasetId: string, list: ListedDataset): void {
		if (this.whole(datasetId) !== list) return;
		this.#lists.delete(datasetId);
		this.#forgotten.push(list.documents);
	}

	/** Forgets a list that is too old. */
	#renew(datasetId: string): void {
		const { isRenewed = false, clock } = this.#options;
		const list = this.whole(datasetId);
		if (!isRenewed || list === undefined) return;
		if (clock.now() - list.at - list.took <= Math.max(FRESH_MS, TIMES_ITS_READING * list.took)) return;
		this.forgetList(datasetId, list);
	}

	/** Removes the lists from the disk. */
	async close(): Promise<void> {
		const stores = [...this.#stores];
		this.#stores.clear();
		await Promise.all(stores.map((documents) => documents.close()));
	}

	#once(datasetId: string, decide: () => Promise<ListedDataset | undefined>): Promise<ListedDataset | undefined> {
		const known = this.#lists.get(datasetId);
		if (known !== undefined) return known.list;
		const choice: Choice = { list: decide() };
		this.#lists.set(datasetId, choice);
		choice.list.then(
			(listed) => (choice.whole = listed),
			// The row that asked fails or is retried; the next row decides again.
			() => this.#lists.delete(datasetId),
		);
		return choice.list;
	}

	/** The same dataset; a page of its list that fails for a moment is asked for again. */
	#paged({ request, ...dataset }: DatasetAccess): DatasetAccess {
		return { ...dataset, request: retryingPages(request, this.#options.clock) };
	}

	async #choose(dataset: DatasetAccess): Promise<ListedDataset | undefined> {
		const { rowsOf, fewestRows, keepsEmptyList, order, listsAll } = this.#options;
		const { api, datasetId } = dataset;
		if (listsAll === true) return this.#readAll(dataset);
		const rows = rowsOf(datasetId);
		if (rows < fewestRows) return undefined;
		const start = await firstDocuments(dataset, order?.(api));
		const { countsAll } = api.dialect.flavour.list;
		const { total, items } = start.first;
		const isEmpty = total === 0 && items.length === 0;
		// For the same number of requests a look-up is better, as its answer is newer.
		if (!(isEmpty && keepsEmptyList) && rows <= pagesLeft(start, countsAll)) return undefined;
		this.#options.onListing?.(datasetId, total ?? items.length);
		return this.#readAll(dataset, start);
	}

	async #readAll(dataset: DatasetAccess, start?: FirstPage<Document>): Promise<ListedDataset> {
		const { create, order, clock, marked, onListed } = this.#options;
		const at = clock.now();
		const documents = await create(dataset.api);
		// A row that has a list reads it at once, so none reads a forgotten list any more. A million documents take 20 MB of memory.
		for (const old of this.#forgotten.splice(0)) if (this.#stores.delete(old)) await old.close();
		const keys = onListed && new KeyTypes();
		this.#stores.add(documents);
		let short: ShortList | undefined;
		const list = { start, order: order?.(dataset.api), onShort: (found: ShortList) => void (short = found) };
		for await (const page of documentPages(dataset, list)) {
			for (const document of page) {
				if (document.metadata !== undefined) keys?.add(document.metadata);
				const writing = documents.add(marked === undefined ? document : marked(document));
				if (writing !== undefined) await writing;
			}
		}
		await documents.end();
		if (keys !== undefined) onListed?.(keys);
		return { documents, short, at, took: clock.now() - at };
	}
}

/**
 * The requests that the rest of a list costs; infinite where its length is not known, and it may have no end. Pure.
 *
 * A list whose total may be wrong ends with a page without new entries, so it costs one request more than its documents fill.
 */
function pagesLeft({ asked, first: { total, items } }: FirstPage<Document>, countsAll: boolean): number {
	const came = items.length;
	if (total === undefined || came === 0) return Number.POSITIVE_INFINITY;
	// A page that is shorter than was asked for, with more to come, shows the size that the service really gives.
	const size = asked === undefined || came < total ? came : asked;
	const pages = Math.ceil(Math.max(total, came) / size);
	return countsAll && total !== asked ? pages - 1 : pages;
}

async function foundIn({ documents }: ListedDataset, datasetId: string, id: string): Promise<Named | undefined> {
	const found = await documents.get(id);
	for (const spelling of found === undefined ? [id.toLowerCase(), id.toUpperCase()] : []) {
		if (spelling !== id && (await documents.get(spelling)) !== undefined) throw otherCase(datasetId, id, spelling);
	}
	return found;
}
