import type { Recorded } from "./types.ts";

/**
 * The most outcomes that are written and not durable: a loss of power leaves these rows in doubt, besides those in flight.
 * At 30,000 rows a second they are 4 ms, in which a storage syncs once or twice.
 */
const MOST_UNSETTLED = 128;

/** Outcomes that become durable together. */
type UnsettledGroup = { readonly recorded: Recorded; readonly done: Promise<void>; rows: number };

/** Counts the outcomes that are written and not durable. */
export class Unsettled {
	readonly #onSettled: (rows: number) => void;
	readonly #onFault: (fault: unknown) => void;
	readonly #progress: (() => void) | undefined;
	#count = 0;
	#group: UnsettledGroup | undefined;

	constructor(
		onSettled: (rows: number) => void,
		onFault: (fault: unknown) => void,
		progress: (() => void) | undefined,
	) {
		this.#onSettled = onSettled;
		this.#onFault = onFault;
		this.#progress = progress;
	}

	/** @returns what the row must wait for where too many are not durable; it never rejects */
	add(recorded: Recorded): Promise<void> | undefined {
		this.#count += 1;
		const group = this.#group?.recorded === recorded ? this.#group : this.#begin(recorded);
		group.rows += 1;
		return this.#count > MOST_UNSETTLED ? group.done : undefined;
	}

	#begin(recorded: Recorded): UnsettledGroup {
		const done = recorded.settled.then(() => this.#progress?.(), this.#onFault).then(() => this.#end(group));
		const group: UnsettledGroup = { recorded, done, rows: 0 };
		this.#group = group;
		return group;
	}

	#end({ rows }: { readonly rows: number }): void {
		this.#count -= rows;
		this.#onSettled(rows);
	}
}
