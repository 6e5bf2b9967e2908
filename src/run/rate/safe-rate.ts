import { MAX_CONCURRENCY } from "./least-concurrency.ts";

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
