import { describe, expect, it } from "vitest";
import { Latencies, percentilesBetween } from "../../../src/run/rate/slow-seconds.ts";

/** What is reported for requests of these times, in milliseconds. */
function percentilesOf(times: readonly number[]) {
	const latencies = new Latencies();
	for (const time of times) latencies.add(time);
	return percentilesBetween(undefined, latencies.snapshot());
}

describe("percentiles of the times of requests", () => {
	it.each([
		["one request", [42], 42, 42],
		["nineteen fast and one slow", [...Array<number>(19).fill(10), 5000], 10, 10],
		["nineteen fast and two slow", [...Array<number>(19).fill(10), 5000, 5000], 10, 5000],
		["from 1 to 100", Array.from({ length: 100 }, (_, at) => at + 1), 50, 95],
		["from 1 to 100 seconds", Array.from({ length: 100 }, (_, at) => 1000 * (at + 1)), 50_000, 95_000],
	])("within four hundredths: %s", (_, times, p50, p95) => {
		const found = percentilesOf(times);
		expect(found.count).toBe(times.length);
		expect((found.p50 ?? 0) / p50).toBeGreaterThan(0.96);
		expect((found.p50 ?? 0) / p50).toBeLessThan(1.04);
		expect((found.p95 ?? 0) / p95).toBeGreaterThan(0.96);
		expect((found.p95 ?? 0) / p95).toBeLessThan(1.04);
	});

	it("none without a request", () => {
		expect(percentilesOf([])).toEqual({ count: 0, p50: null, p95: null });
	});

	it.each([0, -1, 1e-9, 1e12, Number.POSITIVE_INFINITY])("a number for a time of %s ms", (time) => {
		const { p50 } = percentilesOf([time]);
		expect(p50).toBeGreaterThan(0);
		expect(p50).toBeLessThan(2e6);
	});

	it("only of the requests after a snapshot, for each of two readers", () => {
		const latencies = new Latencies();
		latencies.add(1000);
		const before = latencies.snapshot();
		latencies.add(10);
		const after = latencies.snapshot();
		expect(percentilesBetween(before, after)).toMatchObject({ count: 1, p50: expect.closeTo(10, 0) });
		expect(percentilesBetween(undefined, after).count).toBe(2);
	});
});
