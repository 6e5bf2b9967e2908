import { type Flavour, flavours } from "../../../src/rest/flavours.ts";
import type { Api, Document, DocumentQuery, Page } from "../../../src/rest/types.ts";
import { documentOf, fakeApi } from "../fake-api.ts";

/** A service's list of documents, and what is odd about it. */
export type OddList = {
	readonly documents: number;
	/** pages are cut to so many without a word; the start of a page is then counted in what was asked, or in what is given */
	readonly cap?: { readonly size: number; readonly startsBy: "asked" | "given" };
	/** what it claims, of what it would say and the page */
	readonly total?: (honest: number, query: DocumentQuery) => number | undefined;
	/** what it makes of the documents of a page */
	readonly page?: (documents: readonly Document[], query: DocumentQuery) => readonly Document[];
	/** throws where it refuses a query */
	readonly refuse?: (query: DocumentQuery) => void;
	/** which documents it has when it is asked for the nth time, from 1 */
	readonly has?: (document: Document, request: number) => boolean;
	/** which it filters out of a query */
	readonly filter?: (document: Document, query: DocumentQuery) => boolean;
	readonly flavour?: string;
};

/** That service, oldest first unless it is told otherwise. Writes down what it was asked. */
export function oddList(odd: OddList, asked: DocumentQuery[] = []): Api {
	const all = Array.from({ length: odd.documents }, (_, n) => documentOf(`${n}`, new Map([["n", n % 10]])));
	const flavour: Flavour | undefined = flavours.find(({ name }) => name === (odd.flavour ?? "ragflow-patch"));
	if (flavour === undefined) throw new Error(`there is no flavour ${odd.flavour}`);
	return fakeApi([], {
		dialect: { flavour, form: "json" },
		listDocuments: async (_, query): Promise<Page<Document>> => {
			asked.push(query);
			odd.refuse?.(query);
			const { has = () => true, filter = () => true } = odd;
			const held = all.filter((document) => has(document, asked.length) && filter(document, query));
			if (query.order?.descending === true) held.reverse();
			const wanted = query.pageSize ?? 30;
			const given = Math.min(wanted, odd.cap?.size ?? wanted);
			const start = (query.page - 1) * (odd.cap?.startsBy === "asked" ? wanted : given);
			const items = held.slice(start, start + given);
			return {
				items: odd.page?.(items, query) ?? items,
				total: odd.total === undefined ? held.length : odd.total(held.length, query),
			};
		},
	});
}
