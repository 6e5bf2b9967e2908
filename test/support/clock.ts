import { systemClock } from "../../src/run/clock.ts";
import type { Timers } from "../../src/io.ts";
import type { Clock } from "../../src/run/types.ts";

/** A clock whose long waits take no time: what a service does late is not seen by then. */
export const impatient: Clock = {
	...systemClock,
	sleep: (milliseconds, signal) => systemClock.sleep(milliseconds >= 900 ? 0 : milliseconds, signal),
};

/** A clock that skips long waits: by its hands they took their time. */
export function hurriedClock(): Clock {
	let skipped = 0;
	return {
		...systemClock,
		now: () => systemClock.now() + skipped,
		sleep: (milliseconds, signal) => {
			if (milliseconds < 100) return systemClock.sleep(milliseconds, signal);
			skipped += milliseconds;
			return systemClock.sleep(1, signal);
		},
	};
}

/** Timers of a progress whose lines are always due. */
export function hurriedTimers(): Timers {
	let now = 0;
	return {
		now: () => (now += 6000),
		date: () => new Date(),
		every: (_, call) => {
			const timer = setInterval(call, 1).unref();
			return () => clearInterval(timer);
		},
	};
}

/** How often a second of the program passes in one of the machine: with more, the machine's own pauses are slow answers. */
const TIMES = 4;

/** A clock that goes faster: waits take a quarter of their time. */
export const fastClock: Clock = {
	...systemClock,
	now: () => systemClock.now() * TIMES,
	sleep: (milliseconds, signal) => systemClock.sleep(milliseconds / TIMES, signal),
};
