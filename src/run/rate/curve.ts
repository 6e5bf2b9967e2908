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
