import { KeyTypes } from "../../json/value-types.ts";
import type { Api } from "../../rest/types.ts";
import { announced } from "../ordered.ts";
import type { Request, WhichDocument } from "../types.ts";
import { askForName, isSameName } from "./find-named.ts";
import { incompleteList } from "./list.ts";
import { ListedDatasets, type ListedDatasetsOptions } from "./listed-datasets.ts";
import { ReadAhead, ROWS_AHEAD } from "./read-ahead.ts";
import { type Doubts, MARK, REFUSE } from "./searches.ts";
import type { Named, RemoteDocument } from "./stored-documents.ts";

type DocumentSourceOptions = ListedDatasetsOptions & {
	/** what is done about documents that show no metadata, where a list may hide it; unless given, the command ends */
	readonly doubts?: Doubts;
};

/**
 * The documents of the rows of a run, by the fewest requests: one request for each row, or one list of the dataset.
 *
 * A list is as old as a tenth of the run, or some seconds. So a run that uses it may write no document twice, as the second
 * write would not see the first. The check of a manifest ensures that.
 */
export class DocumentSource implements AsyncDisposable {
	readonly #options: DocumentSourceOptions;
	readonly #byId: ListedDatasets;
	readonly #byName: ListedDatasets;
	readonly #ahead: ReadAhead;
	#doubts: Doubts;
	#oldest: number | undefined;

	constructor(options: DocumentSourceOptions) {
		this.#options = options;
		this.#byId = new ListedDatasets(options, "ids");
		this.#byName = new ListedDatasets(options, "names");
		this.#ahead = new ReadAhead(options.service);
		this.#doubts = options.doubts ?? REFUSE;
	}

	/**
	 * The document's metadata, or undefined if the dataset does not list it.
	 *
	 * @throws RestError of code `OTHER_CASE` where it lists that id in another letter case
	 */
	async byId(api: Api, request: Request, datasetId: string, id: string): Promise<RemoteDocument | undefined> {
		const { service, onPresent } = this.#options;
		const { searches } = service;
		const dataset = { api, request: searches.believing(request, this.#doubts), datasetId };
		const listed = this.#byId.whole(datasetId);
		const ahead = await this.#ahead.take(dataset, id);
		const found = typeof ahead === "object" ? ahead.document : await this.#byId.find(dataset, id, ahead === "alone");
		this.#used(typeof ahead === "object" ? ahead.at : (listed ?? this.#byId.whole(datasetId))?.at);
		if (onPresent !== undefined && found?.metadata !== undefined && this.#byId.whole(datasetId) === undefined) {
			const keys = new KeyTypes();
			keys.add(found.metadata);
			onPresent({ keys, isWhole: false });
		}
		if (found === undefined) return undefined;
		const document: RemoteDocument = searches.marked(found);
		if (document.isDoubted !== true || !searches.canSettle) return document;
		// It was read before any document had shown metadata.
		if (listed !== undefined) this.#byId.forgetList(datasetId, listed);
		return this.byId(api, request, datasetId, id);
	}

	/** The rows that come next: their documents are read together, where the service lists several by their ids. */
	expect(rows: readonly WhichDocument[]): void {
		this.#ahead.expect(rows);
	}

	/** The same rows, each given when it and the next ones are expected. */
	expecting<Row extends WhichDocument>(rows: AsyncIterable<Row>): AsyncIterable<Row> {
		return announced(rows, ROWS_AHEAD, (next) => this.expect(next));
	}

	/** The longest time in milliseconds between the reading of a document and its use; undefined where none decided anything. */
	get oldestReading(): number | undefined {
		return this.#oldest;
	}

	/** Notes the age of a reading that decides what is written. @param at when it was read; undefined for a moment ago */
	#used(at: number | undefined): void {
		if (this.#doubts.end !== "refuse") return;
		this.#oldest = Math.max(this.#oldest ?? 0, at === undefined ? 0 : this.#options.service.clock.now() - at);
	}

	/** From now on a row goes on without knowing what its document has, where that is doubted. */
	marksDoubts(): this {
		this.#doubts = MARK;
		return this;
	}

	/** Whether the dataset was read as a whole. */
	isListed(datasetId: string): boolean {
		return this.#byId.whole(datasetId) !== undefined || this.#byName.whole(datasetId) !== undefined;
	}

	/** Whether a list was read. */
	get hasList(): boolean {
		return this.#byId.hasWhole;
	}

	/**
	 * What `byId` would give, if a list was read and shows the document. Sends no request. Undefined where there is no list, and
	 * where the document is doubted: it is asked for again when its row comes.
	 *
	 * @throws CliError exit 7 where the disk can't be read
	 */
	async fromList(datasetId: string, id: string): Promise<RemoteDocument | undefined> {
		const document = await this.#byId.whole(datasetId)?.documents.get(id);
		return document?.isDoubted === true ? undefined : document;
	}

	/**
	 * The id and the name of every document of a dataset, from the list that `byId` reads.
	 *
	 * @throws RestError where the list stays short
	 */
	async *wholeList(api: Api, request: Request, datasetId: string): AsyncGenerator<Pick<Named, "id" | "name">> {
		const listed = await this.#byId.list({ api, request, datasetId });
		if (listed === undefined) throw new Error("a document source without listsAll has no whole list");
		if (listed.short !== undefined) throw incompleteList(datasetId, listed.short, "which documents no row names");
		yield* listed.documents.all();
	}

	/** The document as the service shows it now: it is asked for, unless the service ignores ids. */
	async now(api: Api, request: Request, datasetId: string, id: string): Promise<RemoteDocument | undefined> {
		return this.#byId.find({ api, request, datasetId }, id, true);
	}

	/**
	 * Every document that has that name by the service's own comparison, in a list of the dataset where that costs fewer
	 * requests, and asked for otherwise.
	 *
	 * A list may be as old as the run. Where a name was taken since, the upload itself shows it: the service stores the file
	 * under another name.
	 */
	async byName(api: Api, request: Request, datasetId: string, name: string): Promise<readonly Named[]> {
		const dataset = { api, request, datasetId };
		const listed = await this.#byName.list(dataset);
		const found = (await listed?.documents.named(name)) ?? [];
		// Only the service knows which names are equal, and a short list may lack an existing document.
		const isSure = found.length === 0 ? listed?.short === undefined : found.some((each) => isSameName(each.name, name));
		if (listed !== undefined && isSure) return found;
		const asked = this.#byName.isIgnoring(datasetId) ? undefined : await askForName(dataset, name);
		if (asked !== undefined) return asked;
		const { documents, short } = await this.#byName.listAfterAll(dataset);
		if (short !== undefined) throw incompleteList(datasetId, short);
		return documents.named(name);
	}

	/** Whether the list that `byName` reads showed that id. Undefined where it read none, or one that may lack it. */
	wasListed(datasetId: string, id: string): boolean | undefined {
		const listed = this.#byName.whole(datasetId);
		if (listed?.documents.ids.has(id) === true) return true;
		return listed === undefined || listed.short !== undefined ? undefined : false;
	}

	/** Removes the stored lists. */
	async close(): Promise<void> {
		await this.#byId.close();
		await this.#byName.close();
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.close();
	}
}
