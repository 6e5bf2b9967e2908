import { systemClock } from "../../src/run/clock.ts";
import type { Clock } from "../../src/run/types.ts";

/** A clock whose long waits take no time: what a service does late is not seen by then. */
export const impatient: Clock = {
	...systemClock,
	sleep: (milliseconds, signal) => systemClock.sleep(milliseconds >= 900 ? 0 : milliseconds, signal),
};
