import type { Page } from "../../rest/types.ts";

/** Pages of one list in flight at most. A page costs a server far more than an update, so more would slow it down. */
const MOST_IN_FLIGHT = 4;

/**
 * The pages of one list. Those that the list's total promises are asked for before they are needed, so that a list of many
 * pages does not wait for each of them in turn.
 *
 * It begins slowly: a caller who stops after the first pages has asked for hardly any in vain.
 */
export class PagesAhead<Item> {
	readonly #fetch: (page: number) => Promise<Page<Item>>;
	readonly #coming = new Map<number, Promise<Page<Item>>>();
	/** the last page that is known to exist; 0 where none is */
	#last = 0;

	/** @param fetch asks for one page, from 1 */
	constructor(fetch: (page: number) => Promise<Page<Item>>) {
		this.#fetch = fetch;
	}

	/** The last page that exists, by what the list says now. 0 where it is not known: then no page is asked for ahead. */
	set last(page: number) {
		this.#last = page;
	}

	/** The page of that number. Each is taken once, in order. */
	take(page: number): Promise<Page<Item>> {
		const answer = this.#coming.get(page) ?? this.#fetch(page);
		this.#coming.delete(page);
		const end = Math.min(this.#last, page + Math.min(MOST_IN_FLIGHT, page - 1) - 1);
		for (let next = page + 1; next <= end; next += 1) if (!this.#coming.has(next)) this.#ask(next);
		return answer;
	}

	#ask(page: number): void {
		const answer = this.#fetch(page);
		// `take` reports its failure. A list that ends before does not need the page.
		answer.catch(() => undefined);
		this.#coming.set(page, answer);
	}
}
