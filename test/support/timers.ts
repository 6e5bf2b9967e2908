import type { AppTimers } from "../../src/app.ts";

/** A wall clock that stands, and ticks that come when a test says so. */
export class GivenTimers implements AppTimers {
	readonly #calls = new Set<() => void>();
	now: Date;

	constructor(now: Date) {
		this.now = now;
	}

	readonly date = (): Date => this.now;

	readonly every = (_milliseconds: number, call: () => void): (() => void) => {
		this.#calls.add(call);
		return () => void this.#calls.delete(call);
	};

	/** A second has passed for all that is called at intervals. */
	tick(): void {
		for (const call of this.#calls) call();
	}
}
