import type { Operation } from "./operations/operation.ts";
import { type OpenRow, openRow } from "./attempts.ts";
import type { Work } from "./types.ts";

/** The most rows that are prepared ahead. Without a cap they last longer than the storage takes to sync their records. */
const MOST_AHEAD = 128;

/** The most rows that are prepared together: their records share one write. */
const TOGETHER = 32;

/** Seconds of a capped run that are prepared ahead. What is recorded long before it is sent is in doubt for long. */
const SECONDS_AHEAD = 0.01;

export type RowQueueOptions<Item extends Work> = {
	readonly operation: Operation<Item>;
	/** requests a second, undefined for no cap */
	readonly rate: () => number | undefined;
	/** called when rows may have become ready */
	readonly onReady: () => void;
};

/**
 * The rows that were read, in order. A few of them are prepared ahead, so that no place in flight waits for the storage
 * before it sends.
 */
export class RowQueue<Item extends Work> {
	readonly #options: RowQueueOptions<Item>;
	readonly #read: OpenRow<Item>[] = [];
	readonly #ready: OpenRow<Item>[] = [];
	#preparing = 0;

	constructor(options: RowQueueOptions<Item>) {
		this.#options = options;
	}

	/** rows that wait for an attempt */
	get length(): number {
		return this.#read.length + this.#preparing + this.#ready.length;
	}

	/** rows of which an attempt can begin now */
	get ready(): number {
		return this.#ready.length;
	}

	add(items: readonly Item[]): void {
		this.#options.operation.coming?.(items);
		for (const item of items) this.#read.push(openRow(item));
		this.#prepare();
	}

	/** A row that has waited for its next attempt. */
	addAgain(row: OpenRow<Item>): void {
		this.#ready.push(row);
		this.#options.onReady();
	}

	/** The next row; undefined while none is ready. */
	next(): OpenRow<Item> | undefined {
		const row = this.#ready.shift();
		if (this.#read.length > 0) this.#prepare();
		return row;
	}

	#prepare(): void {
		const most = this.#most;
		const together = Math.min(TOGETHER, most);
		while (this.#read.length > 0 && this.#ready.length + this.#preparing <= most - together) {
			this.#prepareTogether(this.#read.splice(0, together));
		}
	}

	get #most(): number {
		const { rate, operation } = this.#options;
		if (operation.ahead === undefined) return Number.POSITIVE_INFINITY;
		const cap = rate();
		return cap === undefined ? MOST_AHEAD : Math.max(1, Math.min(MOST_AHEAD, Math.floor(cap * SECONDS_AHEAD)));
	}

	#prepareTogether(rows: readonly OpenRow<Item>[]): void {
		const { ahead } = this.#options.operation;
		const waits = new Set<Promise<void>>();
		if (ahead !== undefined) {
			for (const { item, memory } of rows) {
				const wait = ahead(item, memory);
				if (wait !== undefined) waits.add(wait);
			}
		}
		if (waits.size === 0) return this.#areReady(rows);
		this.#preparing += rows.length;
		void Promise.allSettled(waits).then((ends) => {
			this.#preparing -= rows.length;
			// What is durable needs no second wait.
			if (ends.every(({ status }) => status === "fulfilled")) for (const { memory } of rows) memory.ahead = undefined;
			this.#areReady(rows);
			this.#prepare();
		});
	}

	#areReady(rows: readonly OpenRow<Item>[]): void {
		this.#ready.push(...rows);
		this.#options.onReady();
	}
}
