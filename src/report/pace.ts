import type { Adjustment } from "../run/rate/rate-control.ts";
import type { FoundRate } from "../run/rate/found-rate.ts";
import type { Pace, SlowCause } from "../run/rate/slow-seconds.ts";
import { localTimeText, numberText } from "../text/words.ts";

/** Share of the cap below which a run names the cause of its speed. */
const FULL_SHARE = 0.9;

/** The shortest run, in seconds, whose rate is reported: a shorter one mostly starts up. */
const LEAST_SECONDS = 5;

/** Seconds from which a cause is named. */
const LEAST_CAUSE_SECONDS = 1;

/**
 * The reason why a run was slower than it may be: `rate: 31 of 100 a second (waited 84 s for 429, outage 12 s)`. Undefined
 * where it went about as fast as its cap, and where it was too short to say.
 */
export function paceText(pace: Pace): string | undefined {
	const { requests, seconds, latency, concurrency, cap } = pace;
	if (seconds <= 0 || (cap !== undefined && requests / seconds >= FULL_SHARE * cap)) return undefined;
	const isShort = seconds < LEAST_SECONDS || (cap !== undefined && requests < cap);
	const words = slowCauses(pace)
		.filter((each) => each.seconds >= LEAST_CAUSE_SECONDS)
		.map((each) => {
			if (each.cause !== "concurrency") return causeText(each);
			return `${concurrency} in flight at ${Math.round(latency)} ms each for ${secondsText(each.seconds)}`;
		});
	if (words.length === 0 && (isShort || cap === undefined)) return undefined;
	const why = words.length === 0 ? `a request took ${Math.round(latency)} ms` : words.join(", ");
	const of = cap === undefined ? "" : ` of ${rateText(cap)}`;
	return `rate: ${rateText(requests / seconds)}${of} a second (${why})`;
}

/** The causes that made a run slower. A cause in the run itself, and not in the service, counts only in a long run. */
export function slowCauses({ slow, seconds, requests, cap }: Pace): readonly SlowCause[] {
	const isLong = seconds >= LEAST_SECONDS && (cap === undefined || requests / seconds < FULL_SHARE * cap);
	return slow.filter(({ cause }) => isLong || (cause !== "concurrency" && cause !== "rows"));
}

/** `waited 84 s for 429, outage 12 s`: what made a run slower. */
export function causesText(slow: readonly SlowCause[]): string {
	return slow.map(causeText).join(", ");
}

function causeText({ cause, seconds }: SlowCause): string {
	const time = secondsText(seconds);
	if (cause === "outage" || cause === "paused") return `${cause} ${time}`;
	if (cause === "concurrency") return `answers took long for ${time}`;
	if (cause === "rows") return `rows came no faster for ${time}`;
	return cause === "slowed" ? `slowed for ${time}` : `waited ${time} for ${cause}`;
}

function secondsText(seconds: number): string {
	return `${numberText(Math.round(seconds))} s`;
}

function rateText(rate: number): string {
	return rate < 10 ? numberText(Math.round(rate * 10) / 10) : numberText(Math.round(rate));
}

/** The last changes are named, and those before them counted. */
const NAMED = 5;

/** A change in the `--json` summary: a rate, or whether the run is paused from then on. */
export function adjustedLine(change: Adjustment) {
	const [time, { by }] = [change.time.toISOString(), change];
	return change.kind === "rate" ? { time, rate: change.to, by } : { time, paused: change.kind === "paused", by };
}

/** `rate changed: 100 → 20 at 22:14 (runs adjust)`, in local time. */
export function adjustedText(change: Adjustment): string {
	const what = change.kind === "rate" ? `rate changed: ${change.from} → ${change.to}` : change.kind;
	const [, clock] = localTimeText(change.time).split(" ");
	return `${what} at ${clock} (${change.by})`;
}

/** The changes of a run in its summary, a text each. */
export function adjustedTexts(changes: readonly Adjustment[]): string[] {
	const earlier = changes.length - NAMED;
	const named = changes.slice(-NAMED).map(adjustedText);
	return earlier <= 0 ? named : [`${numberText(earlier)} earlier ${earlier === 1 ? "change" : "changes"}`, ...named];
}

/** `found 148 a second: above it the answers took longer`. */
export function foundRateText({ rate, because, at }: FoundRate): string {
	if (because === null) return `no limit was seen up to ${numberText(rate)} a second`;
	const sign = because === "latency" ? "above it the answers took longer" : `${because} at ${numberText(at)} a second`;
	return `found ${numberText(rate)} a second: ${sign}`;
}
