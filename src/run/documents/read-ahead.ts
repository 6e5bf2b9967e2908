import type { Api } from "../../rest/types.ts";
import type { Clock, Request } from "../types.ts";
import { PLAIN_ID } from "./find-document.ts";
import { answerOf } from "./pages.ts";
import type { Searches } from "./searches.ts";
import type { RemoteDocument } from "./stored-documents.ts";

/** How long what was read may be used, in milliseconds: in a slow run, only so much of a chunk is used. */
export const FRESH_MS = 5_000;

/** A document that was read, and when, on the clock. Undefined where the dataset does not list it. */
type ReadDocument = { readonly document: RemoteDocument | undefined; readonly at: number };

export type WhichDocument = { readonly datasetId: string; readonly documentId: string };

/** Rows that are expected together. With a document that shows metadata they fill one request. */
const ROWS_AHEAD = 99;

type Reading = ReadonlyMap<string, ReadDocument>;

/** The documents of the rows of one dataset. */
type Dataset = {
	readonly datasetId: string;
	/** the next rows, in order */
	readonly coming: Set<string>;
	read: Map<string, ReadDocument>;
	reading: Map<string, Promise<Reading>>;
	/** whether chunks were read; then each other document is asked for by itself */
	isUsed: boolean;
	/** whether the service does not list what is asked for */
	isIgnored: boolean;
	/** the documents that were read last, if that is doubted: they are read again once a document has shown metadata */
	doubted: readonly string[];
};

/**
 * Reads the documents of the rows that come next, a chunk of them by one request, shortly before they are written. So another
 * client's write is overlooked only where it falls between a chunk's request and its writes.
 */
export class ReadAhead {
	readonly #clock: Clock;
	readonly #searches: Searches;
	readonly #datasets = new Map<string, Dataset>();
	/** whether the service lists no documents by several ids */
	#isOff = false;

	constructor({ clock, searches }: { readonly clock: Clock; readonly searches: Searches }) {
		this.#clock = clock;
		this.#searches = searches;
	}

	/** The same rows, each given when it and the next ones are expected. */
	async *expecting<Row extends WhichDocument>(rows: AsyncIterable<Row>): AsyncGenerator<Row> {
		let next: Row[] = [];
		for await (const row of rows) {
			next.push(row);
			if (next.length < ROWS_AHEAD) continue;
			this.expect(next);
			yield* next;
			next = [];
		}
		this.expect(next);
		yield* next;
	}

	/** Rows that come next. */
	expect(rows: readonly WhichDocument[]): void {
		for (const { datasetId, documentId } of rows) {
			if (this.#isOff || !PLAIN_ID.test(documentId)) continue;
			let dataset = this.#datasets.get(datasetId);
			if (dataset === undefined) {
				const sets = { coming: new Set<string>(), read: new Map<string, ReadDocument>(), reading: new Map() };
				dataset = { datasetId, ...sets, isUsed: false, isIgnored: false, doubted: [] };
				this.#datasets.set(datasetId, dataset);
			}
			if (!dataset.isIgnored) dataset.coming.add(documentId);
		}
	}

	/**
	 * The document of a row whose turn it is. `alone` where it must be asked for by itself, undefined where the service does not
	 * list several documents by their ids.
	 */
	async take(api: Api, request: Request, datasetId: string, id: string): Promise<ReadDocument | "alone" | undefined> {
		const most = api.dialect.flavour.list.idsAtOnce;
		this.#isOff = most === 0;
		if (this.#isOff) this.#datasets.clear();
		const dataset = this.#datasets.get(datasetId);
		if (dataset === undefined || dataset.isIgnored) return undefined;
		if (dataset.doubted.length > 0 && this.#searches.canSettle) forgetRead(dataset);
		const ready = this.#ready(dataset, id);
		if (ready !== undefined) return ready;
		let reading = dataset.reading.get(id);
		if (reading === undefined) {
			const ids = this.#next(dataset, id, most - 1);
			if (ids.length === 1) return dataset.isUsed ? "alone" : undefined;
			dataset.isUsed = true;
			const begun = this.#read(api, request, dataset, ids);
			const { reading: readings } = dataset;
			for (const each of ids) readings.set(each, begun);
			const end = (): void => ids.forEach((each) => readings.delete(each));
			begun.then(end, end);
			reading = begun;
		}
		const found = (await reading).get(id);
		if (dataset.isIgnored) return undefined;
		dataset.read.delete(id);
		return found?.document === undefined ? "alone" : found;
	}

	/** Forgets what was read: it is read again. */
	forget(): void {
		for (const dataset of this.#datasets.values()) forgetRead(dataset);
	}

	/** What was read of a document a moment ago. What is older is read again, with the other documents of its chunk. */
	#ready({ read, coming }: Dataset, id: string): ReadDocument | undefined {
		const ready = read.get(id);
		if (ready === undefined) return undefined;
		read.delete(id);
		if (this.#clock.now() - ready.at <= FRESH_MS) return ready;
		comeFirst(coming, read.keys());
		read.clear();
		return undefined;
	}

	/** The document and those of the next rows. */
	#next({ coming }: Dataset, id: string, most: number): readonly string[] {
		coming.delete(id);
		const ids = [id];
		for (const each of coming) {
			if (ids.length >= most) break;
			ids.push(each);
		}
		for (const each of ids) coming.delete(each);
		return ids;
	}

	async #read(api: Api, request: Request, dataset: Dataset, ids: readonly string[]): Promise<Reading> {
		const found = new Map<string, ReadDocument>();
		const { datasetId, read: ready } = dataset;
		const at = this.#clock.now();
		const asked = new Set(ids);
		// A document that shows metadata in the same answer proves that the others have none.
		const witness = this.#searches.witnessOf(datasetId, asked);
		const query = { page: 1, pageSize: ids.length + 1, ids: witness === undefined ? ids : [...ids, witness] };
		try {
			const { items } = await request(() => api.listDocuments(datasetId, query));
			// Ids are compared without case by RAGFlow's database.
			const folded = new Set([...ids, witness].map((id) => id?.toLowerCase()));
			dataset.isIgnored ||= items.some(({ id }) => !folded.has(id.toLowerCase()));
			for (const item of items)
				if (asked.has(item.id)) found.set(item.id, { document: this.#searches.marked(item), at });
		} catch (error) {
			const kind = answerOf(error)?.kind;
			if (kind !== "rejected" && kind !== "contradiction") {
				comeFirst(dataset.coming, ids);
				throw error;
			}
			dataset.isIgnored = true;
		}
		if (dataset.isIgnored) dataset.coming.clear();
		if (dataset.isIgnored) return new Map();
		dataset.doubted = [...found.values()].some(({ document }) => document?.isDoubted === true) ? ids : [];
		for (const [id, read] of found) ready.set(id, read);
		return found;
	}
}

/** Documents that were read come again. */
function forgetRead(dataset: Dataset): void {
	comeFirst(dataset.coming, [...dataset.doubted, ...dataset.read.keys()]);
	// What is being read is added to the old ones.
	dataset.read = new Map();
	dataset.reading = new Map();
	dataset.doubted = [];
}

/** Puts ids before those that come. */
function comeFirst(coming: Set<string>, ids: Iterable<string>): void {
	const later = [...coming];
	coming.clear();
	for (const each of ids) coming.add(each);
	for (const each of later) coming.add(each);
}
