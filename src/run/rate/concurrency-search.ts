import {
	add,
	type Answer,
	compared,
	emptyWindow,
	measure,
	type Measurement,
	type Window,
	windowOf,
} from "./concurrency-window.ts";

/** The most requests in flight, even if more would bring a higher throughput, unless the user asked for a rate that needs more. */
export const MAX_CONCURRENCY = 64;

/** The fewest requests in flight: while one answer is read, another request is on its way. */
const LEAST = 2;

/** The first limit: enough for a measurement, too few to overload a service. One that gains nothing sees twice as many. */
const FIRST = 4;

/** The factor of a step up or down, and of a small last step. */
const STEP = 1.4;
const SMALL = 1.2;

/** The gain in throughput from which doubling is repeated, and the windows for it. Without a queue it is a factor of 2. */
const DOUBLING_GAIN = 1.5;
const DOUBLING_LONGEST = 4;

/** Share of the gain of a step up without any queue, from which the limit is doubled again: a queue is far away. */
const WHOLE_GAIN = 0.8;

/** The factor that a step up must bring to be kept, and the share of the best that a step down must leave. */
const UP = 1.08;
const DOWN = 0.95;

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
	/** the most that the limit may become */
	readonly most: number;
	readonly phase: Phase;
	readonly window: Window;
	/** the time from which a lower limit may be tried, and the pause after such a trial, in milliseconds */
	readonly downAt: number;
	readonly downAfter: number;
};

/** A search that begins with so many in flight, and never has more than `most`. */
export function newSearch(limit = FIRST, most = MAX_CONCURRENCY): Search {
	return {
		limit: Math.max(LEAST, Math.min(most, limit)),
		most,
		phase: { name: "doubling", before: undefined },
		window: emptyWindow(Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY),
		downAt: Number.NEGATIVE_INFINITY,
		downAfter: DOWN_AFTER,
	};
}

/** The same search with another bound. */
export function boundedBy(search: Search, most: number): Search {
	const bounded = { ...search, most };
	return search.limit <= most ? bounded : newSearch(most, most);
}

/**
 * Finds the fewest requests in flight that keep the throughput of a service. It takes one answer and returns the next
 * search. It changes the window of the given search in place, and nothing else.
 *
 * With a full window the throughput is the limit divided by the latency. If latency grows with the limit, the requests
 * queue, and fewer are enough. If latency stays, more requests bring more. Only a trial shows which is true: a long
 * latency can come from a queue or from a distant service.
 */
export function observe(search: Search, answer: Answer): Search {
	const { limit, phase, window } = search;
	const isDoubling = phase.name === "doubling";
	if (!add(window, answer, limit, isDoubling)) return search;
	const { came } = answer;
	const measured = measure(window, limit, isDoubling);
	if (measured !== undefined) return nextSearch(search, measured, came);
	return isDoubling ? { ...search, window: emptyWindow(came, came) } : found(search, came);
}

function nextSearch(search: Search, measured: Measurement, now: number): Search {
	const { limit, phase } = search;
	const { throughput } = measured;
	switch (phase.name) {
		case "doubling": {
			const isGain = phase.before === undefined || throughput >= phase.before * DOUBLING_GAIN;
			if (!isGain && measured.answers < DOUBLING_LONGEST * windowOf(limit, true)) return search;
			if (isGain && limit < search.most) {
				const twice = Math.min(search.most, 2 * limit);
				return startPhase(search, twice, { name: "doubling", before: throughput }, now);
			}
			const isUseless = phase.before !== undefined && throughput < phase.before * UP;
			// Half as many kept the service busy: the rest only waited. It is seen soon if that was chance.
			const half = { ...search, limit: Math.max(LEAST, Math.round(limit / 2)) };
			return isUseless ? found(half, now, { isNew: true, until: now }) : found(search, now, { until: now });
		}
		case "up": {
			const { from, before } = phase;
			const gain = compared(throughput / before, UP, measured);
			// The gain may be chance, so a lower limit may be tried next.
			if (gain === "more") {
				const next = { ...search, downAt: now };
				const isWhole = throughput / before >= 1 + WHOLE_GAIN * (limit / from - 1);
				if (!isWhole || 2 * limit > search.most) return tryUp(next, throughput, now);
				return startPhase(next, 2 * limit, { name: "doubling", before: throughput }, now);
			}
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
	const { limit, most } = search;
	if (limit >= most) return now < search.downAt ? found(search, now) : tryDown(search, limit, throughput, now);
	const step = Math.max(limit + 1, Math.round(limit * STEP));
	// The gain of a small last step could not be distinguished from chance.
	const more = step * STEP > most * SMALL ? most : step;
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
