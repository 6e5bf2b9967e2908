import { type Answer, MAX_CONCURRENCY, newSearch, observe } from "./concurrency-search.ts";

/** Reading requests in flight unless `--concurrency` is given: enough for the rate at the latency of a far service. */
export const READS_IN_FLIGHT = 32;

/** Requests in flight before the first latency is known: enough for a measurement, too few to overload a service. */
const INITIAL = 8;

/** Factor above rate × latency, for answers slower than the average. */
const HEADROOM = 1.5;

/** Rows that wait at the limiter besides those in flight, so that each token finds a row. */
const WAITING = 4;

/** Weight of the newest latency in the moving average. */
const WEIGHT = 0.1;

/** Rows in progress that a rate (requests a second) needs at a latency (milliseconds). */
export function concurrencyFor(rate: number, latency: number): number {
	const needed = Math.ceil(((rate * latency) / 1000) * HEADROOM) + WAITING;
	return Math.min(MAX_CONCURRENCY, Math.max(INITIAL, needed));
}

/**
 * `--concurrency auto`: the numbers of rows in progress and of requests in flight.
 *
 * A row also waits for the cap and for its records. So the rows are as many as the cap needs at the measured latency;
 * without a cap they are as many as allowed. The requests are the fewest that keep the throughput.
 */
export class AutoConcurrency {
	readonly #rate: () => number | undefined;
	#latency: number | undefined;
	#search = newSearch();

	/** @param rate requests a second at most; undefined for no cap */
	constructor(rate: () => number | undefined) {
		this.#rate = rate;
	}

	observe(answer: Answer): void {
		const milliseconds = answer.came - answer.sent;
		// The cap gives the number that is needed, so a far service needs no seconds of doubling.
		if (this.#latency === undefined) {
			const rate = this.#rate();
			if (rate !== undefined) this.#search = newSearch(concurrencyFor(rate, milliseconds));
		}
		this.#latency =
			this.#latency === undefined ? milliseconds : this.#latency + WEIGHT * (milliseconds - this.#latency);
		this.#search = observe(this.#search, answer);
	}

	get rows(): number {
		const rate = this.#rate();
		if (rate === undefined) return MAX_CONCURRENCY;
		return this.#latency === undefined ? INITIAL : concurrencyFor(rate, this.#latency);
	}

	get requests(): number {
		return this.#search.limit;
	}
}

/** Requests a second that the service's documentation advises. */
export const ADVISED_RATE = 100;

/**
 * The most requests a second that a service can be asked to take at a latency (milliseconds).
 *
 * A higher rate can't be reached: `MAX_CONCURRENCY` requests are in flight at most, and each takes `latency`.
 */
export function safeRate(latency: number): number {
	if (latency <= 0) return ADVISED_RATE;
	return Math.max(1, Math.min(ADVISED_RATE, Math.floor(MAX_CONCURRENCY / (latency / 1000))));
}
