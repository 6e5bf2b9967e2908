import type { Clock } from "../types.ts";

/**
 * Ends an attempt of a row whose outcome is not known yet, as its request may still be processed. The row did not fail,
 * and the attempt does not count.
 */
export class RetryLater extends Error {
	/** before the next attempt, in milliseconds */
	readonly wait: number;

	constructor(wait: number) {
		super(`to be attempted again in ${wait} ms`);
		this.wait = wait;
	}
}

/** Waits before each read-back of a write, in milliseconds: a list may show a write later than it was applied. */
export const READ_BACK_DELAYS_MS: readonly number[] = [0, 250, 1_000, 2_000];

/** The longest time for which a list may show the state before a write, in milliseconds: the sum of these waits. */
export const LONGEST_READ_BACK_MS = READ_BACK_DELAYS_MS.reduce((sum, delay) => sum + delay, 0);

type ReadBackOptions = {
	readonly clock: Clock;
	/** the wait before each read, in milliseconds */
	readonly delays?: readonly number[];
	/** ends a wait */
	readonly signal?: AbortSignal;
};

/** Reads until the change is visible, once after each delay. Resolves with whether it became visible. */
export async function readBack(
	isShown: () => Promise<boolean>,
	{ clock, delays = READ_BACK_DELAYS_MS, signal }: ReadBackOptions,
): Promise<boolean> {
	for (const delay of delays) {
		await clock.sleep(delay, signal);
		if (await isShown()) return true;
	}
	return false;
}
