import { describe, expect, it } from "vitest";
import { pace } from "../../bench/measures/pace.mjs";
import { growthPerRow } from "../../bench/watch.mjs";

/** Times of so many requests, one every so many milliseconds. */
const every = (milliseconds: number, count: number): number[] =>
	Array.from({ length: count }, (_, index) => index * milliseconds);

describe("the pace of requests", () => {
	it("counts from the fifth second on, so that a slow start is not held against the cap", () => {
		const slowStart = [...every(50, 100), ...every(10, 1_001).map((time) => 5_000 + time)];
		expect(pace(slowStart).sustained).toBeCloseTo(100);
	});

	it("leaves retries after the last row out of the rate, and not out of the bursts", () => {
		const late = [...every(10, 1_000), 20_000, 20_000.1, 20_000.2];
		expect(pace(late, 1_000)).toMatchObject({ inSecond: 100, inTenth: 10 });
		expect(pace(late, 1_000).sustained).toBeCloseTo(100);
		expect(pace(late).sustained).toBeLessThan(40);
	});

	it.each([
		["a burst within a second that begins between two ticks", [0, 900, 1_400, 1_500, 1_899], 4, 1],
		["requests at the same time", [5, 5, 5], 3, 3],
		["exactly a second apart", [0, 1_000, 2_000], 1, 1],
		["no request", [], 0, 0],
	])("finds the most in any sliding second: %s", (_, times, inSecond, inTenth) => {
		expect(pace(times)).toMatchObject({ inSecond, inTenth });
	});
});

describe("what a row costs along a run", () => {
	const samples = [
		{ updates: 0, cpuSeconds: 3, bytes: 0 },
		{ updates: 100, cpuSeconds: 4, bytes: 1_000 },
		{ updates: 200, cpuSeconds: 6, bytes: 2_000 },
		{ updates: 250, bytes: 2_500 },
		{ updates: 300, cpuSeconds: 9, bytes: 3_000 },
		{ updates: 400, cpuSeconds: 12, bytes: 4_000 },
		{ updates: 400, cpuSeconds: 50, bytes: 100 },
	];

	it.each([
		["cpuSeconds", 0, 101, 0.01],
		["cpuSeconds", 100, 400, 0.025],
		["cpuSeconds", 90, 260, 0.02],
		["bytes", 1, 400, 10],
	] as const)("%s between %d and %d rows", (member, from, to, growth) => {
		expect(growthPerRow(samples, member, { from, to })).toBeCloseTo(growth);
	});

	it.each([
		["one sample alone", 190, 220],
		["none", 400, 500],
	])("is not guessed from %s", (_, from, to) => {
		expect(growthPerRow(samples, "cpuSeconds", { from, to })).toBeUndefined();
	});
});
