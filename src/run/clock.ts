import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "./types.ts";

/** The longest wait of a timer, in milliseconds: a longer one fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's monotonic clock: a wall clock that jumps must neither shorten nor lengthen a wait. */
export const systemClock: Clock = {
	now: () => performance.now(),
	sleep: async (milliseconds, signal) => {
		for (let left = milliseconds; left > 0 && signal?.aborted !== true; left -= LONGEST_TIMER_MS) {
			const slice = Math.min(left, LONGEST_TIMER_MS);
			await wait(slice, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
		}
	},
	random: Math.random,
};
