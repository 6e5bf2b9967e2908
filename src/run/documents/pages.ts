import { PROXY_REFUSED, RestError } from "../../rest/errors.ts";
import type { Api, Dataset, Page } from "../../rest/types.ts";
import { restErrorOf } from "../retry/request.ts";
import type { Request } from "../types.ts";
import { SeenIds } from "./id-table.ts";

/** Entries asked for in one page: releases of the server differ, and 100 is the most that nearly all of them take. */
export const PAGE_SIZE = 100;

/** Entries that every service gives in one page: the smallest bound that a server is known to have. */
export const SMALL_PAGE = 10;

/** Page sizes, each after the one before was refused; undefined leaves the size to the service. */
const PAGE_SIZES: readonly (number | undefined)[] = [PAGE_SIZE, 30, SMALL_PAGE, undefined];

/** The multiple of its first total that a list may show, and the entries beyond that: it may grow while it is read. */
const CLAIM_TIMES = 2;
const CLAIM_SLACK = 100_000;

/** Entries that a list without a total may show: twice as many as any dataset is known to have. */
const MOST_UNCLAIMED = 2_000_000;

/** Pages of one list in flight at most. A page costs a server far more than an update, so more would slow it down. */
const MOST_IN_FLIGHT = 4;

/** All datasets, each once, to an empty page or one without new entries. */
export async function* allDatasets(api: Api, request: Request): AsyncGenerator<Dataset> {
	const { countsAll } = api.dialect.flavour.list;
	const fetchPage = (page: number): Promise<Page<Dataset>> =>
		request(() => api.listDatasets({ page, pageSize: PAGE_SIZE }));
	const { refused, endless, count, total } = yield* entriesOf(walk(fetchPage, { asked: PAGE_SIZE, countsAll }));
	if (refused !== undefined) throw refused;
	if (!endless) return;
	const text = `the list of the service claims ${total ?? "no number of"} entries and showed ${count}: it may never end`;
	throw new RestError(text, { kind: "rejected", code: "INCOMPLETE_LIST" });
}

type WalkOptions<Item> = {
	/** entries asked for in one page; undefined leaves it to the service */
	readonly asked?: number | undefined;
	/** the first page, where it was read already */
	readonly first?: Page<Item> | undefined;
	/** ids that earlier walks of the same list have shown: their entries are counted, and not yielded again */
	readonly ids?: SeenIds;
	/** whether the total counts every entry of the list, as `Flavour` says */
	readonly countsAll?: boolean;
};

/** The result of a walk through the pages of a list. */
type WalkResult = {
	/** entries that it showed, each counted once */
	readonly count: number;
	/** the last total of the list; undefined where it gives none */
	readonly total: number | undefined;
	/** whether entries were removed meanwhile: the entries after them moved up, and some were skipped */
	readonly shrank: boolean;
	/** entries of the largest page */
	readonly largest: number;
	/** whether the walk stopped because the list showed far more than its total: such pages may never end */
	readonly endless: boolean;
	/** the refusal of a page, which ended the walk */
	readonly refused: Error | undefined;
};

/** The entries of pages, one after another. An `await` an entry costs more than the entry, so long lists are read by the page. */
export async function* entriesOf<Item, Result>(
	pages: AsyncGenerator<readonly Item[], Result>,
): AsyncGenerator<Item, Result> {
	for (;;) {
		const { done, value } = await pages.next();
		if (done === true) return value;
		for (const item of value) yield item;
	}
}

/**
 * Walks through the pages of one list, each entry once: it yields the entries of a page that no walk has yielded. `count` in
 * the result includes entries that an earlier walk yielded.
 *
 * The end is an empty page or a page without new entries. A total can be wrong, pages can be short, and a service that
 * ignores `page` would otherwise be read without end. Only where the flavour's totals count every entry is the list over when
 * it has shown so many. The walk also stops where a list shows far more than its first total.
 */
export async function* walk<Item extends { readonly id: string }>(
	fetchPage: (page: number) => Promise<Page<Item>>,
	{ asked, first, ids = new SeenIds(), countsAll = false }: WalkOptions<Item> = {},
): AsyncGenerator<readonly Item[], WalkResult> {
	ids.beginPass();
	let count = 0;
	let total: number | undefined;
	let shrank = false;
	let largest = 0;
	let claimed: number | undefined;
	const take = pagesAhead(fetchPage);
	/** the last page that is known to exist; 0 where none is */
	let last = 0;
	const end = (refused?: Error, endless = false): WalkResult => ({ count, total, shrank, largest, endless, refused });
	for (let number = 1; ; number += 1) {
		let page: Page<Item>;
		try {
			page = number === 1 && first !== undefined ? first : await take(number, last);
		} catch (error) {
			if (!isRefusal(error)) throw error;
			return end(error);
		}
		// After the last page some servers answer with a total of 0.
		if (page.total !== undefined && (number === 1 || page.items.length > 0)) {
			// A total below the entries that were shown counts something else, so its fall means nothing.
			shrank ||= total !== undefined && total >= count && page.total < total;
			total = page.total;
			// Later totals may grow with every page, without end.
			if (total >= page.items.length) claimed ??= total;
		}
		const before = count;
		const found: Item[] = [];
		for (const item of page.items) {
			const known = ids.add(item.id);
			if (known === "repeated") continue;
			count += 1;
			if (known === "new") found.push(item);
		}
		if (found.length > 0) yield found;
		if (count === before) return end();
		const isShort = asked !== undefined && page.items.length < asked;
		// A short last page is the end only where the service is known, or has shown, to give whole ones.
		if (count === total && isShort && (countsAll || largest === asked)) return end();
		// A total of one whole page may count that page alone, as in RAGFlow v0.13 to v0.15.
		if (count === total && countsAll && number > 1) return end();
		const isWhole = page.items.length === asked && (number === 1 || largest === asked);
		last = isWhole && total !== undefined ? Math.ceil(total / asked) : 0;
		largest = Math.max(largest, page.items.length);
		const most = claimed === undefined ? MOST_UNCLAIMED : claimed * CLAIM_TIMES + CLAIM_SLACK;
		if (count > most) return end(undefined, true);
	}
}

/**
 * Takes the pages of one list, in order. Those up to `last`, which the list's total promises, are asked for before they are
 * needed, so that a list of many pages does not wait for each of them in turn.
 *
 * It begins slowly: a caller who stops after the first pages has asked for hardly any in vain.
 */
function pagesAhead<Answer>(fetch: (page: number) => Promise<Answer>): (page: number, last: number) => Promise<Answer> {
	const coming = new Map<number, Promise<Answer>>();
	return (page, last) => {
		const answer = coming.get(page) ?? fetch(page);
		coming.delete(page);
		const end = Math.min(last, page + Math.min(MOST_IN_FLIGHT, page - 1) - 1);
		for (let next = page + 1; next <= end; next += 1) {
			if (coming.has(next)) continue;
			const ahead = fetch(next);
			// Its failure is reported where it is taken. A list that ends before does not need it.
			ahead.catch(() => undefined);
			coming.set(next, ahead);
		}
		return answer;
	};
}

/** Whether a walk has shown as many entries as the list's total. */
export function isWhole({ count, total, shrank, refused, endless }: WalkResult): boolean {
	return refused === undefined && !shrank && !endless && count >= (total ?? 0);
}

/** The first page of a list, and the size that the service takes. */
export type FirstPage<Item> = { readonly asked: number | undefined; readonly first: Page<Item> };

/** Reads the first page in the largest size that the service takes. @throws the first refusal where it takes none */
export async function firstPage<Item>(
	fetchPage: (pageSize: number | undefined) => Promise<Page<Item>>,
): Promise<FirstPage<Item>> {
	let refusal: unknown;
	for (const asked of PAGE_SIZES) {
		try {
			return { asked, first: await fetchPage(asked) };
		} catch (error) {
			if (!isRefusal(error)) throw error;
			refusal ??= error;
		}
	}
	throw refusal;
}

/** Codes of refusals that another form of the request would get, too. */
const OTHER_REFUSALS: ReadonlySet<string> = new Set(["NOT_FOUND", "FORBIDDEN", PROXY_REFUSED, "OTHER_CASE"]);

/** Whether the service refused a request for a list: it may take another size, order or filter. */
export function isRefusal(error: unknown): error is Error {
	const answer = restErrorOf(error);
	return answer?.isRefusal === true && !OTHER_REFUSALS.has(answer.code);
}
