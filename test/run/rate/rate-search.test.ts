import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
	type Finding,
	isWorthKeeping,
	newRateSearch,
	observed,
	rateSearchFrom,
	type RateSearch,
	refused,
	type Seen,
} from "../../../src/run/rate/rate-search.ts";
import { exponential, lognormal, steady } from "../simulated-service.ts";
import { course, fixedWindow, type Limited, tokenBucket } from "./simulated-limits.ts";

const KNOWN: Finding = { rate: 100, because: "latency", at: 110 };

/** A second in which all requests were answered, as quickly as ever. */
const calm = (rate: number): Seen => ({ seconds: 1, answered: rate, growth: 1, longer: 0 });
/** A second in which answers took longer: 310 ms instead of 10. */
const slow = (rate: number): Seen => ({ seconds: 1, answered: rate, growth: 31, longer: 300 });

const at = (rate: number, finding?: Finding, cutAt = Number.NEGATIVE_INFINITY): RateSearch => ({
	...rateSearchFrom(rate),
	finding,
	isOwn: finding !== undefined,
	cutAt,
});

describe("the first rate", () => {
	it.each<[string, Parameters<typeof newRateSearch>[0], number]>([
		["low where nothing is known", undefined, 10],
		["a little below what was found", KNOWN, 90],
		["a little below what was reached without a sign", { rate: 400, because: null, at: null }, 360],
		["never above the highest", { rate: 1e9, because: null, at: null }, 10_000],
	])("is %s", (_, kept, rate) => {
		expect(newRateSearch(kept).rate).toBe(rate);
	});
});

describe("the next rate", () => {
	it.each<[string, RateSearch, Seen, number]>([
		["doubles until the first sign", at(10), calm(10), 20],
		["stays if the rows did not use it", at(10), calm(7), 10],
		["rises by a fiftieth of the known rate near it", at(90, KNOWN, 10_000), calm(90), 92],
		["rises by twice that ten seconds after a sign", at(90, KNOWN, 0), calm(90), 94],
		["rises by three times that where the sign is old", at(90, KNOWN), calm(90), 96],
		["returns quickly to what was known", at(40, KNOWN), calm(40), 60],
		["returns no further than near it", at(80, KNOWN), calm(80), 85],
		["rises quickly beyond what was known", at(124, KNOWN), calm(124), 155],
		["stays while a queue begins", at(100), { seconds: 1, answered: 100, growth: 1.2, longer: 25 }, 100],
		["falls when answers take longer", at(200), slow(200), 170],
		["falls below what the service managed", at(200), slow(150), 142.5],
		["falls to a half at most", at(200), slow(20), 95],
		["stays if answers take longer, and few wait", at(20), { seconds: 1, answered: 20, growth: 4, longer: 30 }, 40],
		["rises if a millisecond became two", at(5_000), { seconds: 1, answered: 5_000, growth: 3, longer: 2 }, 5_000],
	])("%s", (_, search, seen, rate) => {
		expect(observed(search, seen, 10_000).rate).toBeCloseTo(rate);
	});

	it("is the one before the cuts where answers stay slow although the service keeps up", () => {
		let search = observed(at(200), slow(200), 1_000);
		for (let second = 2; search.easing !== undefined && second < 20; second += 1) {
			search = observed(search, slow(search.rate), second * 1_000);
		}
		expect(search).toMatchObject({ rate: 200, easing: undefined });
	});

	it("falls further as long as the service does not keep up", () => {
		let search = observed(at(200), slow(200), 1_000);
		for (let second = 2; second < 10; second += 1) search = observed(search, slow(search.rate / 3), second * 1_000);
		expect(search.rate).toBeLessThan(50);
	});

	it("stays while a queue gets shorter", () => {
		const cut = observed(at(200), slow(200), 1_000);
		expect(observed(cut, { seconds: 1, answered: cut.rate, growth: 26, longer: 250 }, 2_000).rate).toBe(cut.rate);
		expect(observed(cut, calm(cut.rate), 2_000).easing).toBeUndefined();
	});
});

describe("a refusal", () => {
	it("lowers the rate, and says what was found", () => {
		const search = refused(at(200), "429", { sent: 4_990, now: 5_000, answered: 180 });
		expect(search.rate).toBeCloseTo(170);
		expect(search.finding).toEqual({ rate: 180, because: "429", at: 200 });
	});

	it("counts once for all requests that were sent before the rate was lowered", () => {
		const search = refused(at(200), "503", { sent: 4_990, now: 5_000, answered: 180 });
		expect(refused(search, "503", { sent: 4_995, now: 6_500, answered: 180 })).toBe(search);
		expect(refused(search, "503", { sent: 5_001, now: 5_400, answered: 180 })).toBe(search);
		expect(refused(search, "503", { sent: 6_001, now: 6_500, answered: 150 }).rate).toBeLessThan(search.rate);
	});

	it("shortly after another corrects what was found, unless the service refuses everything", () => {
		const first = refused(at(200), "429", { sent: 4_990, now: 5_000, answered: undefined });
		expect(first.finding).toMatchObject({ rate: 200 });
		expect(refused(first, "429", { sent: 6_001, now: 6_500, answered: 120 }).finding).toMatchObject({
			rate: 120,
			at: 200,
		});
		expect(refused(first, "429", { sent: 6_001, now: 6_500, answered: 0 }).finding).toMatchObject({ rate: 200 });
	});

	it("never lowers the rate to nothing", () => {
		let search = at(10);
		for (let second = 1; second < 100; second += 1) {
			search = refused(search, "429", { sent: second * 6_000, now: second * 6_000 + 1, answered: 0 });
		}
		expect(search.rate).toBe(0.5);
	});
});

it.each<[string, Parameters<typeof isWorthKeeping>, boolean]>([
	["a sign", [KNOWN, { rate: 500, because: null, at: null }], true],
	["a short run", [{ rate: 10, because: null, at: null }, undefined], false],
	["a rate without a sign where nothing was known", [{ rate: 80, because: null, at: null }, undefined], true],
	["a rate that is no news", [{ rate: 110, because: null, at: null }, KNOWN], false],
	["a rate far beyond what was known", [{ rate: 130, because: null, at: null }, KNOWN], true],
])("of %s it is right whether the next run begins with it", (_, [found, kept], isKept) => {
	expect(isWorthKeeping(found, kept)).toBe(isKept);
});

/** Shares of the capacity that are used from the second half minute on. */
function share(service: Limited, capacity: number, options: { seed?: number; search?: RateSearch } = {}): number {
	return course(service, 120, options).answered(30, 120) / capacity;
}

const capacities = fc.integer({ min: 20, max: 800 });
const seeds = fc.integer({ min: 1, max: 1_000_000 });
const ways = fc.integer({ min: 0, max: 200 });

describe("in a service with a limit the search settles near it", () => {
	it("where the work takes the same time: 80 to 105 %", () => {
		const check = (capacity: number, way: number, workers: number, seed: number): void => {
			const used = share({ workers, work: steady((workers * 1000) / capacity), way, inFlight: 2_000 }, capacity, {
				seed,
			});
			expect(used).toBeGreaterThan(0.8);
			expect(used).toBeLessThan(1.05);
		};
		fc.assert(fc.property(capacities, ways, fc.integer({ min: 1, max: 4 }), seeds, check), { numRuns: 25 });
	});

	it("where the work takes any time: 60 to 110 %, as a queue is there long before the limit", () => {
		const check = (capacity: number, workers: number, seed: number): void => {
			const used = share({ workers, work: exponential((workers * 1000) / capacity), inFlight: 2_000 }, capacity, {
				seed,
			});
			expect(used).toBeGreaterThan(0.6);
			expect(used).toBeLessThan(1.1);
		};
		fc.assert(fc.property(capacities, fc.integer({ min: 1, max: 4 }), seeds, check), { numRuns: 25 });
	});

	it("where it answers 429 above the limit: 80 to 105 %, and one request in fifty is refused at most", () => {
		const check = (capacity: number, limit: typeof tokenBucket | typeof fixedWindow, seed: number): void => {
			const seen = course({ workers: 500, work: lognormal(20, 0.5), refuses: limit(capacity) }, 120, { seed });
			expect(seen.answered(30, 120) / capacity).toBeGreaterThan(0.8);
			expect(seen.answered(30, 120) / capacity).toBeLessThan(1.05);
			expect(seen.refused(30, 120)).toBeLessThan(0.02);
		};
		fc.assert(fc.property(capacities, fc.constantFrom(tokenBucket, fixedWindow), seeds, check), { numRuns: 25 });
	});

	it("whatever an earlier run has found", () => {
		const check = (capacity: number, factor: number, seed: number): void => {
			const search = newRateSearch({ rate: capacity * factor, because: "latency", at: capacity * factor });
			const used = share({ workers: 2, work: steady(2000 / capacity), way: 10, inFlight: 2_000 }, capacity, {
				seed,
				search,
			});
			expect(used).toBeGreaterThan(0.7);
			expect(used).toBeLessThan(1.05);
		};
		fc.assert(fc.property(capacities, fc.double({ min: 0.1, max: 10, noNaN: true }), seeds, check), { numRuns: 25 });
	});

	it("and returns after bursts of 503", () => {
		const check = (capacity: number, seed: number): void => {
			// Three seconds of every twenty until the first minute is over, everything is refused.
			const refuses = (now: number): "503" | undefined => (now < 60_000 && now % 20_000 > 17_000 ? "503" : undefined);
			const service = { workers: 2, work: steady(2000 / capacity), way: 10, refuses, inFlight: 2_000 };
			const seen = course(service, 120, { seed });
			expect(seen.answered(75, 120) / capacity).toBeGreaterThan(0.75);
		};
		fc.assert(fc.property(capacities, seeds, check), { numRuns: 15 });
	});

	it("and follows a limit that changes", () => {
		const check = (capacity: number, seed: number): void => {
			const work = (_: unknown, now: number): number => ((now > 60_000 && now < 120_000 ? 4 : 1) * 2000) / capacity;
			const seen = course({ workers: 2, work, way: 10 }, 200, { seed });
			expect(seen.answered(90, 120) / (capacity / 4)).toBeGreaterThan(0.75);
			const rates = seen.rates.slice(90, 119);
			expect(rates.reduce((sum, rate) => sum + rate, 0) / rates.length).toBeLessThan(1.25 * (capacity / 4));
			expect(seen.answered(160, 200) / capacity).toBeGreaterThan(0.75);
		};
		fc.assert(fc.property(fc.integer({ min: 100, max: 800 }), seeds, check), { numRuns: 15 });
	});
});

it("a service without a limit gets as many requests as there are, and no sign is told", () => {
	const seen = course({ workers: 500, work: lognormal(20, 0.3), inFlight: 64 }, 60);
	expect(seen.finder.found.because).toBeNull();
	expect(seen.answered(30, 60)).toBeGreaterThan(2_000);
});
