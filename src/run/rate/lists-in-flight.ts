import type { WorkCount } from "../../activity.ts";
import type { Clock } from "../types.ts";

/** The list that a command reads, and how much of it came. */
export type ListInFlight = {
	readonly what: string;
	readonly count: WorkCount | undefined;
	/** when its first page was asked for, on the clock */
	readonly since: number;
	/** whether a page is on its way now */
	readonly isInFlight: boolean;
};

type Page = { readonly items: readonly unknown[]; readonly total: number | undefined };

/** Counts the pages of lists. Several lists may be read at a time: the one that was asked for last is shown. */
export class ListsInFlight {
	readonly #clock: Pick<Clock, "now">;
	#what: string | undefined;
	#since = 0;
	#done = 0;
	#total: number | undefined;
	#inFlight = 0;

	constructor(clock: Pick<Clock, "now">) {
		this.#clock = clock;
	}

	/** Asks for a page, from 1, and counts its entries. @param what is listed: `documents of DATASET` */
	async page<Listed extends Page>(what: string, page: number, request: () => Promise<Listed>): Promise<Listed> {
		// A list that begins anew is counted anew.
		if (what !== this.#what || page === 1) this.read(what, 0, undefined);
		this.#inFlight += 1;
		try {
			const listed = await request();
			this.#add(what, listed);
			return listed;
		} finally {
			this.#inFlight -= 1;
		}
	}

	/** So many entries of a list were read, on this machine or from the service. */
	read(what: string, done: number, total: number | undefined): void {
		if (what !== this.#what) this.#since = this.#clock.now();
		this.#what = what;
		this.#done = done;
		this.#total = total;
	}

	forget(): void {
		this.#what = undefined;
	}

	get current(): ListInFlight | undefined {
		if (this.#what === undefined) return undefined;
		const count = this.#done === 0 ? undefined : { done: this.#done, total: this.#total };
		return { what: this.#what, count, since: this.#since, isInFlight: this.#inFlight > 0 };
	}

	#add(what: string, { items, total }: Page): void {
		if (what !== this.#what) return;
		this.#done += items.length;
		// Some servers answer with a total of 0 after the last page.
		this.#total = total === undefined || total < this.#done ? this.#total : total;
	}
}
