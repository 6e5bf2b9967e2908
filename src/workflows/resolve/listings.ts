import { Claims } from "../../plan/resolve.ts";
import { Names } from "../../plan/names.ts";
import type { Api } from "../../rest/types.ts";
import { allDocuments, type Request, type ShortList } from "../../run/documents/pages.ts";
import { shortListError } from "../lists/short-list.ts";

/** The names of a dataset, and which rows its documents belong to. */
export type Listing = { readonly names: Names; readonly claims: Claims };

/**
 * The datasets of the rows, each listed once, when its first row comes.
 *
 * @throws CliError exit 1 where a list stays short: no name can be called unknown by it, nor the only one of its kind
 */
export class Listings {
	readonly #listings = new Map<string, Listing>();
	readonly #api: Api;
	readonly #request: Request;

	constructor(api: Api, request: Request) {
		this.#api = api;
		this.#request = request;
	}

	async of(dataset: string): Promise<Listing> {
		const known = this.#listings.get(dataset);
		if (known !== undefined) return known;
		let short: ShortList | undefined;
		const listing = { names: new Names(), claims: new Claims() };
		for await (const document of allDocuments(this.#api, this.#request, dataset, {}, (list) => (short = list))) {
			listing.names.add(document);
		}
		if (short !== undefined) throw shortListError(dataset, short, "nothing was printed, as the list of its names");
		this.#listings.set(dataset, listing);
		return listing;
	}
}
