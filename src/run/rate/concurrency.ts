import { boundedBy, MAX_CONCURRENCY, newSearch, observe } from "./concurrency-search.ts";
import type { Answer } from "./concurrency-window.ts";

/** Reading requests in flight unless `--concurrency` is given: enough for the rate at the latency of a far service. */
export const READS_IN_FLIGHT = 32;

/** Requests in flight before the first latency is known: enough for a measurement, too few to overload a service. */
const INITIAL = 8;

/** Factor above rate × latency, for answers slower than the average, and standard deviations of a large number of requests. */
const HEADROOM = 1.5;
const DEVIATIONS = 3;

/** Rows that wait at the limiter besides those in flight, so that each token finds a row: the fewest, and milliseconds of them. */
const WAITING = 4;
/** Permits come in batches, 10 ms apart, and a record takes as long where a disk is slow. */
const WAITING_MS = 25;

/** Weight of the newest latency in the moving average. */
const WEIGHT = 0.1;

/** Rows in progress that a rate (requests a second) needs at a latency (milliseconds); at most `most`. */
export function concurrencyFor(rate: number, latency: number, most = MAX_CONCURRENCY): number {
	const mean = (rate * latency) / 1000;
	const waiting = Math.max(WAITING, (rate * WAITING_MS) / 1000);
	const needed = Math.ceil(Math.min(mean * HEADROOM, mean + DEVIATIONS * Math.sqrt(mean)) + waiting);
	return Math.min(most, Math.max(INITIAL, needed));
}

/** Share of its bound to which the need must fall before the search gets a lower one: latency varies. */
const KEPT = 0.7;

/** Answers after which the bound of the search follows the latency. */
const BOUND_EVERY = 16;

/**
 * `--concurrency auto`: the numbers of rows in progress and of requests in flight.
 *
 * A row also waits for the cap and for its records. So the rows are as many as the cap needs at the measured latency;
 * without a cap they are as many as allowed. The requests are the fewest that keep the throughput.
 *
 * At most 64 are in flight, unless the user asked for a rate that needs more at this latency. The search still goes there
 * only while more requests bring more, as latency also grows by a queue.
 */
export class AutoConcurrency {
	readonly #rate: () => number | undefined;
	readonly #lead: () => number;
	readonly #mostAsked: () => number;
	#latency: number | undefined;
	#search = newSearch();
	#untilBound = BOUND_EVERY;

	/**
	 * @param rate requests a second at most; undefined for no cap
	 * @param lead milliseconds that each request waits for its permit, besides the wait for the cap
	 * @param mostAsked requests in flight at most for the present rate; more than 64 only where the user asked for that rate
	 */
	constructor(
		rate: () => number | undefined,
		lead: () => number = () => 0,
		mostAsked: () => number = () => MAX_CONCURRENCY,
	) {
		this.#rate = rate;
		this.#lead = lead;
		this.#mostAsked = mostAsked;
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
		if ((this.#untilBound -= 1) === 0) this.#bind(this.#latency);
	}

	get rows(): number {
		const rate = this.#rate();
		if (rate === undefined) return MAX_CONCURRENCY;
		if (this.#latency === undefined) return INITIAL;
		return concurrencyFor(rate, this.#latency + this.#lead(), this.#mostAsked());
	}

	get requests(): number {
		// A request that waits for its permit is at no service yet, so the search does not see it.
		const waiting = Math.ceil(((this.#rate() ?? 0) * this.#lead()) / 1000);
		return Math.min(this.#search.most, this.#search.limit + waiting);
	}

	/** Bounds the search by what the present rate needs. */
	#bind(latency: number): void {
		this.#untilBound = BOUND_EVERY;
		const rate = this.#rate();
		const needed = rate === undefined ? MAX_CONCURRENCY : concurrencyFor(rate, latency, this.#mostAsked());
		const most = Math.max(MAX_CONCURRENCY, needed);
		const { most: bound } = this.#search;
		if (most > bound || most < KEPT * bound) this.#search = boundedBy(this.#search, most);
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
