/** Requests in flight at most, whatever would be gained. */
export const MAX_CONCURRENCY = 64;
/** At least: while one answer is read, another request is on its way. */
const LEAST = 2;
/** To begin with: enough to learn from, too few to hurt. */
const FIRST = 4;
/** A step up or down, as a factor. */
const STEP = 1.4;
const SMALL = 1.2;
/** What doubling must bring in throughput to be done again: half of what it brings where nothing queues. */
const DOUBLING_GAIN = 1.5;
/** What a step up must bring to be kept, and what a step down must leave of the best, as a share. */
const UP = 1.08;
const DOWN = 0.95;
/** Share of the limit that must have been in flight for a window to say something about the limit. */
const FULL = 0.8;
/** Answers that make a window: at least so many, and so many for each request in flight. The first ones are hurried. */
const ANSWERS = 48;
const ANSWERS_EACH = 2;
const LONGEST = 12;
/** Standard errors by which the throughput must differ from a bound to be believed early. */
const CHANCE = 1.3;
/** The spread that is always reckoned with: what a service can take changes, too. */
const LEAST_SPREAD = 0.25;
const FIRST_ANSWERS = 8;
const DOUBLING_LONGEST = 4;
/** How far latency may move, as a factor, in how many windows one after another, before the limit is sought anew. */
const MOVED = 1.3;
const WINDOWS = 2;
/** Windows of a limit from which its throughput is known well enough to compare others with. */
const ENOUGH = 2;
/** How long a limit is kept before more is tried, in milliseconds. That costs nothing where requests queue. */
const UP_AFTER = 3_000;
/** How long before less is tried, at first and at most: that costs throughput where they don't. */
const DOWN_AFTER = 1_000;
const DOWN_AFTER_MOST = 27_000;

/** One answer: when its request was sent and when it came, in milliseconds, and how many were in flight when it was sent. */
export type Answer = { readonly sent: number; readonly came: number; readonly inFlight: number };

/** What was seen since the limit is what it is. */
type Window = {
	readonly since: number;
	/** from when on a request meets the queue of this limit, not that of the one before; undefined until that is known */
	readonly settled: number | undefined;
	readonly answers: number;
	/** sums over these answers */
	readonly latency: number;
	readonly squares: number;
	readonly inFlight: number;
};

/** What is being tried: twice as many, one step up, one step down; or nothing, as the limit was found. */
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
	/** when less may be tried, on the clock, and how long it is left alone once it was, in milliseconds */
	readonly downAt: number;
	readonly downAfter: number;
};

function emptyWindow(since: number, settled?: number): Window {
	return { since, settled, answers: 0, latency: 0, squares: 0, inFlight: 0 };
}

export const newSearch: Search = {
	limit: FIRST,
	phase: { name: "doubling", before: undefined },
	window: emptyWindow(Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY),
	downAt: Number.NEGATIVE_INFINITY,
	downAfter: DOWN_AFTER,
};

/** A search that begins with so many in flight. */
export function searchFrom(limit: number): Search {
	return { ...newSearch, limit: Math.max(LEAST, Math.min(MAX_CONCURRENCY, limit)) };
}

/**
 * Seeks the least number of requests in flight that keeps the throughput of a service. Pure: an answer in, the search out.
 *
 * With a full window the throughput is the limit divided by the latency. So where latency grows as the limit does, the
 * requests queue, and fewer do as well; where it stays, more requests bring more. Both are seen by trying: latency alone
 * can't tell a queue of our own from a service that is far away.
 */
export function observe(search: Search, { sent, came, inFlight }: Answer): Search {
	const { limit, phase, window: seen } = search;
	if (sent < seen.since) return search;
	// Twice as many are tried in a hurry: the first answers that know of them are good enough.
	const settled = seen.settled ?? (phase.name === "doubling" ? seen.since : came);
	if (sent < settled) return { ...search, window: { ...seen, settled } };
	const answers = seen.answers + 1;
	const took = came - sent;
	const total = {
		latency: seen.latency + took,
		squares: seen.squares + took * took,
		inFlight: seen.inFlight + inFlight,
	};
	const next = { ...search, window: { since: seen.since, settled, answers, ...total } };
	const wanted = phase.name === "doubling" ? Math.max(FIRST_ANSWERS, limit) : Math.max(ANSWERS, ANSWERS_EACH * limit);
	if (answers % wanted !== 0) return next;
	const latency = Math.max(total.latency / answers, Number.EPSILON);
	// Something else holds the requests back: the cap, or the rows. Nothing is to be learned about the limit.
	if (total.inFlight / answers < FULL * limit) {
		return phase.name === "doubling" ? { ...next, window: emptyWindow(came, came) } : found(next, came);
	}
	const isLast = answers >= LONGEST * wanted;
	return judged(next, { latency, throughput: limit / latency, answers, chance: chanceOf(next), isLast }, came);
}

type Seen = {
	readonly latency: number;
	readonly throughput: number;
	readonly answers: number;
	/** by how much chance may have moved the throughput, as a share of it */
	readonly chance: number;
	/** it is not seen for longer */
	readonly isLast: boolean;
};

function judged(search: Search, seen: Seen, now: number): Search {
	const { limit, phase } = search;
	const { throughput } = seen;
	switch (phase.name) {
		case "doubling": {
			const isGain = phase.before === undefined || throughput >= phase.before * DOUBLING_GAIN;
			if (!isGain && seen.answers < DOUBLING_LONGEST * Math.max(FIRST_ANSWERS, limit)) return search;
			if (!isGain || limit >= MAX_CONCURRENCY) return found(search, now, { until: now });
			const twice = Math.min(MAX_CONCURRENCY, 2 * limit);
			return to(search, twice, { name: "doubling", before: throughput }, now);
		}
		case "up": {
			const { from, before } = phase;
			const gain = compared(throughput / before, UP, seen);
			// It may have been chance: whether less does as well is seen right after.
			if (gain === "more") return tryUp({ ...search, downAt: now }, throughput, now);
			if (gain === undefined) return search;
			if (now < search.downAt) return found({ ...search, limit: from }, now, { isNew: true });
			// Both are the most that the service gives, as far as chance lets it be seen.
			return tryDown(search, from, (before + throughput) / 2, now);
		}
		case "down": {
			const { from, best } = phase;
			const left = compared(throughput / best, DOWN, seen);
			if (left === "more") return tryDown(search, limit, best, now);
			return left === "less" ? least(search, from, now) : search;
		}
		case "found":
			return watched(search, phase, seen, now);
	}
}

/** In a queue those of one round wait for the same work, so they count as one; apart, each counts, and less is due to chance. */
function chanceOf({ limit, window: { answers, latency, squares } }: Search): number {
	const mean = Math.max(latency / answers, Number.EPSILON);
	const spread = Math.sqrt(Math.max(0, squares / answers - mean * mean)) / mean;
	return (CHANCE * Math.max(LEAST_SPREAD, Math.min(1, spread * Math.sqrt(limit)))) / Math.sqrt(answers);
}

/** On which side of a bound a share is; undefined where it is too early to say. */
function compared(share: number, bound: number, { chance, isLast }: Seen): "more" | "less" | undefined {
	if (share >= bound + chance) return "more";
	if (share < bound - chance) return "less";
	if (!isLast) return undefined;
	return share >= bound ? "more" : "less";
}

function watched(search: Search, phase: Found, seen: Seen, now: number): Search {
	const { until, windows } = phase;
	const isMoved = windows > 0 && (seen.latency > phase.latency * MOVED || seen.latency < phase.latency / MOVED);
	const moved = isMoved ? phase.moved + 1 : 0;
	if (moved >= WINDOWS) return tryUp({ ...search, downAt: now, downAfter: DOWN_AFTER }, seen.throughput, now);
	// Its own windows alone make the mean: one that differs is not blended in.
	const latency = isMoved ? phase.latency : (phase.latency * windows + seen.latency) / (windows + 1);
	if (now >= until && windows + 1 >= ENOUGH) return tryUp(search, search.limit / latency, now);
	const next: Found = { name: "found", until, windows: windows + (isMoved ? 0 : 1), latency, moved };
	return { ...search, phase: next, window: emptyWindow(now, now) };
}

function tryUp(search: Search, throughput: number, now: number): Search {
	const { limit } = search;
	if (limit >= MAX_CONCURRENCY)
		return now < search.downAt ? found(search, now) : tryDown(search, limit, throughput, now);
	const step = Math.max(limit + 1, Math.round(limit * STEP));
	// A last step that is small would bring too little to be told from chance.
	const more = step * STEP > MAX_CONCURRENCY * SMALL ? MAX_CONCURRENCY : step;
	return to(search, more, { name: "up", from: limit, before: throughput }, now);
}

function tryDown(search: Search, limit: number, best: number, now: number): Search {
	if (limit <= LEAST) return least(search, limit, now);
	const less = Math.max(LEAST, Math.min(limit - 1, Math.round(limit / STEP)));
	return to(search, less, { name: "down", from: limit, best }, now);
}

/** Less than that was seen to be too little, or there is no less. */
function least(search: Search, limit: number, now: number): Search {
	const downAfter = Math.min(DOWN_AFTER_MOST, 3 * search.downAfter);
	return found({ ...search, limit, downAt: now + search.downAfter, downAfter }, now, { isNew: limit !== search.limit });
}

/** @param isNew whether the limit was another one until now, so that its answers are not known yet */
function found(search: Search, now: number, { isNew = false, until = now + UP_AFTER } = {}): Search {
	const phase: Found = { name: "found", until, windows: 0, latency: 0, moved: 0 };
	return { ...search, phase, window: isNew ? emptyWindow(now) : emptyWindow(now, now) };
}

function to(search: Search, limit: number, phase: Phase, now: number): Search {
	return { ...search, limit, phase, window: emptyWindow(now) };
}
