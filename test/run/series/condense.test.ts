import { describe, expect, it } from "vitest";
import { condensed } from "../../../src/run/series/point.ts";
import { readPoint, type SeriesPoint } from "../../../src/run/series/point.ts";

const POINT: SeriesPoint = {
	t: 1000,
	s: 1,
	sent: 10,
	done: 10,
	failed: 1,
	p50: 20,
	p95: 40,
	state: "running",
	in_flight: 2,
	cap: 100,
};

describe("a line of a series", () => {
	it.each<[string, SeriesPoint]>([
		["all members", { ...POINT, rate: 31.5, slow: { 429: 0.5 }, errors: { NOT_FOUND: 1 } }],
		["no request and no cap", { ...POINT, sent: 0, p50: null, p95: null, cap: null }],
	])("reads back as it was: %s", (_, point) => {
		expect(readPoint(JSON.stringify(point))).toEqual(point);
	});

	it.each<SeriesPoint["state"]>([
		"checking",
		"reading",
		"running",
		"slowed",
		"waiting",
		"paused",
		"outage",
		"verifying",
		"stopping",
	])("reads back in each state of a run: %s", (state) => {
		expect(readPoint(JSON.stringify({ ...POINT, state }))?.state).toBe(state);
	});

	it.each([
		["cut off", JSON.stringify(POINT).slice(0, 40)],
		["empty", ""],
		["a list", "[1]"],
		["a count as text", JSON.stringify(POINT).replace('"sent":10', '"sent":"10"')],
		["a negative count", JSON.stringify(POINT).replace('"sent":10', '"sent":-10')],
		["a state of another release", JSON.stringify(POINT).replace("running", "dancing")],
	])("is left out where it is %s", (_, line) => {
		expect(readPoint(line)).toBeUndefined();
	});
});

describe("two points as one", () => {
	it("lose no request, no second and no failed row", () => {
		const next: SeriesPoint = {
			...POINT,
			t: 1001,
			sent: 30,
			done: 40,
			failed: 3,
			p50: 60,
			p95: 90,
		};
		const slow = { ...next, state: "waiting" as const, slow: { 429: 0.4, slowed: 1 }, errors: { NOT_FOUND: 2 } };
		const first = { ...POINT, slow: { 429: 0.25 }, errors: { NOT_FOUND: 1, TIMEOUT: 1 } };
		expect(condensed([first, slow], 1)[0]).toEqual({
			t: 1001,
			s: 2,
			sent: 40,
			done: 40,
			failed: 3,
			p50: 50,
			p95: 90,
			state: "waiting",
			in_flight: 2,
			cap: 100,
			slow: { 429: 0.65, slowed: 1 },
			errors: { NOT_FOUND: 3, TIMEOUT: 1 },
		});
	});

	it("keep the percentiles of the one that has them", () => {
		const silent = { ...POINT, sent: 0, p50: null, p95: null };
		expect(condensed([silent, POINT], 1)[0]).toMatchObject({ p50: 20, p95: 40 });
		expect(condensed([POINT, silent], 1)[0]).toMatchObject({ p50: 20, p95: 40 });
	});
});

describe("a long series", () => {
	const points = Array.from({ length: 1001 }, (_, at): SeriesPoint => ({ ...POINT, t: 1000 + at }));

	it("has half as many points, and the last is not lost", () => {
		expect(condensed(points, 501)).toHaveLength(501);
		expect(condensed(points, 501).at(-1)).toEqual(points.at(-1));
	});

	it("keeps the sum of its requests whatever the resolution", () => {
		const few = condensed(points, 100);
		expect(few.length).toBeLessThanOrEqual(100);
		expect(few.reduce((sum, { sent }) => sum + sent, 0)).toBe(10_010);
		expect(few.reduce((sum, { s }) => sum + s, 0)).toBe(1001);
	});

	it("is left alone where it is short enough", () => {
		expect(condensed(points, 1001)).toBe(points);
	});
});
