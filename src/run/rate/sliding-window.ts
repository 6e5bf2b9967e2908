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

	/**
	 * At most `count` sends in any `window` milliseconds.
	 *
	 * @param before the window of the previous rate: its last sends count here too
	 */
	constructor(count: number, window: number, before?: SlidingWindow) {
		this.#times = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
		this.#window = window;
		const kept = before === undefined ? [] : before.#latest(count);
		this.#times.set(kept, count - kept.length);
	}

	/** The times of the last sends, at most so many, the oldest first. */
	#latest(count: number): Float64Array {
		const times = this.#times;
		const oldestFirst = new Float64Array(times.length);
		oldestFirst.set(times.subarray(this.#next));
		oldestFirst.set(times.subarray(0, this.#next), times.length - this.#next);
		return oldestFirst.subarray(Math.max(0, times.length - count));
	}

	/** Milliseconds until one more send is allowed; 0 where it is allowed now. */
	delay(now: number): number {
		const oldest = this.#times[this.#next] ?? Number.NEGATIVE_INFINITY;
		return Math.max(0, oldest + this.#window - now);
	}

	/** One more send, at its turn. */
	sent(now: number): void {
		this.#times[this.#next] = now;
		this.#next = (this.#next + 1) % this.#times.length;
	}
}
