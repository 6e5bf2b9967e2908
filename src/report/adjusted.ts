import type { RateChoice } from "../rates.ts";
import type { Adjustment } from "../run/rate/rate-control.ts";
import type { Cause, FoundRate } from "../run/rate/rate-memory.ts";
import { numberText } from "../text/words.ts";

/** A change in the `--json` summary: a rate, or whether the run is paused from then on. */
export type AdjustedLine = { readonly time: string; readonly by: Adjustment["by"] } & (
	| { readonly rate: RateChoice }
	| { readonly paused: boolean }
);

/** The last changes are named, and those before them counted. */
const NAMED = 5;

export function adjustedLine(change: Adjustment): AdjustedLine {
	const [time, { by }] = [change.time.toISOString(), change];
	return change.kind === "rate" ? { time, rate: change.to, by } : { time, paused: change.kind === "paused", by };
}

/** `rate changed: 100 → 20 at 22:14 (runs adjust)`, in local time. */
export function adjustedText(change: Adjustment): string {
	const what = change.kind === "rate" ? `rate changed: ${change.from} → ${change.to}` : change.kind;
	return `${what} at ${clockText(change.time)} (${change.by})`;
}

/** The changes of a run in its summary, a text each. */
export function adjustedTexts(changes: readonly Adjustment[]): string[] {
	const earlier = changes.length - NAMED;
	const named = changes.slice(-NAMED).map(adjustedText);
	return earlier <= 0 ? named : [`${numberText(earlier)} earlier ${earlier === 1 ? "change" : "changes"}`, ...named];
}

function clockText(time: Date): string {
	const two = (number: number): string => String(number).padStart(2, "0");
	return `${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** What `--rate auto` found in the `--json` summary: requests a second, and why no more; null where no sign was seen. */
export type FoundRateLine = { readonly rate: number; readonly because: Cause | null; readonly at: number | null };

export function foundRateLine({ rate, because, at }: FoundRate): FoundRateLine {
	return { rate, because, at };
}

/** `found 148 a second: above it the answers took longer`. */
export function foundRateText({ rate, because, at }: FoundRate): string {
	if (because === null) return `no limit was seen up to ${rateText(rate)} a second`;
	const sign = because === "latency" ? "above it the answers took longer" : `${because} at ${rateText(at)} a second`;
	return `found ${rateText(rate)} a second: ${sign}`;
}

function rateText(rate: number): string {
	return Number.isInteger(rate) ? numberText(rate) : String(rate);
}
