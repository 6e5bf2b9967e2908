import * as v from "valibot";

const RATE = v.pipe(v.number(), v.finite(), v.minValue(Number.MIN_VALUE));
const CAUSE = v.picklist(["429", "503", "latency"]);

/** What showed that a rate was too high: the status of a refusal, or answers that took longer. */
export type Cause = v.InferOutput<typeof CAUSE>;

/** The highest rate that a service stood, what showed it, and the rate at which it showed. Rates are requests a second. */
const FINDING = v.object({ rate: RATE, because: CAUSE, at: RATE });
export type Finding = Readonly<v.InferOutput<typeof FINDING>>;

/** A finding, or the rate that was reached without a sign: then `because` and `at` are null. */
export const FOUND_RATE = v.union([FINDING, v.object({ rate: RATE, because: v.null(), at: v.null() })]);
export type FoundRate = Readonly<v.InferOutput<typeof FOUND_RATE>>;

/** What a run found: its finding, or without one the rate that it reached. */
export function foundRate(finding: Finding | undefined, reached: number): FoundRate {
	if (finding === undefined) return { rate: rounded(reached), because: null, at: null };
	return { rate: rounded(finding.rate), because: finding.because, at: rounded(finding.at) };
}

/** From 10 requests a second on it is a whole number; below, it has one digit after the point. */
function rounded(rate: number): number {
	return rate >= 10 ? Math.round(rate) : Math.round(rate * 10) / 10;
}
