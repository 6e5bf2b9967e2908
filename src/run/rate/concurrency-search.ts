/** The most requests in flight, even if more would bring a higher throughput. */
export const MAX_CONCURRENCY = 64;

/** The fewest requests in flight: while one answer is read, another request is on its way. */
const LEAST = 2;

/** The first limit: enough for a measurement, too few to overload a service. */
const FIRST = 4;

/** The factor of a step up or down, and of a small last step. */
const STEP = 1.4;
const SMALL = 1.2;

/** The gain in throughput from which doubling is repeated. Without a queue, doubling brings a factor of 2. */
const DOUBLING_GAIN = 1.5;

/** The factor that a step up must bring to be kept, and the share of the best that a step down must leave. */
const UP = 1.08;
const DOWN = 0.95;

/** Share of the limit that must have been in flight for a window to count. */
const FULL = 0.8;

/** Answers that make a window: the minimum, and the number for each request in flight. The first windows are shorter. */
const ANSWERS = 48;
const ANSWERS_EACH = 2;
const LONGEST = 12;

/** Number of standard errors by which the throughput must differ from a bound for an early decision. */
const CHANCE = 1.3;

/** The smallest spread that is assumed, as the capacity of a service varies too. */
const LEAST_SPREAD = 0.25;
const FIRST_ANSWERS = 8;
const DOUBLING_LONGEST = 4;

/** A new search begins when latency differs by this factor, in this many windows one after another. */
const MOVED = 1.3;
const WINDOWS = 2;

/** The fewest windows of a limit whose throughput other limits are compared with. */
const ENOUGH = 2;

/**
 * Milliseconds for which a limit is kept before a higher one is tried. A higher limit costs nothing if requests queue.
 */
const UP_AFTER = 3_000;

/**
 * Milliseconds before a lower limit is tried, at first and at most. A lower limit costs throughput if no requests
 * queue.
 */
const DOWN_AFTER = 1_000;
const DOWN_AFTER_MOST = 27_000;

/** One answer: when its request was sent and when it came, in milliseconds, and how many were in flight when it was sent. */
export type Answer = { readonly sent: number; readonly came: number; readonly inFlight: number };

/** The measurements since the last change of the limit. Each answer is added in place, as a run has millions. */
type Window = {
	readonly since: number;
	/** when requests first met the queue of this limit, not of the previous one; undefined until that is known */
	settled: number | undefined;
	answers: number;
	/** sums over these answers */
	latency: number;
	squares: number;
	inFlight: number;
};

/** The present trial: twice the limit, a step up or a step down; or none, as the limit was found. */
type Phase =
	| { readonly name: "doubling"; readonly before: number | undefined }
	| { readonly name: "up"; readonly from: number; readonly before: number }
	| { readonly name: "down"; readonly from: number; readonly best: number }
	| Found;

type Found = {
	readonly name: "found";
	readonly until: number;
	/** over all its windows */
	readonly windows: number;
	readonly latency: number;
	readonly moved: number;
};

export type Search = {
	readonly limit: number;
	readonly phase: Phase;
	readonly window: Window;
	/** the time from which a lower limit may be tried, and the pause after such a trial, in milliseconds */
	readonly downAt: number;
	readonly downAfter: number;
};

function emptyWindow(since: number, settled?: number): Window {
	return { since, settled, answers: 0, latency: 0, squares: 0, inFlight: 0 };
}

/** A search that begins with so many in flight. */
export function newSearch(limit = FIRST): Search {
	return {
		limit: Math.max(LEAST, Math.min(MAX_CONCURRENCY, limit)),
		phase: { name: "doubling", before: undefined },
		window: emptyWindow(Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY),
		downAt: Number.NEGATIVE_INFINITY,
		downAfter: DOWN_AFTER,
	};
}

/**
 * Finds the fewest requests in flight that keep the throughput of a service. It takes one answer and returns the next
 * search. It changes the window of the given search in place, and nothing else.
 *
 * With a full window the throughput is the limit divided by the latency. If latency grows with the limit, the requests
 * queue, and fewer are enough. If latency stays, more requests bring more. Only a trial shows which is true: a long
 * latency can come from a queue or from a distant service.
 */
export function observe(search: Search, { sent, came, inFlight }: Answer): Search {
	const { limit, phase, window } = search;
	if (sent < window.since) return search;
	// Doubling is quick: the first answers under the new limit are exact enough.
	window.settled ??= phase.name === "doubling" ? window.since : came;
	if (sent < window.settled) return search;
	const took = came - sent;
	window.answers += 1;
	window.latency += took;
	window.squares += took * took;
	window.inFlight += inFlight;
	const { answers } = window;
	const wanted = phase.name === "doubling" ? Math.max(FIRST_ANSWERS, limit) : Math.max(ANSWERS, ANSWERS_EACH * limit);
	if (answers % wanted !== 0) return search;
	const latency = Math.max(window.latency / answers, Number.EPSILON);
	// The cap or the rows hold the requests back, so these answers say nothing about the limit.
	if (window.inFlight / answers < FULL * limit) {
		return phase.name === "doubling" ? { ...search, window: emptyWindow(came, came) } : found(search, came);
	}
	const isLast = answers >= LONGEST * wanted;
	return nextSearch(search, { latency, throughput: limit / latency, answers, chance: chanceOf(search), isLast }, came);
}

type Measurement = {
	readonly latency: number;
	readonly throughput: number;
	readonly answers: number;
	/** the error of the throughput by chance, as a share of it */
	readonly chance: number;
	/** the window is full: a decision must be made now */
	readonly isLast: boolean;
};

function nextSearch(search: Search, measured: Measurement, now: number): Search {
	const { limit, phase } = search;
	const { throughput } = measured;
	switch (phase.name) {
		case "doubling": {
			const isGain = phase.before === undefined || throughput >= phase.before * DOUBLING_GAIN;
			if (!isGain && measured.answers < DOUBLING_LONGEST * Math.max(FIRST_ANSWERS, limit)) return search;
			if (!isGain || limit >= MAX_CONCURRENCY) return found(search, now, { until: now });
			const twice = Math.min(MAX_CONCURRENCY, 2 * limit);
			return startPhase(search, twice, { name: "doubling", before: throughput }, now);
		}
		case "up": {
			const { from, before } = phase;
			const gain = compared(throughput / before, UP, measured);
			// The gain may be chance, so a lower limit may be tried next.
			if (gain === "more") return tryUp({ ...search, downAt: now }, throughput, now);
			if (gain === undefined) return search;
			if (now < search.downAt) return found({ ...search, limit: from }, now, { isNew: true });
			// Both throughputs are equal within the error, so both are the maximum of the service.
			return tryDown(search, from, (before + throughput) / 2, now);
		}
		case "down": {
			const { from, best } = phase;
			const left = compared(throughput / best, DOWN, measured);
			if (left === "more") return tryDown(search, limit, best, now);
			return left === "less" ? endDescent(search, from, now) : search;
		}
		case "found":
			return keepOrSearch(search, phase, measured, now);
	}
}

/**
 * The error of the throughput by chance, as a share of it. Requests of one round in a queue wait for the same work, so
 * they count as one measurement. Without a queue each request counts.
 */
function chanceOf({ limit, window: { answers, latency, squares } }: Search): number {
	const mean = Math.max(latency / answers, Number.EPSILON);
	const spread = Math.sqrt(Math.max(0, squares / answers - mean * mean)) / mean;
	return (CHANCE * Math.max(LEAST_SPREAD, Math.min(1, spread * Math.sqrt(limit)))) / Math.sqrt(answers);
}

/** The side of a bound on which a share is; undefined if that is still uncertain. */
function compared(share: number, bound: number, { chance, isLast }: Measurement): "more" | "less" | undefined {
	if (share >= bound + chance) return "more";
	if (share < bound - chance) return "less";
	if (!isLast) return undefined;
	return share >= bound ? "more" : "less";
}

function keepOrSearch(search: Search, phase: Found, measured: Measurement, now: number): Search {
	const { until, windows } = phase;
	const isMoved = windows > 0 && (measured.latency > phase.latency * MOVED || measured.latency < phase.latency / MOVED);
	const moved = isMoved ? phase.moved + 1 : 0;
	if (moved >= WINDOWS) return tryUp({ ...search, downAt: now, downAfter: DOWN_AFTER }, measured.throughput, now);
	// A window that differs is not part of the mean.
	const latency = isMoved ? phase.latency : (phase.latency * windows + measured.latency) / (windows + 1);
	if (now >= until && windows + 1 >= ENOUGH) return tryUp(search, search.limit / latency, now);
	const next: Found = { name: "found", until, windows: windows + (isMoved ? 0 : 1), latency, moved };
	return { ...search, phase: next, window: emptyWindow(now, now) };
}

function tryUp(search: Search, throughput: number, now: number): Search {
	const { limit } = search;
	if (limit >= MAX_CONCURRENCY)
		return now < search.downAt ? found(search, now) : tryDown(search, limit, throughput, now);
	const step = Math.max(limit + 1, Math.round(limit * STEP));
	// The gain of a small last step could not be distinguished from chance.
	const more = step * STEP > MAX_CONCURRENCY * SMALL ? MAX_CONCURRENCY : step;
	return startPhase(search, more, { name: "up", from: limit, before: throughput }, now);
}

function tryDown(search: Search, limit: number, best: number, now: number): Search {
	if (limit <= LEAST) return endDescent(search, limit, now);
	const less = Math.max(LEAST, Math.min(limit - 1, Math.round(limit / STEP)));
	return startPhase(search, less, { name: "down", from: limit, best }, now);
}

/** A lower limit was too low, or this is the lowest. */
function endDescent(search: Search, limit: number, now: number): Search {
	const downAfter = Math.min(DOWN_AFTER_MOST, 3 * search.downAfter);
	return found({ ...search, limit, downAt: now + search.downAfter, downAfter }, now, { isNew: limit !== search.limit });
}

/** @param isNew whether the limit was changed just now, so that it has no answers yet */
function found(search: Search, now: number, { isNew = false, until = now + UP_AFTER } = {}): Search {
	const phase: Found = { name: "found", until, windows: 0, latency: 0, moved: 0 };
	return { ...search, phase, window: isNew ? emptyWindow(now) : emptyWindow(now, now) };
}

function startPhase(search: Search, limit: number, phase: Phase, now: number): Search {
	return { ...search, limit, phase, window: emptyWindow(now) };
}
