/** Requests in flight at most, whatever the rate asks for. */
export const MAX_CONCURRENCY = 64;
/** Looks in flight, where nothing else is said: enough for the rate at the latency of a far service. */
export const LOOKS = 32;
/** In flight before the first latency is known: enough to learn it, too few to hurt. */
const INITIAL = 8;
/** Head-room over rate × latency, for answers slower than the average. */
const HEADROOM = 1.5;
/** Rows that wait at the limiter besides those on the wire, so that no token finds nobody. */
const WAITING = 4;
/** Weight of the newest latency in the moving average. */
const WEIGHT = 0.1;

/** How many requests a rate (a second) keeps in flight at a latency (milliseconds). */
export function concurrencyFor(rate: number, latency: number): number {
	const needed = Math.ceil(((rate * latency) / 1000) * HEADROOM) + WAITING;
	return Math.min(MAX_CONCURRENCY, Math.max(INITIAL, needed));
}

/** Follows the latency that is seen. `rate` undefined is no cap: all that is allowed. */
export class AutoConcurrency {
	readonly #rate: number | undefined;
	#latency: number | undefined;

	constructor(rate: number | undefined) {
		this.#rate = rate;
	}

	observe(milliseconds: number): void {
		this.#latency =
			this.#latency === undefined ? milliseconds : this.#latency + WEIGHT * (milliseconds - this.#latency);
	}

	get value(): number {
		if (this.#rate === undefined) return MAX_CONCURRENCY;
		return this.#latency === undefined ? INITIAL : concurrencyFor(this.#rate, this.#latency);
	}
}
