import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type SeriesPoint, joinSeries } from "../../../src/run/series/point.ts";

const POINT: SeriesPoint = {
	t: 1000,
	s: 1,
	sent: 10,
	done: 10,
	failed: 0,
	p50: 20,
	p95: 40,
	state: "running",
	in_flight: 2,
	cap: 100,
};

/** Points of one second each, one after the other. */
function series(start: number, sent: readonly number[], more: Partial<SeriesPoint> = {}): SeriesPoint[] {
	let done = 0;
	return sent.map((each, at) => ({ ...POINT, t: start + at + 1, sent: each, done: (done += each), ...more }));
}

describe("the series of shards, joined", () => {
	it("adds the counts of each second, and those of a shard that began later", () => {
		const joined = joinSeries([series(1000, [10, 10, 10]), series(1001, [5, 5])], false);
		expect(joined.map(({ t, sent, done }) => [t, sent, done])).toEqual([
			[1001, 10, 10],
			[1002, 15, 25],
			[1003, 15, 40],
		]);
		expect(joined.map(({ cap }) => cap)).toEqual([100, 200, 200]);
	});

	it("shows the cap once where the shards shared it, and no cap where one had none", () => {
		const parts = [series(1000, [10]), series(1000, [10])];
		expect(joinSeries(parts, true)[0]?.cap).toBe(100);
		expect(joinSeries([...parts, series(1000, [10], { cap: null })], true)[0]?.cap).toBeNull();
		const lowered = [series(1000, [10], { rate: 30 }), series(1000, [10])];
		expect(joinSeries(lowered, false)[0]).toMatchObject({ cap: 200, rate: 130 });
	});

	it("keeps the state that says most, weighs the latency, and adds causes and errors", () => {
		const one = series(1000, [30], { p50: 10, p95: 90, state: "slowed", slow: { 429: 0.5 }, errors: { NOT_FOUND: 1 } });
		const other = series(1000, [10], { p50: 50, p95: 60, slow: { 429: 0.25 }, errors: { NOT_FOUND: 2 } });
		expect(joinSeries([one, other], false)).toMatchObject([
			{ p50: 20, p95: 90, state: "slowed", in_flight: 4, slow: { 429: 0.75 }, errors: { NOT_FOUND: 3 } },
		]);
		expect(joinSeries([series(1000, [0], { p50: null, p95: null })], false)[0]?.p50).toBeNull();
	});

	it("leaves out seconds in which none was at work", () => {
		const joined = joinSeries([series(1000, [1, 2]), series(1100.5, [5])], false);
		expect(joined.map(({ t, s, sent, done }) => [t, s, sent, done])).toEqual([
			[1001, 1, 1, 1],
			[1002, 1, 2, 3],
			[1102, 1, 5, 8],
		]);
		expect(joinSeries([], false)).toEqual([]);
		expect(joinSeries([[], []], false)).toEqual([]);
	});

	it("loses no request and no row, whatever the shards' times are", () => {
		const part = fc
			.tuple(fc.double({ min: 0, max: 50, noNaN: true }), fc.array(fc.nat(200), { minLength: 1, maxLength: 30 }))
			.map(([start, sent]) => series(start, sent));
		fc.assert(
			fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
				const joined = joinSeries(parts, false);
				const sent = parts.flat().reduce((sum, point) => sum + point.sent, 0);
				expect(joined.reduce((sum, point) => sum + point.sent, 0)).toBe(sent);
				expect(joined.at(-1)?.done).toBe(sent);
				expect(joined.every((point) => point.sent >= 0)).toBe(true);
			}),
		);
	});
});
