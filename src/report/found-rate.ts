import type { Cause, FoundRate } from "../run/rate/rate-search.ts";
import { numberText } from "../text/words.ts";

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
