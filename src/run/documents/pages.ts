import { RestError } from "../../rest/errors.ts";
import type { Dataset, Api, Page } from "../../rest/types.ts";
import type { Request } from "../types.ts";
import { SeenIds } from "./seen-ids.ts";

/** How many times what a list claims it may show, and how many entries beyond that: it may grow while it is read. */
export const CLAIM_TIMES = 2;
export const CLAIM_SLACK = 1_000;

/** Entries that a list may show which claims nothing: twice as many as any dataset is known to have. */
export const MOST_UNCLAIMED = 2_000_000;

export type WalkOptions<Item> = {
	/** entries asked for in one page; undefined leaves it to the service */
	readonly asked?: number | undefined;
	/** the first page, where it was read already */
	readonly first?: Page<Item> | undefined;
	/** ids that earlier walks of the same list have shown: these are counted, and not given again */
	readonly ids?: SeenIds;
};

/** What a walk through the pages of a list came to. */
export type Walked = {
	/** entries that it showed, each counted once */
	readonly count: number;
	/** what the list claimed at last; undefined where it claims nothing */
	readonly total: number | undefined;
	/** whether entries went away meanwhile: those behind them moved up, and some were passed over */
	readonly shrank: boolean;
	/** entries of the largest page */
	readonly largest: number;
	/** whether it went on far beyond what the list claimed, and was left: such pages may never end */
	readonly endless: boolean;
	/** what the service said where it refused a page, and so ended the walk */
	readonly refused: Error | undefined;
};

/**
 * Walks through the pages of one list, each entry once. `count` in the result includes entries that an earlier walk gave.
 *
 * The end is an empty page or a page that brings nothing new: `total` can be wrong, pages can be short, and a service
 * that ignores `page` would otherwise be read for ever. One that makes up entries is left where it has shown far more than
 * it claims.
 */
export async function* walk<Item extends { readonly id: string }>(
	fetchPage: (page: number) => Promise<Page<Item>>,
	{ asked, first, ids = new SeenIds() }: WalkOptions<Item> = {},
): AsyncGenerator<Item, Walked> {
	ids.beginPass();
	let count = 0;
	let total: number | undefined;
	let shrank = false;
	let largest = 0;
	let claimed: number | undefined;
	const end = (refused?: Error, endless = false): Walked => ({
		count,
		total,
		shrank,
		largest,
		endless,
		refused,
	});
	for (let number = 1; ; number += 1) {
		let page: Page<Item>;
		try {
			page = number === 1 && first !== undefined ? first : await fetchPage(number);
		} catch (error) {
			if (!isRefusal(error)) throw error;
			return end(error);
		}
		// Behind the end some servers count nothing, and say so.
		if (page.total !== undefined && (number === 1 || page.items.length > 0)) {
			// A total below what was seen is no count of the list, and its falling says nothing.
			shrank ||= total !== undefined && total >= count && page.total < total;
			total = page.total;
			// A total below what its own page shows claims nothing.
			if (total >= page.items.length) claimed = Math.max(claimed ?? 0, total);
		}
		const before = count;
		for (const item of page.items) {
			const known = ids.add(item.id);
			if (known === "repeated") continue;
			count += 1;
			if (known === "new") yield item;
		}
		if (count === before) return end();
		// A short last page is the end only where the service has shown that it gives whole ones.
		if (count === total && largest === asked && page.items.length < largest) return end();
		largest = Math.max(largest, page.items.length);
		const most = claimed === undefined ? MOST_UNCLAIMED : claimed * CLAIM_TIMES + CLAIM_SLACK;
		if (count > most) return end(undefined, true);
	}
}

/** Whether a walk has shown all that there is, by the list's own account. */
export function isWhole({ count, total, shrank, refused, endless }: Walked): boolean {
	return refused === undefined && !shrank && !endless && count >= (total ?? 0);
}

/** All entries of a list, each once, to an empty page or one that brings nothing new. */
export async function* allPages<Item extends { readonly id: string }>(
	fetchPage: (page: number) => Promise<Page<Item>>,
): AsyncGenerator<Item> {
	const { refused, endless, count, total } = yield* walk(fetchPage);
	if (refused !== undefined) throw refused;
	if (!endless) return;
	const text = `the list of the service claims ${total ?? "no number of"} entries and showed ${count}: it may never end`;
	throw new RestError(text, { kind: "rejected", code: "INCOMPLETE_LIST" });
}

export function allDatasets(api: Api, request: Request): AsyncGenerator<Dataset> {
	return allPages((page) => request(() => api.listDatasets({ page, pageSize: PAGE_SIZE })));
}

/** Entries asked for in one page: releases of the server differ, and 100 is the most that nearly all of them take. */
export const PAGE_SIZE = 100;

/** Entries that no service refuses to give in one page: the smallest bound that a server is known to have. */
export const SMALL_PAGE = 10;

/** What is asked for where the size before it was refused; at last the service has its own way. */
const smaller: readonly (number | undefined)[] = [30, SMALL_PAGE, undefined];

/** The first page of a list, and the size that the service takes. */
export type FirstPage<Item> = { readonly asked: number | undefined; readonly first: Page<Item> };

/** Reads the first page in the largest size that the service takes. Where it takes none, its first word stands. */
export async function firstPage<Item>(
	fetchPage: (pageSize: number | undefined) => Promise<Page<Item>>,
): Promise<FirstPage<Item>> {
	try {
		return { asked: PAGE_SIZE, first: await fetchPage(PAGE_SIZE) };
	} catch (error) {
		if (!isRefusal(error)) throw error;
		for (const asked of smaller) {
			try {
				return { asked, first: await fetchPage(asked) };
			} catch (again) {
				if (!isRefusal(again)) throw again;
			}
		}
		throw error;
	}
}

/** What the service answered, also where a request has made an error for the person at the terminal of it. */
export function answerOf(error: unknown): RestError | undefined {
	if (error instanceof RestError) return error;
	return error instanceof Error && error.cause instanceof RestError ? error.cause : undefined;
}

/** Whether the service takes offence at how it was asked: another size, order or filter may be taken. */
export function isRefusal(error: unknown): error is Error {
	const answer = answerOf(error);
	if (answer === undefined || ["NOT_FOUND", "FORBIDDEN", "OTHER_CASE"].includes(answer.code)) return false;
	return answer.kind === "rejected" || answer.kind === "contradiction";
}
