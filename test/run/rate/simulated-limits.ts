import { type Answered, RateFinder } from "../../../src/run/rate/rate-finder.ts";
import type { RateSearch } from "../../../src/run/rate/rate-search.ts";
import { chanceOf } from "../../support/chance.ts";

/** A service with a limit, in its own time. */
export type Limited = {
	/** requests that it works on at a time, and milliseconds of work on one at that time; the others queue */
	readonly workers: number;
	readonly work: (chance: () => number, now: number) => number;
	/** milliseconds on the way, there and back */
	readonly way?: number;
	/** refuses a request that arrives then; undefined for none. Called once for each request, in order */
	readonly refuses?: (now: number) => "429" | "503" | undefined;
	/** the most requests in flight; 64 unless given */
	readonly inFlight?: number;
};

export type Course = {
	readonly finder: RateFinder;
	/** the rate at the end of each second */
	readonly rates: readonly number[];
	/** answers a second that were no refusals, from one second to another */
	answered(from: number, to: number): number;
	/** the share of refusals in that time */
	refused(from: number, to: number): number;
};

/** What the search makes of a service: requests are spaced by its rate. The same seed gives the same course. */
export function course(
	service: Limited,
	seconds: number,
	{ seed = 1, search }: { seed?: number; search?: RateSearch } = {},
): Course {
	const { workers, work, way = 0, refuses, inFlight: most = 64 } = service;
	const chance = chanceOf(seed);
	const finder = new RateFinder(0, search);
	const free = Array.from({ length: workers }, () => 0);
	const coming: Answered[] = [];
	const good: number[] = [];
	const bad: number[] = [];
	const rates: number[] = [];
	let now = 0;
	const take = (until: number): void => {
		for (let first = coming[0]; first !== undefined && first.came <= until; first = coming[0]) {
			coming.shift();
			(first.refusal === undefined ? good : bad).push(first.came);
			finder.answered(first);
		}
	};
	while (now < seconds * 1000) {
		now += 1000 / finder.rate;
		take(now);
		if (coming.length >= most) {
			// All places are taken: the next request waits for an answer.
			now = Math.max(now, coming[coming.length - most]?.came ?? now);
			take(now);
		}
		const arrives = now + way / 2;
		const refusal = refuses?.(arrives);
		let came = arrives + way / 2;
		if (refusal === undefined) {
			const place = free.indexOf(Math.min(...free));
			const done = Math.max(arrives, free[place] ?? 0) + work(chance, now);
			free[place] = done;
			came = done + way / 2;
		}
		insert(coming, { kind: 1, sent: now, came, refusal });
		while (rates.length < Math.floor(now / 1000)) rates.push(finder.rate);
	}
	const within = (times: readonly number[], from: number, to: number): number =>
		times.filter((time) => time >= from * 1000 && time < to * 1000).length;
	return {
		finder,
		rates,
		answered: (from, to) => within(good, from, to) / (to - from),
		refused: (from, to) => within(bad, from, to) / Math.max(1, within(bad, from, to) + within(good, from, to)),
	};
}

function insert(coming: Answered[], answer: Answered): void {
	let place = coming.length;
	while (place > 0 && (coming[place - 1]?.came ?? 0) > answer.came) place -= 1;
	coming.splice(place, 0, answer);
}

/** Refuses what exceeds so many a second: a bucket of tokens that holds one second of them, at most. */
export function tokenBucket(rate: number, status: "429" | "503" = "429"): (now: number) => "429" | "503" | undefined {
	let [tokens, at] = [rate, 0];
	return (now) => {
		tokens = Math.min(rate, tokens + ((now - at) * rate) / 1000);
		at = now;
		if (tokens < 1) return status;
		tokens -= 1;
		return undefined;
	};
}

/** Refuses what exceeds so many in each whole second. */
export function fixedWindow(rate: number): (now: number) => "429" | undefined {
	let [second, count] = [-1, 0];
	return (now) => {
		if (Math.floor(now / 1000) !== second) [second, count] = [Math.floor(now / 1000), 0];
		count += 1;
		return count > rate ? "429" : undefined;
	};
}
