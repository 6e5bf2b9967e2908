import { describe, expect, it } from "vitest";
import { newSearch, observe, type Search } from "../../../src/run/rate/concurrency-search.ts";
import type { Answer } from "../../../src/run/rate/concurrency-window.ts";
import { range } from "../../support/values.ts";
import { exponential, lognormal, type Simulated, simulate, steady } from "../simulated-service.ts";

const SEEDS = range(5, 1);
const ENDLESS = Number.POSITIVE_INFINITY;

describe("a service that handles 150 a second at any concurrency", () => {
	it.each<[string, Simulated, number]>([
		["one worker", { workers: 1, work: steady(1000 / 150), way: 1 }, 4],
		["two workers", { workers: 2, work: steady(2000 / 150), way: 1 }, 4],
		["two workers and a cap far above it", { workers: 2, work: steady(2000 / 150), way: 1, cap: 500 }, 4],
		["eight workers", { workers: 8, work: steady(8000 / 150), way: 1 }, 8],
	])("%s: is used to at least 95 %%, with few in flight", (_, service, most) => {
		const seen = simulate(service, 60, 1);
		expect(seen.rate(5, 60)).toBeGreaterThanOrEqual(0.95 * 150);
		expect(seen.typical(5)).toBeLessThanOrEqual(most);
		// Also while it is found: each doubling that brings nothing is taken back.
		expect(Math.max(...seen.inFlight.map(({ count }) => count))).toBeLessThanOrEqual(2 * most);
	});

	it("is used to 95 % although its speed varies by fifteen per cent each second", () => {
		// What it takes differs for each second, and is the same throughout one.
		const work = (_: unknown, now: number): number =>
			(2000 / 150) * (1 + 0.15 * Math.sin(Math.floor(now / 1000) * 12.9));
		const seen = simulate({ workers: 2, work, way: 1 }, 120, 1);
		expect(seen.rate(5, 120)).toBeGreaterThanOrEqual(0.95 * 150);
		expect(seen.typical(5)).toBeLessThanOrEqual(8);
	});

	it("is used to 95 % by work of any length, with eight in flight overall", () => {
		const courses = SEEDS.map((seed) => simulate({ workers: 2, work: exponential(2000 / 150), way: 1 }, 120, seed));
		for (const seen of courses) expect(seen.rate(5, 120)).toBeGreaterThanOrEqual(0.95 * 150);
		// Chance misleads a course now and then, and it comes back: in all no more than that.
		const inFlight = courses.map((seen) => seen.typical(5)).toSorted((one, other) => one - other);
		expect(inFlight[2]).toBeLessThanOrEqual(4);
		expect(inFlight.slice(0, 4).every((count) => count <= 8)).toBe(true);
	});
});

describe("a service whose latency does not depend on the requests in flight", () => {
	it.each([5, 50, 300])("reaches a cap of 100 a second by the fifth second at %d ms", (latency) => {
		const seen = simulate({ workers: ENDLESS, work: steady(latency), cap: 100 }, 60, 1);
		for (const second of range(55, 5)) expect(seen.rate(second, second + 1)).toBeGreaterThanOrEqual(99);
	});

	it.each(SEEDS)("holds the cap at 300 ms with random deviations of a half (seed %d)", (seed) => {
		const seen = simulate({ workers: ENDLESS, work: lognormal(300, 0.5), cap: 100 }, 60, seed);
		expect(seen.rate(5, 60)).toBeGreaterThanOrEqual(99);
	});

	it("gets 64 in flight without a cap within a second at 20 ms, and keeps them", () => {
		const seen = simulate({ workers: ENDLESS, work: steady(20) }, 60, 1);
		expect(seen.rate(1, 60)).toBeGreaterThanOrEqual(0.98 * 3200);
		expect(seen.typical(1)).toBe(64);
	});

	it.each(SEEDS)(
		"gets 64 in flight and keeps them although single answers take many times as long (seed %d)",
		(seed) => {
			const seen = simulate({ workers: ENDLESS, work: lognormal(20, 1) }, 60, seed);
			expect(seen.rate(5, 60)).toBeGreaterThanOrEqual(0.95 * 3200);
		},
	);
});

describe("a service that changes", () => {
	it("gets more in flight if its latency grows tenfold without a queue", () => {
		const work = (_: unknown, now: number): number => (now < 20_000 ? 5 : 50);
		const seen = simulate({ workers: ENDLESS, work, cap: 200 }, 40, 1);
		expect(seen.rate(5, 20)).toBeGreaterThanOrEqual(198);
		expect(seen.rate(25, 40)).toBeGreaterThanOrEqual(198);
	});

	it("gets fewer if its capacity falls to a tenth", () => {
		const work = (_: unknown, now: number): number => (now < 20_000 ? 20 : 200);
		const seen = simulate({ workers: 20, work }, 60, 1);
		expect(seen.rate(5, 20)).toBeGreaterThanOrEqual(950);
		expect(seen.rate(30, 60)).toBeGreaterThanOrEqual(95);
		expect(seen.typical(30)).toBeLessThanOrEqual(45);
	});
});

describe("answers that say nothing about the limit", () => {
	const feed = (search: Search, answers: readonly Answer[]): Search =>
		answers.reduce((found, answer) => observe(found, answer), search);
	const answers = (inFlight: number, latency: number): Answer[] =>
		range(400).map((n) => ({ sent: n * 10, came: n * 10 + latency, inFlight }));

	it("come from a run that uses fewer places than it may", () => {
		expect(feed(newSearch(), answers(1, 20)).limit).toBe(newSearch().limit);
		expect(feed(newSearch(), answers(4, 20)).limit).toBeGreaterThan(newSearch().limit);
	});

	it("come from requests that were sent under another limit", () => {
		const doubled = feed(newSearch(), answers(4, 20).slice(0, 8));
		expect(doubled.limit).toBe(2 * newSearch().limit);
		const before = structuredClone(doubled);
		const late = range(100).map((n) => ({ sent: 0, came: 500 + n, inFlight: 4 }));
		expect(feed(doubled, late)).toEqual(before);
	});

	it("include those without measured time, which break nothing", () => {
		const limit = feed(newSearch(), answers(64, 0)).limit;
		expect(limit).toBeGreaterThanOrEqual(2);
		expect(limit).toBeLessThanOrEqual(64);
	});
});
