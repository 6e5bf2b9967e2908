import { KeyTypes } from "../../json/value-types.ts";
import type { ListOrder } from "../../rest/flavours.ts";
import type { Document } from "../../rest/types.ts";
import { retryingPages } from "../retry/request.ts";
import type { Clock } from "../types.ts";
import { askForId, otherCase } from "./find-document.ts";
import { type DatasetAccess, documentPages, firstDocuments, incompleteList, type ShortList } from "./list.ts";
import type { FirstPage } from "./pages.ts";
import { FRESH_MS } from "./read-ahead.ts";
import type { Searches } from "./searches.ts";
import { type Named, StoredDocuments } from "./stored-documents.ts";

/**
 * Rows of a dataset from which it may be listed. One look-up of an id is as cheap as the first page of a list. For few names
 * the first page, from which the length of a list is known, is not worth its request.
 */
const FEWEST_ROWS = { ids: 2, names: 11 };

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

/** Takes the keys of documents: of a dataset that was listed as a whole, or of the document that was read for a row. */
export type OnPresent = (present: { readonly keys: KeyTypes; readonly isWhole: boolean }) => void;

export type ListedDatasetsOptions = {
	/** rows of each dataset */
	readonly rows: Pick<ReadonlyMap<string, number>, "get">;
	/** rows that are left of all of them, where a run goes on */
	readonly rowsLeft?: number | undefined;
	/** whether each dataset is listed for ids, whatever it costs */
	readonly listsAll?: boolean;
	/** the folder for lists */
	readonly folder: () => Promise<string>;
	readonly service: { readonly clock: Clock; readonly searches: Searches };
	/** called before a dataset is listed, with the number of documents that the service counts */
	readonly onListing?: (datasetId: string, documents: number) => void;
	/** called with the keys of the documents that were read, before any of them is given */
	readonly onPresent?: OnPresent | undefined;
};

/** Lists whole datasets if that costs fewer requests than one for the document of each row. */
export class ListedDatasets {
	readonly #options: ListedDatasetsOptions;
	readonly #finds: "ids" | "names";
	readonly #lists = new Map<string, Choice>();
	/** datasets whose service ignored a request for one document */
	readonly #ignoring = new Set<string>();
	readonly #stores = new Set<StoredDocuments>();
	/** of forgotten lists */
	readonly #forgotten: StoredDocuments[] = [];

	/** @param finds how documents are found. A list for names may be as old as the run */
	constructor(options: ListedDatasetsOptions, finds: "ids" | "names") {
		this.#options = options;
		this.#finds = finds;
	}

	/** The list of a dataset, or undefined if each document must be requested. Decided once, and again after a failure. */
	list(dataset: DatasetAccess): Promise<ListedDataset | undefined> {
		this.#renew(dataset.datasetId);
		return this.#once(dataset, (paged) => this.#choose(paged));
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
		const whole = await this.#once(dataset, (paged) => this.#readAll(paged));
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
		const list = this.whole(datasetId);
		if (list === undefined || this.#finds === "names") return;
		const age = this.#options.service.clock.now() - list.at - list.took;
		if (age > Math.max(FRESH_MS, TIMES_ITS_READING * list.took)) this.forgetList(datasetId, list);
	}

	/** Removes the lists from the disk. */
	async close(): Promise<void> {
		const stores = [...this.#stores];
		this.#stores.clear();
		await Promise.all(stores.map((documents) => documents.close()));
	}

	#once({ request, ...dataset }: DatasetAccess, decide: (paged: DatasetAccess) => Choice["list"]): Choice["list"] {
		const { datasetId } = dataset;
		const known = this.#lists.get(datasetId);
		if (known !== undefined) return known.list;
		// A page of a list that fails for a moment is asked for again.
		const paged = { ...dataset, request: retryingPages(request, this.#options.service.clock) };
		const choice: Choice = { list: decide(paged) };
		this.#lists.set(datasetId, choice);
		choice.list.then(
			(listed) => (choice.whole = listed),
			// The row that asked fails or is retried; the next row decides again.
			() => this.#lists.delete(datasetId),
		);
		return choice.list;
	}

	async #choose(dataset: DatasetAccess): Promise<ListedDataset | undefined> {
		const { rows: rowsOf, rowsLeft = Number.POSITIVE_INFINITY, listsAll, onListing } = this.#options;
		const { datasetId } = dataset;
		const isForNames = this.#finds === "names";
		if (listsAll === true && !isForNames) return this.#readAll(dataset);
		const rows = Math.min(rowsLeft, rowsOf.get(datasetId) ?? 0);
		if (rows < FEWEST_ROWS[this.#finds]) return undefined;
		const start = await firstDocuments(dataset, this.#orderOf(dataset));
		const { countsAll } = dataset.api.dialect.flavour.list;
		const { total, items } = start.first;
		// An empty list is kept for names: then none is taken, and no document of that dataset is requested.
		const isKept = isForNames && total === 0 && items.length === 0;
		// For the same number of requests a look-up is better, as its answer is newer.
		if (!isKept && rows <= pagesLeft(start, countsAll)) return undefined;
		onListing?.(datasetId, total ?? items.length);
		return this.#readAll(dataset, start);
	}

	/** The order to list in, where it is not the flavour's first. */
	#orderOf({ api }: DatasetAccess): ListOrder | undefined {
		return this.#finds === "names" ? api.dialect.flavour.list.strict : undefined;
	}

	async #readAll(dataset: DatasetAccess, start?: FirstPage<Document>): Promise<ListedDataset> {
		const { folder, service, onPresent } = this.#options;
		const { clock, searches } = service;
		const at = clock.now();
		const nameKey = this.#finds === "names" ? dataset.api.dialect.flavour.nameKey : undefined;
		const documents = await StoredDocuments.create(await folder(), nameKey);
		// A row that has a list reads it at once, so none reads a forgotten list any more. A million documents take 20 MB of memory.
		for (const old of this.#forgotten.splice(0)) if (this.#stores.delete(old)) await old.close();
		const keys = onPresent && new KeyTypes();
		this.#stores.add(documents);
		let short: ShortList | undefined;
		const onShort = (found: ShortList): void => void (short = found);
		const list = { start, order: this.#orderOf(dataset), ids: documents.ids, onShort };
		for await (const page of documentPages(dataset, list)) {
			for (const document of page) {
				if (document.metadata !== undefined) keys?.add(document.metadata);
				const writing = documents.add(searches.marked(document));
				if (writing !== undefined) await writing;
			}
		}
		await documents.end();
		if (keys !== undefined) onPresent?.({ keys, isWhole: true });
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
