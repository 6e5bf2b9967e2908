import type { Api, Document } from "../../rest/types.ts";
import { askFor, otherSpellings, refuseOtherCase, type Lookup } from "./find-document.ts";
import { firstDocuments, allDocuments, type ShortList, incompleteList } from "./list.ts";
import type { FirstPage } from "./pages.ts";
import type { Clock, Request } from "../types.ts";
import { isListingCheaper } from "./cost.ts";
import { retryingPages } from "../retry/request.ts";
import { ListedNames } from "./listed-names.ts";
import { type RemoteDocument, type Named, StoredDocuments } from "./stored-documents.ts";

/** Rows by their dataset. */
export type RowCounts = Pick<ReadonlyMap<string, number>, "get">;

export type PresentOptions = {
	/**
	 * how many rows a dataset has that are to be looked at; asked once, when the first of them comes. Undefined where each
	 * is to be looked up when it comes: what a list showed may be as old as the run
	 */
	readonly rows: (() => Promise<RowCounts>) | undefined;
	/** where lists may be kept */
	readonly folder: () => Promise<string>;
	readonly clock: Clock;
	/** called before a dataset is listed, with the number of its documents by the service's account */
	readonly onListing?: (datasetId: string, documents: number) => void;
};

/** A dataset that was listed as a whole. `short` where its list did not show all that it claims to have. */
type Listed = { readonly documents: StoredDocuments; readonly short: ShortList | undefined };

/**
 * What documents have before rows are laid over them or compared with them, at the least number of requests: one look-up
 * for each row, or one list of the dataset.
 *
 * What a list showed is as old as the list. So no document may be written twice in a run that looks by this: the second
 * write would not know of the first. The check of a manifest sees to that.
 */
export class DocumentSource {
	readonly #options: PresentOptions;
	readonly #ways = new Map<string, Promise<Listed | undefined>>();
	readonly #stored: StoredDocuments[] = [];
	readonly #names: ListedNames | undefined;
	#rows: Promise<RowCounts> | undefined;

	constructor(options: PresentOptions) {
		this.#options = options;
		const { rows } = options;
		if (rows !== undefined) this.#names = new ListedNames(options, () => (this.#rows ??= rows()));
	}

	/** Every document that has that name by the service's own comparison: looked up, or found in a list of all. */
	async byName(
		lookup: Pick<Lookup, "byName">,
		api: Api,
		request: Request,
		datasetId: string,
		name: string,
	): Promise<readonly Named[]> {
		if (this.#names === undefined) return lookup.byName(api, request, datasetId, name);
		return this.#names.of(lookup, api, request, datasetId, name);
	}

	/**
	 * What the document has, or undefined where the dataset does not list it.
	 *
	 * @throws RestError of code `OTHER_CASE` where it lists that id in another letter case
	 */
	async byId(api: Api, request: Request, datasetId: string, id: string): Promise<RemoteDocument | undefined> {
		const way = await this.#way(datasetId, () => this.#choose(api, request, datasetId));
		const listed = await heldIn(way, datasetId, id);
		// What a whole list does not show is not there; of a list that stayed short only a question can tell.
		if (listed !== undefined || (way !== undefined && way.short === undefined)) return listed;
		const page = await askFor(api, request, datasetId, { id });
		if (page?.items.every((document) => document.id === id) === true) return page.items[0];
		// It answers with other documents, so it ignores what it is asked for.
		if (way?.short !== undefined) throw incompleteList(datasetId, way.short);
		const whole = await this.#insteadOf(way, datasetId, () => this.#read(api, request, datasetId));
		const found = await heldIn(whole, datasetId, id);
		if (found === undefined && whole?.short !== undefined) throw incompleteList(datasetId, whole.short);
		return found;
	}

	/** Forgets what was listed: what comes next is read anew. */
	renew(): void {
		this.#ways.clear();
	}

	/** Removes what was kept. */
	async close(): Promise<void> {
		await Promise.all(this.#stored.splice(0).map((documents) => documents.close()));
		await this.#names?.close();
	}

	/** How documents of that dataset are looked at: decided once, anew where that failed. */
	#way(datasetId: string, decide: () => Promise<Listed | undefined>): Promise<Listed | undefined> {
		const known = this.#ways.get(datasetId);
		if (known !== undefined) return known;
		const way = decide();
		this.#ways.set(datasetId, way);
		// The row that asked fails or is tried again; the next one decides anew.
		way.catch(() => this.#ways.delete(datasetId));
		return way;
	}

	/** Another way than the one that did not lead there, unless another row has found it meanwhile. */
	async #insteadOf(
		way: Listed | undefined,
		datasetId: string,
		decide: () => Promise<Listed | undefined>,
	): Promise<Listed | undefined> {
		const known = this.#ways.get(datasetId);
		const meanwhile = await known;
		if (meanwhile !== way) return meanwhile;
		if (this.#ways.get(datasetId) === known) this.#ways.delete(datasetId);
		return this.#way(datasetId, decide);
	}

	async #choose(api: Api, request: Request, datasetId: string): Promise<Listed | undefined> {
		if (this.#options.rows === undefined) return undefined;
		this.#rows ??= this.#options.rows();
		const rows = (await this.#rows).get(datasetId) ?? 0;
		// One look-up is as cheap as the page that would tell.
		if (rows < 2) return undefined;
		const start = await firstDocuments(api, retryingPages(request, this.#options.clock), datasetId);
		const size = { asked: start.asked, total: start.first.total, came: start.first.items.length };
		if (!isListingCheaper(rows, size)) return undefined;
		this.#options.onListing?.(datasetId, size.total ?? size.came);
		return this.#read(api, request, datasetId, start);
	}

	async #read(api: Api, request: Request, datasetId: string, start?: FirstPage<Document>): Promise<Listed> {
		const documents = await StoredDocuments.create(await this.#options.folder());
		this.#stored.push(documents);
		let short: ShortList | undefined;
		const patient = retryingPages(request, this.#options.clock);
		for await (const document of allDocuments(api, patient, datasetId, { start }, (list) => (short = list))) {
			await documents.add(document);
		}
		await documents.end();
		return { documents, short };
	}
}

async function heldIn(listed: Listed | undefined, datasetId: string, id: string): Promise<RemoteDocument | undefined> {
	const held = await listed?.documents.get(id);
	if (held !== undefined || listed === undefined) return held;
	for (const spelling of otherSpellings(id)) {
		if ((await listed.documents.get(spelling)) !== undefined) refuseOtherCase(datasetId, id, [{ id: spelling }]);
	}
	return undefined;
}
