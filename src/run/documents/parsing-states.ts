import { RestError } from "../../rest/errors.ts";
import type { Api, Document } from "../../rest/types.ts";
import type { Clock, Request, WhichDocument } from "../types.ts";
import { listMany, readMany } from "./find-document.ts";
import type { DatasetAccess } from "./list.ts";

/** What is kept of a document: a list is long, and its metadata longer. */
export type DocumentState = Pick<Document, "id" | "name" | "parsing">;

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
};

/** `document` is undefined where no list shows it, and an error where it can't be read for a reason of its own. */
type Seen = { readonly at: number; readonly document: DocumentState | RestError | undefined };

/**
 * The states of the parsing of documents, by the fewest requests: one reading shows all documents whose states are wanted. So
 * a thousand rows that wait cost one list of them, and not a thousand requests.
 */
export class ParsingStates {
	readonly #clock: Clock;
	readonly #datasets = new Map<string, Dataset>();

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** Documents whose states will be wanted. */
	expect(documents: Iterable<WhichDocument>): void {
		for (const { datasetId, documentId } of documents) this.#of(datasetId).wanted.add(documentId);
	}

	/** A document that was just stored: no list is needed to know that it is not at work. */
	stored({ datasetId, documentId }: WhichDocument, name: string): void {
		const { wanted, seen } = this.#of(datasetId);
		wanted.add(documentId);
		const document = { id: documentId, name, parsing: UNSTARTED };
		seen.set(documentId, { at: this.#clock.now(), document });
	}

	/** A document whose state is no longer wanted. */
	forget({ datasetId, documentId }: WhichDocument): void {
		const { wanted, seen } = this.#of(datasetId);
		wanted.delete(documentId);
		seen.delete(documentId);
	}

	/**
	 * A document as a list has shown it at that time or later; undefined if the dataset does not list it.
	 *
	 * @param since on the clock, in milliseconds
	 */
	async now(api: Api, request: Request, which: WhichDocument, since: number): Promise<DocumentState | undefined> {
		const dataset = this.#of(which.datasetId);
		for (;;) {
			const seen = dataset.seen.get(which.documentId);
			if (seen !== undefined && seen.at >= since) {
				if (seen.document instanceof RestError) throw seen.document;
				return seen.document;
			}
			dataset.wanted.add(which.documentId);
			const isMine = dataset.reading === undefined;
			dataset.reading ??= this.#read({ api, request, datasetId: which.datasetId }).finally(
				() => (dataset.reading = undefined),
			);
			// The reading of another row may have begun before this one was wanted, and its failure is not this row's.
			await (isMine ? dataset.reading : dataset.reading.catch(() => undefined));
		}
	}

	async #read(access: DatasetAccess): Promise<void> {
		const dataset = this.#of(access.datasetId);
		const ids = [...dataset.wanted];
		const at = this.#clock.now();
		const wanted = { ...access, ids };
		const documents = await readMany(wanted, await listMany(wanted, this.#clock));
		for (const id of ids) dataset.seen.set(id, { at, document: stateOf(documents.get(id)) });
	}

	#of(datasetId: string): Dataset {
		const known = this.#datasets.get(datasetId);
		if (known !== undefined) return known;
		const dataset = { wanted: new Set<string>(), seen: new Map<string, Seen>(), reading: undefined };
		this.#datasets.set(datasetId, dataset);
		return dataset;
	}
}

function stateOf(document: Document | RestError | undefined): Seen["document"] {
	if (document === undefined || document instanceof RestError) return document;
	const { id, name, parsing } = document;
	return { id, name, parsing };
}
