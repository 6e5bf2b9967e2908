import { systemClock } from "../../src/run/clock.ts";
import { RateLimiter } from "../../src/run/rate/limiter.ts";
import { RateControl } from "../../src/run/rate/rate-control.ts";
import { RunMonitor } from "../../src/run/rate/run-monitor.ts";
import type { FakeClock } from "./fake-clock.ts";

/** A limiter without a cap. */
export const unlimited = new RateLimiter(undefined, systemClock);

export type TestLimiter = Pick<RateLimiter, "take">;

/**
 * The pace of a session, by a clock of its own. The cap is no part of most tests: without it the time of a run is that of its
 * requests.
 *
 * @param rate requests a second that its controller knows as the cap
 */
export function ratesOf(clock: FakeClock, rate?: number, limiter?: TestLimiter): RateControl {
	const monitor = new RunMonitor(clock);
	const date = (): Date => new Date();
	const rates = new RateControl({ setting: rate ?? "unlimited", clock, date, monitor });
	rates.limiter.close();
	const pace = (): number | undefined => (rate === undefined ? undefined : rates.controller.pace(clock.now()));
	return Object.assign(rates, { limiter: limiter ?? new RateLimiter(undefined, clock, pace) });
}

export function countingLimiter(): TestLimiter & { taken: number } {
	return {
		taken: 0,
		async take(signal) {
			await unlimited.take(signal);
			this.taken += 1;
		},
	};
}
