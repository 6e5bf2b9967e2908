import type { Activity, WorkCount } from "../../activity.ts";
import type { RestError } from "../../rest/errors.ts";
import type { Page } from "../../rest/types.ts";
import type { Clock } from "../types.ts";

/** A failure in a few words: `connection refused`, `HTTP 502`, `timeout`. */
export function shortText({ code }: RestError): string {
	return code.startsWith("HTTP_") ? code.replace("_", " ") : code.toLowerCase().replaceAll("_", " ");
}

/** The list that a command reads, and how much of it came. */
type ListInFlight = {
	readonly what: string;
	/** when its first page was asked for, on the clock */
	readonly since: number;
	readonly count: WorkCount;
};

/** Counts the pages of lists. Several lists may be read at a time: the one that was asked for last is shown. */
export class ListsInFlight {
	readonly #clock: Pick<Clock, "now">;
	current: ListInFlight | undefined;
	/** pages that are on their way now */
	inFlight = 0;

	constructor(clock: Pick<Clock, "now">) {
		this.#clock = clock;
	}

	/** Asks for a page, from 1, and counts its entries. @param what is listed: `documents of DATASET` */
	async page<Listed extends Page<unknown>>(
		what: string,
		page: number,
		request: () => Promise<Listed>,
	): Promise<Listed> {
		// A list that begins anew is counted anew.
		if (what !== this.current?.what || page === 1) this.read(what, 0, undefined);
		this.inFlight += 1;
		try {
			const listed = await request();
			const { count } = this.current ?? {};
			if (count !== undefined && what === this.current?.what) {
				const done = count.done + listed.items.length;
				// Some servers answer with a total of 0 after the last page.
				this.read(what, done, (listed.total ?? 0) < done ? count.total : listed.total);
			}
			return listed;
		} finally {
			this.inFlight -= 1;
		}
	}

	/** So many entries of a list were read, on this machine or from the service. */
	read(what: string, done: number, total: number | undefined): void {
		const since = this.current?.what === what ? this.current.since : this.#clock.now();
		this.current = { what, since, count: { done, total } };
	}
}

/** What a run shows of work that settles no row yet: documents that the service parses, and bytes of files that moved. */
export class LiveCounts {
	/** the progress of each row's document, from 0 to 1 */
	readonly #shares = new Map<object, number>();
	#bytes = 0;
	/** bytes of all files of the run, where that is known */
	total: number | undefined;
	/** called when a document was seen at work, and when bytes moved */
	onChange: () => void = () => undefined;

	/** @param row what stands for the row: its memory */
	parsing(row: object, share: number): void {
		this.#shares.set(row, share);
		this.onChange();
	}

	/** Its document is at work no longer. */
	ended(row: object): void {
		this.#shares.delete(row);
	}

	/** Bytes of a file went out or came in. Those of an attempt that fails count as well. */
	moved(bytes: number): void {
		this.#bytes += bytes;
		this.onChange();
	}

	get shown(): Pick<Activity, "parsing" | "bytes" | "bytesTotal"> {
		const running = this.#shares.size;
		let share = 0;
		for (const each of this.#shares.values()) share += each;
		return {
			parsing: running === 0 ? undefined : { running, share },
			bytes: this.#bytes === 0 ? undefined : this.#bytes,
			// A file that was tried twice counts twice.
			bytesTotal: this.total === undefined ? undefined : Math.max(this.total, this.#bytes),
		};
	}
}
