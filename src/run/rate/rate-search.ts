/**
 * The policy of `--rate auto`: additive increase, multiplicative decrease (as TCP), on refusals and on a queue. The queue is
 * estimated as TCP Vegas does (rate × (latency − least latency)), and must also show as a gradient of the latency, as in
 * Netflix's Gradient2 limit: https://github.com/Netflix/concurrency-limits. All functions are pure: no clock, no IO.
 */

/** Requests a second: the first rate where nothing is known, the lowest and the highest. */
const START = 10;
const FLOOR = 0.5;
const MOST = 10_000;

/** Factors a second: until the first sign; up to what was known before; beyond what was known. */
const FAST = 2;
const BACK = 1.5;
const BEYOND = 1.25;

/** Share of the known rate that is added each second, from which share of it on, and up to which share it says anything. */
const STEP = 0.02;
const NEAR = 0.85;
const PAST = 1.2;

/** Milliseconds since the last cut after which a step is twice as large, and the most that count: what was known gets old. */
const TWICE_AFTER_MS = 10_000;
const OLD_MS = 20_000;

/** Share of the kept rate with which a run begins: the service may have more to do than last time. */
const KEPT_SHARE = 0.9;

/** The rate after a sign: a share of it at most and at least, and a share of what the service managed meanwhile. */
const CUT = 0.85;
const DEEPEST_CUT = 0.5;
const BELOW_FOUND = 0.95;

/** Share of the rate that a service must have answered while it refused, for that to say something about what it takes. */
const SOME = 0.4;

/** Milliseconds after a cut in which a further refusal belongs to the same sign, and the pause between two cuts of one. */
const SAME_SIGN_MS = 5_000;
const CUT_EVERY_MS = 1_000;

/** Share of the rate that must have been used for a higher one to be tried. */
const USED = 0.8;

/** Requests that wait in the service's queue, growth of the latency, and milliseconds of it: below them all is well. */
const QUEUE = 4;
const GROWTH = 1.3;
const LEAST_MS = 3;

/** The same from which the rate is no longer raised. */
const QUEUE_BEGINS = 2;
const GROWTH_BEGINS = 1.15;

/** Share by which the latency must fall after a cut, else it was not the rate's doing; cuts and seconds until that is certain. */
const EASED = 0.9;
const CUTS = 3;
const LONGEST_EASING = 10;

/** Why a rate was found to be the highest: a status of a refusal, or answers that took longer. */
export type Cause = "429" | "503" | "latency";

/** The highest rate that a service stood, and what showed it. Rates are requests a second. */
export type Finding = {
	readonly rate: number;
	readonly because: Cause;
	/** the rate at which it showed */
	readonly at: number;
};

/** A finding, or the rate that was reached without a sign: then `because` and `at` are null. */
export type FoundRate = Finding | { readonly rate: number; readonly because: null; readonly at: null };

/** The state of the search. */
export type RateSearch = {
	/** requests a second */
	readonly rate: number;
	/** the last finding, of an earlier run where this one has none */
	readonly finding: Finding | undefined;
	/** whether this run has seen a sign */
	readonly isOwn: boolean;
	/** when the rate was cut last, in milliseconds; requests sent before then say nothing about it */
	readonly cutAt: number;
	/** a rate that was cut as answers took longer, until they are as quick as before */
	readonly easing: Easing | undefined;
};

type Easing = {
	/** the rate before the first cut */
	readonly from: number;
	readonly growth: number;
	/** whether the service did not keep up with one of the rates: then the queue is the run's doing */
	readonly isBehind: boolean;
	readonly cuts: number;
	readonly seconds: number;
};

/** What was seen at one rate. */
export type Seen = {
	readonly seconds: number;
	/** requests a second that were answered */
	readonly answered: number;
	/** latency against the least that was seen; 1 where that is not known */
	readonly growth: number;
	/** the same as milliseconds */
	readonly longer: number;
};

/** A search that begins with what was kept for the address. */
export function newRateSearch(kept?: FoundRate): RateSearch {
	const rate = kept === undefined ? START : bounded(kept.rate * KEPT_SHARE);
	const finding = kept?.because === null ? undefined : kept;
	return { rate, finding, isOwn: false, cutAt: Number.NEGATIVE_INFINITY, easing: undefined };
}

/** A search that begins with a rate that the run had already. */
export function rateSearchFrom(rate: number): RateSearch {
	return { ...newRateSearch(), rate: bounded(rate) };
}

/**
 * The service refused a request, as it is asked too much.
 *
 * @param sent when that request was sent, and `now`, in milliseconds
 * @param answered requests a second that it answered meanwhile; undefined where that is not known
 */
export function refused(
	search: RateSearch,
	because: "429" | "503",
	{ sent, now, answered }: { readonly sent: number; readonly now: number; readonly answered: number | undefined },
): RateSearch {
	const { rate, finding, cutAt } = search;
	if (sent < cutAt || now - cutAt < CUT_EVERY_MS) return search;
	const next = { ...search, ...cut(rate, answered ?? rate, because), cutAt: now, easing: undefined };
	if (finding === undefined || !search.isOwn || now - cutAt >= SAME_SIGN_MS) return next;
	// A service that had some in reserve took more at first. One that refuses everything says nothing about its rate.
	const isLess = answered !== undefined && answered >= rate * SOME && answered < finding.rate;
	return { ...next, finding: isLess ? { ...finding, rate: answered } : finding };
}

/**
 * Whether what a run found is kept for the next one: a sign, or a rate beyond what was known without one. A run that was too
 * short to find anything changes nothing.
 */
export function isWorthKeeping(found: FoundRate, kept: FoundRate | undefined): boolean {
	return found.because !== null || found.rate > (kept === undefined ? START : kept.rate * PAST);
}

/** What was seen at the present rate, without a refusal. */
export function observed(search: RateSearch, seen: Seen, now: number): RateSearch {
	const queue = (seen.answered * seen.longer) / 1000;
	const isSlow = queue > QUEUE && seen.growth > GROWTH && seen.longer > LEAST_MS;
	if (search.easing !== undefined)
		return isSlow ? eased(search, search.easing, seen, now) : { ...search, easing: undefined };
	const { rate } = search;
	if (isSlow) {
		const isBehind = seen.answered < USED * rate;
		const easing = { from: rate, growth: seen.growth, isBehind, cuts: 1, seconds: 0 };
		return { ...search, ...cut(rate, seen.answered, "latency"), cutAt: now, easing };
	}
	const isFilling = queue > QUEUE_BEGINS && seen.growth > GROWTH_BEGINS;
	return isFilling || seen.answered < USED * rate ? search : { ...search, rate: raised(search, seen.seconds, now) };
}

/** The answers still take longer after a cut: the queue empties, the cut was too small, or the service is slower now. */
function eased(search: RateSearch, easing: Easing, seen: Seen, now: number): RateSearch {
	const { from, growth, cuts } = easing;
	const seconds = easing.seconds + seen.seconds;
	const isEasing = seen.growth < growth * EASED;
	if (isEasing && seconds < LONGEST_EASING) return { ...search, easing: { ...easing, growth: seen.growth, seconds } };
	const isShort = seen.answered < USED * search.rate;
	const isBehind = easing.isBehind || isShort;
	const next = { from, growth: seen.growth, isBehind, cuts: cuts + 1, seconds: 0 };
	if (isShort) return { ...search, ...cut(search.rate, seen.answered, "latency"), cutAt: now, easing: next };
	if (!isEasing && !isBehind && cuts >= CUTS) return { ...search, rate: from, easing: undefined };
	return { ...search, rate: bounded(search.rate * CUT), cutAt: now, easing: next };
}

/** Whether the answers stayed slow however low the rate was: then they are the new measure of what is slow. */
export function isSlowWithoutCause(before: RateSearch, after: RateSearch): boolean {
	return before.easing !== undefined && after.easing === undefined && after.rate > before.rate;
}

function cut(rate: number, answered: number, because: Cause): Pick<RateSearch, "rate" | "finding" | "isOwn"> {
	const found = Math.min(rate, Math.max(rate * DEEPEST_CUT, answered));
	const next = Math.min(rate * CUT, found * BELOW_FOUND);
	return { rate: bounded(next), finding: { rate: found, because, at: rate }, isOwn: true };
}

/** The rate after so many seconds without a sign. */
function raised({ rate, finding, cutAt }: RateSearch, seconds: number, now: number): number {
	if (finding === undefined) return bounded(rate * FAST ** Math.min(1, seconds));
	const known = finding.rate;
	if (rate < NEAR * known) return bounded(Math.min(NEAR * known, rate * BACK));
	const steps = seconds * (1 + Math.min(now - cutAt, OLD_MS) / TWICE_AFTER_MS);
	return bounded(rate > PAST * known ? rate * BEYOND : rate + STEP * known * steps);
}

function bounded(rate: number): number {
	return Math.min(MOST, Math.max(FLOOR, rate));
}
