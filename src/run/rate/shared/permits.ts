import type { Sent } from "./script.ts";

/** The right to send one request under a shared cap. Exactly one of `used` and `drop` is called. */
export type SharedPermit = {
	/** whether it may still be used; a permit that is too old needs a new one */
	isGood(): boolean;
	/** the request is sent now */
	used(): void;
	/** no request is sent */
	drop(): void;
};

/** The permits of one answer of Redis, which are good for the same time. Times are in milliseconds on the clock. */
export class Batch {
	readonly #permit: string;
	readonly #until: number;
	readonly #now: () => number;
	readonly #onSettled: (batch: Batch) => void;
	#open: number;
	#sent = 0;
	#last = Number.NEGATIVE_INFINITY;

	constructor(
		permit: { readonly name: string; readonly count: number; readonly until: number },
		now: () => number,
		onSettled: (batch: Batch) => void,
	) {
		this.#permit = permit.name;
		this.#open = permit.count;
		this.#until = permit.until;
		this.#now = now;
		this.#onSettled = onSettled;
	}

	/** One of its permits. */
	one(): SharedPermit {
		return {
			isGood: () => this.#now() < this.#until,
			used: () => {
				this.#sent += 1;
				this.drop(1);
			},
			drop: () => this.drop(1),
		};
	}

	/** So many of its permits are used up or not needed. */
	drop(count: number): void {
		this.#open -= count;
		if (this.#open > 0) return;
		if (this.#sent === 0) {
			this.#onSettled(this);
			return;
		}
		// By then the bytes of its last request are written, over a new connection too: that is made in the turn between the two.
		// On a busy machine it takes tens of milliseconds.
		setImmediate(() =>
			setImmediate(() => {
				this.#last = this.#now();
				this.#onSettled(this);
			}),
		);
	}

	/** What Redis learns of it. */
	report(now: number): Sent {
		return { permit: this.#permit, count: this.#sent, age: this.#sent === 0 ? 0 : now - this.#last };
	}
}

/** Milliseconds: the window, and the time in which requests are reported as one. */
const WINDOW_MS = 1000;
const TOGETHER_MS = 10;

/** The requests of the last second that were sent without a permit of Redis. */
export class Unshared {
	#groups: { readonly first: number; last: number; count: number }[] = [];

	sent(now: number): void {
		const latest = this.#groups.at(-1);
		if (latest !== undefined && now - latest.first < TOGETHER_MS) {
			latest.last = now;
			latest.count += 1;
			return;
		}
		this.#forget(now);
		this.#groups.push({ first: now, last: now, count: 1 });
	}

	/** What Redis learns of them. Each is reported once. */
	take(now: number): Sent[] {
		this.#forget(now);
		return this.#groups.splice(0).map(({ last, count }) => ({ permit: "", count, age: now - last }));
	}

	#forget(now: number): void {
		while ((this.#groups[0]?.last ?? now) <= now - WINDOW_MS) this.#groups.shift();
	}
}
