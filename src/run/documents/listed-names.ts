import type { Api, Document } from "../../rest/types.ts";
import { firstDocuments, allDocuments, type ShortList } from "./list.ts";
import type { FirstPage } from "./pages.ts";
import { isSameName, type Lookup } from "./find-document.ts";
import type { Request } from "../types.ts";
import { isListingCheaper } from "./cost.ts";
import { retryingPages } from "../retry/request.ts";
import type { PresentOptions, RowCounts } from "./document-source.ts";
import { type Named, StoredNames } from "./stored-documents.ts";

/** Rows up to which each is looked up: the page that tells how long a list is would be one request more. */
const FEW = 10;

type Listed = { readonly names: StoredNames; readonly short: ShortList | undefined };

/**
 * Which documents have the names of a run's files, at the least number of requests: one look-up for each row, or one list
 * of the dataset.
 *
 * What a list showed is as old as the list. A name that was taken since is told by the upload itself, which comes back
 * under another one.
 */
export class ListedNames {
	readonly #options: PresentOptions;
	readonly #rows: () => Promise<RowCounts>;
	readonly #ways = new Map<string, Promise<Listed | undefined>>();
	readonly #stored: StoredNames[] = [];

	/** @param rows how many rows each dataset has */
	constructor(options: PresentOptions, rows: () => Promise<RowCounts>) {
		this.#options = options;
		this.#rows = rows;
	}

	/** Every document that has that name by the service's own comparison. */
	async of(
		lookup: Pick<Lookup, "byName">,
		api: Api,
		request: Request,
		datasetId: string,
		name: string,
	): Promise<readonly Named[]> {
		const way = await this.#way(api, request, datasetId);
		const found = (await way?.names.get(name)) ?? [];
		// Which names are alike is the service's to say, and what a short list does not show may be there all the same.
		const isCertain = found.length === 0 ? way?.short === undefined : found.some((each) => isSameName(each.name, name));
		return way !== undefined && isCertain ? found : lookup.byName(api, request, datasetId, name);
	}

	/** Removes what was kept. */
	async close(): Promise<void> {
		await Promise.all(this.#stored.splice(0).map((names) => names.close()));
	}

	/** How names of that dataset are looked for: decided once, anew where that failed. */
	#way(api: Api, request: Request, datasetId: string): Promise<Listed | undefined> {
		const known = this.#ways.get(datasetId);
		if (known !== undefined) return known;
		const way = this.#choose(api, request, datasetId);
		this.#ways.set(datasetId, way);
		// The row that asked fails or is tried again; the next one decides anew.
		way.catch(() => this.#ways.delete(datasetId));
		return way;
	}

	async #choose(api: Api, request: Request, datasetId: string): Promise<Listed | undefined> {
		const rows = (await this.#rows()).get(datasetId) ?? 0;
		if (rows <= FEW) return undefined;
		const { strict } = api.dialect.flavour.list;
		const start = await firstDocuments(api, retryingPages(request, this.#options.clock), datasetId, strict);
		const size = { asked: start.asked, total: start.first.total, came: start.first.items.length };
		const isEmpty = size.total === 0 && size.came === 0;
		if (!isEmpty && !isListingCheaper(rows, size)) return undefined;
		this.#options.onListing?.(datasetId, size.total ?? size.came);
		return this.#read(api, request, datasetId, start);
	}

	async #read(api: Api, request: Request, datasetId: string, start: FirstPage<Document>): Promise<Listed> {
		const names = await StoredNames.create(await this.#options.folder(), api.dialect.flavour.nameKey);
		this.#stored.push(names);
		let short: ShortList | undefined;
		const patient = retryingPages(request, this.#options.clock);
		const list = { order: api.dialect.flavour.list.strict, start };
		for await (const document of allDocuments(api, patient, datasetId, list, (found) => (short = found))) {
			await names.add(document);
		}
		await names.end();
		return { names, short };
	}
}
