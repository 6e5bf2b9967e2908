import type { Clock } from "../types.ts";
import type { LoweredRate } from "./lowered-rate.ts";

/** How much of a late timer is made up for, in milliseconds: timers are no finer than one, and 1,000 a second need more. */
const SLACK = 5;

/** The longest wait before the rate is read again, in milliseconds: it rises meanwhile. */
const LOOK = 250;

/**
 * Spaces requests while the rate is lowered; lets them by untouched while it is not.
 *
 * It stands before the limiter, never after it. A request that waits here has no token yet. So the limiter still checks the
 * real times of sending when the rate is lifted and all waiting requests come at once.
 */
export class Brake {
	readonly #clock: Clock;
	readonly #lowered: LoweredRate;
	/** when the last request was due, which may be a little after it was let through */
	#due = Number.NEGATIVE_INFINITY;
	#door: Promise<void> = Promise.resolve();

	constructor(clock: Clock, lowered: LoweredRate) {
		this.#clock = clock;
		this.#lowered = lowered;
	}

	/** Resolves when a request may go on to the limiter; undefined where it may at once. Rejects when the signal aborts. */
	take(signal: AbortSignal): Promise<void> | undefined {
		if (this.#lowered.at(this.#clock.now()) === undefined) return undefined;
		const mine = this.#door.then(() => this.#pass(signal));
		this.#door = mine.catch(() => undefined);
		return mine;
	}

	async #pass(signal: AbortSignal): Promise<void> {
		for (;;) {
			signal.throwIfAborted();
			const now = this.#clock.now();
			const rate = this.#lowered.at(now);
			if (rate === undefined) return;
			const due = this.#due + 1000 / rate;
			const wait = due - SLACK - now;
			if (wait <= 0) {
				this.#due = Math.max(due, now - SLACK);
				return;
			}
			await this.#clock.sleep(Math.min(wait, LOOK), signal);
		}
	}
}
