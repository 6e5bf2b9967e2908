import type { Clock, WhichDocument } from "../types.ts";
import { listByIds, PLAIN_ID } from "./find-document.ts";
import type { DatasetAccess } from "./list.ts";
import { restErrorOf } from "../retry/request.ts";
import type { Searches } from "./searches.ts";
import type { RemoteDocument } from "./stored-documents.ts";

/** How long what was read may be used, in milliseconds: in a slow run, only so much of a chunk is used. */
export const FRESH_MS = 5_000;

/** A document that was read, and when, on the clock. */
type ReadDocument = { readonly document: RemoteDocument; readonly at: number };

/** Rows that one request reads. With a document that shows metadata they are a hundred, the most that any service lists by ids. */
export const ROWS_AHEAD = 99;

/** The documents of an answer by their ids. */
type Reading = {
	readonly documents: Map<string, RemoteDocument>;
	/** when it was asked for, on the clock */
	readonly at: number;
	/** whether what one of them has is doubted: they are read again once a document has shown metadata */
	readonly isDoubted: boolean;
};

/** Documents that one request reads, when the row of the first of them comes. */
type Chunk = {
	/** those whose rows have not come */
	readonly ids: Set<string>;
	reading?: Promise<Reading> | undefined;
	/** the result of `reading`, once it is there */
	read?: Reading | undefined;
};

/** The documents of the rows of one dataset. */
type Dataset = {
	readonly chunks: Map<string, Chunk>;
	/** takes the next rows, until it is full or is read */
	last: Chunk;
	/** whether chunks were read; then each other document is asked for by itself */
	isUsed: boolean;
	/** whether the service does not list what is asked for */
	isIgnored: boolean;
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

	/** Rows that come next. */
	expect(rows: readonly WhichDocument[]): void {
		for (const { datasetId, documentId } of rows) {
			if (this.#isOff || !PLAIN_ID.test(documentId)) continue;
			let dataset = this.#datasets.get(datasetId);
			if (dataset === undefined) {
				dataset = { chunks: new Map(), last: { ids: new Set() }, isUsed: false, isIgnored: false };
				this.#datasets.set(datasetId, dataset);
			}
			if (dataset.isIgnored) continue;
			if (dataset.last.ids.size === ROWS_AHEAD || dataset.last.reading !== undefined) dataset.last = { ids: new Set() };
			dataset.last.ids.add(documentId);
			dataset.chunks.set(documentId, dataset.last);
		}
	}

	/**
	 * The document of a row whose turn it is. `alone` where it must be asked for by itself, undefined where the service does not
	 * list several documents by their ids.
	 */
	async take(access: DatasetAccess, id: string): Promise<ReadDocument | "alone" | undefined> {
		this.#isOff = access.api.dialect.flavour.list.idsAtOnce === 0;
		if (this.#isOff) this.#datasets.clear();
		const dataset = this.#datasets.get(access.datasetId);
		if (dataset === undefined || dataset.isIgnored) return undefined;
		const chunk = dataset.chunks.get(id);
		if (chunk?.read !== undefined && !this.#isUsable(chunk.read)) forgetRead(chunk);
		if (chunk === undefined || (chunk.reading === undefined && chunk.ids.size === 1)) {
			return dataset.isUsed ? "alone" : undefined;
		}
		dataset.isUsed = true;
		const { documents, at } = await (chunk.reading ??= this.#read(access, dataset, chunk));
		if (dataset.isIgnored) return undefined;
		chunk.ids.delete(id);
		dataset.chunks.delete(id);
		const document = documents.get(id);
		// The chunk stays as long as one of its rows has not come.
		documents.delete(id);
		return document === undefined ? "alone" : { document, at };
	}

	/** Whether documents were read a moment ago, and nothing since has shown more of them. */
	#isUsable({ at, isDoubted }: Reading): boolean {
		return this.#clock.now() - at <= FRESH_MS && !(isDoubted && this.#searches.canSettle);
	}

	async #read(access: DatasetAccess, dataset: Dataset, chunk: Chunk): Promise<Reading> {
		const documents = new Map<string, RemoteDocument>();
		const at = this.#clock.now();
		// A document that shows metadata in the same answer proves that the others have none.
		const witness = this.#searches.witnessOf(access.datasetId, chunk.ids);
		const ids = [...chunk.ids, ...(witness === undefined ? [] : [witness])];
		const listed = await listByIds({ ...access, ids }, ids.length).catch((error: unknown) => {
			if (restErrorOf(error)?.isRefusal === true) return undefined;
			forgetRead(chunk);
			throw error;
		});
		if (listed === undefined) {
			dataset.isIgnored = true;
			dataset.chunks.clear();
		}
		for (const [id, item] of listed?.found ?? []) if (id !== witness) documents.set(id, this.#searches.marked(item));
		const isDoubted = [...documents.values()].some((document) => document.isDoubted === true);
		return (chunk.read = { documents, at, isDoubted });
	}
}

function forgetRead(chunk: Chunk): void {
	chunk.reading = undefined;
	chunk.read = undefined;
}
