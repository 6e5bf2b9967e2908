import type { Page } from "../../rest/types.ts";
import { isRefusal } from "./refusal.ts";

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
