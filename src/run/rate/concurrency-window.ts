/** Share of the limit that must have been in flight for a window to count. Doubling counts from the first request on. */
const FULL = 0.8;
const FULL_DOUBLING = 0.7;

/** Answers that make a window: the minimum, and the number for each request in flight. Later parts decide only if they must. */
const ANSWERS = 48;
const ANSWERS_EACH = 2;
const LONGEST = 12;

/** Answers that make a window while doubling, which is quicker: the minimum, and from how many in flight on half are enough. */
const FIRST_ANSWERS = 8;
const MANY = 64;

/** Number of standard errors by which the throughput must differ from a bound for an early decision. */
const CHANCE = 1.3;

/** The smallest spread that is assumed, as the capacity of a service varies too. */
const LEAST_SPREAD = 0.25;

/** One answer: when its request was sent and when it came, in milliseconds, and how many were in flight when it was sent. */
export type Answer = { readonly sent: number; readonly came: number; readonly inFlight: number };

/** The measurements since the last change of a limit. Each answer is added in place, as a run has millions. */
export type Window = {
	readonly since: number;
	/** when requests first met the queue of this limit, not of the previous one; undefined until that is known */
	settled: number | undefined;
	answers: number;
	/** sums over these answers */
	latency: number;
	squares: number;
	inFlight: number;
};

export type Measurement = {
	readonly latency: number;
	readonly throughput: number;
	readonly answers: number;
	/** the error of the throughput by chance, as a share of it */
	readonly chance: number;
	/** the window is full: a decision must be made now */
	readonly isLast: boolean;
};

export function emptyWindow(since: number, settled?: number): Window {
	return { since, settled, answers: 0, latency: 0, squares: 0, inFlight: 0 };
}

/** Answers that make a window of a limit. Of many that double, half are enough: the others would take one more latency. */
export function windowOf(limit: number, isDoubling: boolean): number {
	if (!isDoubling) return Math.max(ANSWERS, ANSWERS_EACH * limit);
	return limit > MANY ? Math.ceil(limit / 2) : Math.max(FIRST_ANSWERS, limit);
}

/** Adds an answer in place. @returns whether the window has so many answers that it says something */
export function add(window: Window, { sent, came, inFlight }: Answer, limit: number, isDoubling: boolean): boolean {
	if (sent < window.since) return false;
	// Doubling is quick: the first answers under the new limit are exact enough.
	window.settled ??= isDoubling ? window.since : came;
	if (sent < window.settled) return false;
	const took = came - sent;
	window.answers += 1;
	window.latency += took;
	window.squares += took * took;
	window.inFlight += inFlight;
	return window.answers % windowOf(limit, isDoubling) === 0;
}

/** What a window says of its limit; undefined where the cap or the rows held the requests back, so that it says nothing. */
export function measure(window: Window, limit: number, isDoubling: boolean): Measurement | undefined {
	const { answers } = window;
	if (window.inFlight / answers < (isDoubling ? FULL_DOUBLING : FULL) * limit) return undefined;
	const latency = Math.max(window.latency / answers, Number.EPSILON);
	const isLast = answers >= LONGEST * windowOf(limit, isDoubling);
	return { latency, throughput: limit / latency, answers, chance: chanceOf(window, limit), isLast };
}

/**
 * The error of the throughput by chance, as a share of it. Requests of one round in a queue wait for the same work, so
 * they count as one measurement. Without a queue each request counts.
 */
function chanceOf({ answers, latency, squares }: Window, limit: number): number {
	const mean = Math.max(latency / answers, Number.EPSILON);
	const spread = Math.sqrt(Math.max(0, squares / answers - mean * mean)) / mean;
	return (CHANCE * Math.max(LEAST_SPREAD, Math.min(1, spread * Math.sqrt(limit)))) / Math.sqrt(answers);
}

/** The side of a bound on which a share is; undefined if that is still uncertain. */
export function compared(share: number, bound: number, { chance, isLast }: Measurement): "more" | "less" | undefined {
	if (share >= bound + chance) return "more";
	if (share < bound - chance) return "less";
	if (!isLast) return undefined;
	return share >= bound ? "more" : "less";
}
