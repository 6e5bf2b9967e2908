import type { Pace, SlowCause } from "../run/rate/pace.ts";
import { numberText } from "../text/words.ts";

/** Share of the cap below which a run names the cause of its speed. */
const FULL_SHARE = 0.9;

/** The shortest run, in seconds, whose rate is reported: a shorter one mostly starts up. */
const LEAST_SECONDS = 5;

/** Seconds from which a cause is named. */
const LEAST_CAUSE_SECONDS = 1;

/** Share of the time with all allowed requests in flight, from which they were the limit. Reading and recording take time, too. */
const SATURATED_SHARE = 1 / 3;

/**
 * The reason why a run was slower than its cap: `rate: 31 of 100 a second (waited 84 s for 429, outage 12 s)`.
 * Undefined where it went about as fast as it may, and where it was too short to say.
 *
 * @param cap requests a second; undefined for no cap
 */
export function paceText(pace: Pace, cap: number | undefined): string | undefined {
	const { requests, seconds, latency, concurrency, slow } = pace;
	if (cap === undefined || !isBelow(pace, cap)) return undefined;
	const causes = slow.filter((each) => each.cause !== "concurrency" && each.seconds >= LEAST_CAUSE_SECONDS);
	if (causes.length === 0 && (seconds < LEAST_SECONDS || requests < cap)) return undefined;
	const words = causes.map(causeText);
	if (slowCauses(pace, cap).some(({ cause }) => cause === "concurrency")) {
		words.push(`${concurrency} in flight at ${Math.round(latency)} ms each were the limit, not the rate`);
	} else if (words.length === 0) words.push(`a request took ${Math.round(latency)} ms`);
	return `rate: ${rateText(requests / seconds)} of ${rateText(cap)} a second (${words.join(", ")})`;
}

/** The causes that made a run slower. Requests in flight are one only where they, and not the rate, were the limit. */
export function slowCauses(pace: Pace, cap: number | undefined): readonly SlowCause[] {
	const { slow, seconds } = pace;
	const isLong = seconds >= LEAST_SECONDS && cap !== undefined && isBelow(pace, cap);
	return slow.filter((each) => each.cause !== "concurrency" || (isLong && each.seconds > SATURATED_SHARE * seconds));
}

function isBelow({ requests, seconds }: Pace, cap: number): boolean {
	return seconds > 0 && requests / seconds < FULL_SHARE * cap;
}

/** `waited 84 s for 429, outage 12 s`: what made a run slower. */
export function causesText(slow: readonly SlowCause[]): string {
	return slow.map(causeText).join(", ");
}

function causeText({ cause, seconds }: Pace["slow"][number]): string {
	const time = `${numberText(Math.round(seconds))} s`;
	if (cause === "outage" || cause === "paused") return `${cause} ${time}`;
	return cause === "slowed" ? `slowed for ${time}` : `waited ${time} for ${cause}`;
}

function rateText(rate: number): string {
	return rate < 10 ? numberText(Math.round(rate * 10) / 10) : numberText(Math.round(rate));
}
