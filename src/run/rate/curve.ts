/**
 * How the rate rises after it was lowered, as TCP's CUBIC does (RFC 9438): quickly to a little under the ceiling, slowly past
 * it, then faster. The factor is per second cubed; a rate below `UNIT` rises as much more slowly.
 */
const CUBIC = 0.025;
const UNIT = 20;
const MOST_GROWTH = 2;

/** The lowest share of the rate that one event leaves. */
export const DEEPEST = 0.5;

/** How deep the rate is lowered for a queue: it empties, and half as much more, until the ceiling is reached again. */
const EMPTIES = 1.5;
const LEAST_CUT = 0.05;

/** The rate after a sign, and then: all but the last are requests a second, `climbed` is the seconds in which it was used. */
type Climb = { readonly ceiling: number; readonly low: number; readonly now: number; readonly climbed: number };

/** Requests a second after so many seconds without another sign. */
export function risen({ ceiling, low, now, climbed }: Climb): number {
	const unit = Math.max(1, UNIT / ceiling);
	const flat = Math.cbrt((ceiling - low) / (CUBIC * ceiling));
	const next = ceiling * (1 + CUBIC * (climbed / unit - flat) ** 3);
	return Math.max(now, Math.min(next, now * MOST_GROWTH));
}

/** The share that is left of a rate at which so many requests wait at the service. */
export function leftForQueue(queue: number, rate: number): number {
	return 1 - Math.min(DEEPEST, Math.max(LEAST_CUT, ((EMPTIES * queue) / rate) ** 0.75));
}

/** Requests that may always be in flight, so that a late timer holds none up; and where they are not paced. */
export const LEAST_PLACES = 8;
export const FREE_PLACES = 32;

/** Places besides rate × latency: the number in flight varies by its square root, and the next request is made meanwhile. */
const DEVIATIONS = 2;
const MORE_PLACES = 2;

/** Requests in flight for a rate a second at a latency in milliseconds. */
export function placesFor(rate: number, latency: number): number {
	const mean = (rate * latency) / 1000;
	return Math.ceil(mean + DEVIATIONS * Math.sqrt(mean)) + MORE_PLACES;
}

/** Requests a second: the lowest rate. */
export const FLOOR = 0.5;

/** Milliseconds for which a service may refuse everything for what came before, and requests a second that are sent then. */
const SECOND_MS = 1_000;
const PROBES = 5;

/** What of the rate is sent for a moment: little after a wait, and little to a service that refuses everything. */
export class HeldRate {
	/** the end of the last wait */
	#wait: number | undefined;
	/** since when everything is refused */
	#refused: number | undefined;

	/** Requests a second of those that the rate allows. */
	of(rate: number, now: number): number {
		if (this.#refused !== undefined) return Math.min(PROBES, rate);
		if (this.#wait === undefined) return rate;
		const share = shareAfterWait(now - this.#wait);
		if (share >= 1) this.#wait = undefined;
		return Math.max(Math.min(FLOOR, rate), rate * Math.min(1, share));
	}

	/** Nothing is sent until then. */
	until(at: number): void {
		this.#wait = Math.max(at, this.#wait ?? at);
	}

	/**
	 * Everything was refused lately. A service that counts by the second, or counts what it refuses, does so until its second
	 * is over.
	 *
	 * @returns whether that has lasted for longer, so that the rate must fall
	 */
	refusesAll(now: number): boolean {
		const since = (this.#refused ??= now);
		if (now - since < SECOND_MS) return false;
		this.#refused = now;
		return true;
	}

	/** A request that was sent at that time was answered. */
	answered(sent: number): void {
		if (this.#refused !== undefined && sent >= this.#refused) this.#refused = undefined;
	}
}

/** Share of the rate after a wait, doubled each second: the waiting requests must not all be sent at once. */
const RAMP = 0.25;
const RAMP_MS = 1_000;

/** The share of the rate so many milliseconds after a wait; 1 or more where it is over. */
function shareAfterWait(milliseconds: number): number {
	return RAMP * 2 ** Math.floor(Math.max(0, milliseconds) / RAMP_MS);
}
