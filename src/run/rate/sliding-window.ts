/**
 * The times of the last sends that really happened, and how long the next must wait.
 *
 * A limiter that only spaces by timers lets 102 to 107 requests into a second after the machine has stalled. One that
 * checks the real times of sending does not.
 */
export class SlidingWindow {
	readonly #times: Float64Array;
	readonly #window: number;
	#next = 0;

	/** At most `count` sends in any `window` milliseconds. */
	constructor(count: number, window: number) {
		this.#times = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
		this.#window = window;
	}

	/** Milliseconds until one more send is allowed; 0 where it is allowed now. */
	delay(now: number): number {
		const oldest = this.#times[this.#next] ?? Number.NEGATIVE_INFINITY;
		return Math.max(0, oldest + this.#window - now);
	}

	sent(now: number): void {
		this.#times[this.#next] = now;
		this.#next = (this.#next + 1) % this.#times.length;
	}
}
