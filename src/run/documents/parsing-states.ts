import type { Api, Document } from "../../rest/types.ts";
import type { Clock, Request } from "../types.ts";
import { findDocument, PLAIN_ID } from "./find-document.ts";
import { documentPages, firstDocuments } from "./list.ts";
import { PAGE_SIZE } from "./pages.ts";

/** What is kept of a document: a list is long, and its metadata longer. */
export type DocumentState = Pick<Document, "id" | "name" | "parsing">;

type Which = { readonly datasetId: string; readonly documentId: string };

/** Documents that are asked for one by one where the service lists none by their ids: the pages of a list cost more. */
const FEW = 3;

/** The state of a document that was just stored. */
const UNSTARTED: Required<DocumentState>["parsing"] = {
	run: "UNSTART",
	progress: 0,
	message: "",
	chunkCount: 0,
	chunkMethod: undefined,
	isEnabled: true,
};

type Dataset = {
	/** the documents whose states are wanted */
	readonly wanted: Set<string>;
	/** by id */
	readonly seen: Map<string, Seen>;
	reading: Promise<void> | undefined;
	/** whether the service answers a request for several ids with other documents, as v0.25.0 does */
	ignoresIds: boolean;
};

/** `document` is undefined where no list shows it. */
type Seen = { readonly at: number; readonly document: DocumentState | undefined };

/**
 * The states of the parsing of documents, by the fewest requests: one reading shows all documents whose states are wanted. So
 * a thousand rows that wait cost one list of them, and not a thousand requests.
 */
export class ParsingStates {
	readonly #clock: Pick<Clock, "now">;
	readonly #datasets = new Map<string, Dataset>();

	constructor(clock: Pick<Clock, "now">) {
		this.#clock = clock;
	}

	/** Documents whose states will be wanted. */
	expect(documents: Iterable<Which>): void {
		for (const { datasetId, documentId } of documents) this.#of(datasetId).wanted.add(documentId);
	}

	/** A document that was just stored: no list is needed to know that it is not at work. */
	stored({ datasetId, documentId }: Which, name: string): void {
		const { wanted, seen } = this.#of(datasetId);
		wanted.add(documentId);
		const document = { id: documentId, name, parsing: UNSTARTED };
		seen.set(documentId, { at: this.#clock.now(), document });
	}

	/** A document whose state is no longer wanted. */
	forget({ datasetId, documentId }: Which): void {
		const { wanted, seen } = this.#of(datasetId);
		wanted.delete(documentId);
		seen.delete(documentId);
	}

	/**
	 * A document as a list has shown it at that time or later; undefined if the dataset does not list it.
	 *
	 * @param since on the clock, in milliseconds
	 */
	async now(api: Api, request: Request, which: Which, since: number): Promise<DocumentState | undefined> {
		const dataset = this.#of(which.datasetId);
		for (;;) {
			const seen = dataset.seen.get(which.documentId);
			if (seen !== undefined && seen.at >= since) return seen.document;
			dataset.wanted.add(which.documentId);
			const isMine = dataset.reading === undefined;
			dataset.reading ??= this.#read(api, request, which.datasetId).finally(() => (dataset.reading = undefined));
			// The reading of another row may have begun before this one was wanted, and its failure is not this row's.
			await (isMine ? dataset.reading : dataset.reading.catch(() => undefined));
		}
	}

	async #read(api: Api, request: Request, datasetId: string): Promise<void> {
		const dataset = this.#of(datasetId);
		const ids = [...dataset.wanted];
		const at = this.#clock.now();
		const found = await documentsOf({ api, request, datasetId, dataset }, ids);
		for (const id of ids) dataset.seen.set(id, { at, document: found.get(id) });
		// A whole list has shown the documents of the next rows, too.
		for (const [id, document] of found) dataset.seen.set(id, { at, document });
	}

	#of(datasetId: string): Dataset {
		const known = this.#datasets.get(datasetId);
		if (known !== undefined) return known;
		const dataset = { wanted: new Set<string>(), seen: new Map<string, Seen>(), reading: undefined, ignoresIds: false };
		this.#datasets.set(datasetId, dataset);
		return dataset;
	}
}

type Asking = {
	readonly api: Api;
	readonly request: Request;
	readonly datasetId: string;
	readonly dataset: Dataset;
};

async function documentsOf(asking: Asking, ids: readonly string[]): Promise<Map<string, DocumentState>> {
	const { api, request, datasetId, dataset } = asking;
	const { idsAtOnce } = api.dialect.flavour.list;
	const found = new Map<string, DocumentState>();
	if (ids.length > 1 && idsAtOnce > 1 && !dataset.ignoresIds) await byIds(asking, ids, found);
	const left = (): string[] => ids.filter((id) => !found.has(id));
	if (left().length > FEW) await byPages(asking, left(), found);
	for (const id of left()) {
		const document = await findDocument(api, request, datasetId, id);
		if (document !== undefined) add(found, document);
	}
	return found;
}

async function byIds(
	{ api, request, datasetId, dataset }: Asking,
	ids: readonly string[],
	found: Map<string, DocumentState>,
): Promise<void> {
	const plain = ids.filter((id) => PLAIN_ID.test(id));
	const { idsAtOnce } = api.dialect.flavour.list;
	for (let from = 0; from < plain.length; from += idsAtOnce) {
		const some = plain.slice(from, from + idsAtOnce);
		const query = { page: 1, pageSize: some.length, ids: some };
		const { items } = await request(() => api.listDocuments(datasetId, query));
		for (const document of items) if (some.includes(document.id)) add(found, document);
		dataset.ignoresIds = items.some(({ id }) => !some.includes(id));
		if (dataset.ignoresIds) return;
	}
}

/** Reads the whole list where that costs fewer requests than one for each document. */
async function byPages(
	{ api, request, datasetId }: Asking,
	ids: readonly string[],
	found: Map<string, DocumentState>,
): Promise<void> {
	const start = await firstDocuments(api, request, datasetId);
	const { items, total = 0 } = start.first;
	for (const document of items) add(found, document);
	if (Math.ceil(total / (start.asked ?? PAGE_SIZE)) > ids.length) return;
	for await (const page of documentPages(api, request, datasetId, { start })) {
		for (const document of page) add(found, document);
	}
}

function add(found: Map<string, DocumentState>, { id, name, parsing }: Document): void {
	found.set(id, parsing === undefined ? { id, name } : { id, name, parsing });
}
