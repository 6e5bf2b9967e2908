import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "./types.ts";

/** The machine's monotonic clock: a wall clock that jumps must neither shorten nor lengthen a wait. */
export const systemClock: Clock = {
	now: () => performance.now(),
	sleep: async (milliseconds, signal) => {
		if (milliseconds <= 0 || signal?.aborted === true) return;
		await wait(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
	},
	random: Math.random,
};
