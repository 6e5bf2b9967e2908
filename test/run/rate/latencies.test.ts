import { describe, expect, it } from "vitest";
import { Latencies } from "../../../src/run/rate/slow-seconds.ts";

/** What is reported for requests of these times, in milliseconds. */
function percentilesOf(times: readonly number[]) {
	const latencies = new Latencies();
	for (const time of times) latencies.add(time);
	return latencies.take();
}

describe("percentiles of the times of requests", () => {
	it.each([
		["one request", [42], 42, 42],
		["nineteen fast and one slow", [...Array<number>(19).fill(10), 5000], 10, 10],
		["nineteen fast and two slow", [...Array<number>(19).fill(10), 5000, 5000], 10, 5000],
		["from 1 to 100", Array.from({ length: 100 }, (_, at) => at + 1), 50, 95],
		["from 1 to 100 seconds", Array.from({ length: 100 }, (_, at) => 1000 * (at + 1)), 50_000, 95_000],
	])("within a hundredth: %s", (_, times, p50, p95) => {
		const found = percentilesOf(times);
		expect((found.p50 ?? 0) / p50).toBeGreaterThan(0.99);
		expect((found.p50 ?? 0) / p50).toBeLessThan(1.01);
		expect((found.p95 ?? 0) / p95).toBeGreaterThan(0.99);
		expect((found.p95 ?? 0) / p95).toBeLessThan(1.01);
	});

	it("none without a request", () => {
		expect(percentilesOf([])).toEqual({ p50: null, p95: null });
	});

	it.each([0, -1, 1e-9, 1e12, Number.POSITIVE_INFINITY])("a number for a time of %s ms", (time) => {
		const { p50 } = percentilesOf([time]);
		expect(p50).toBeGreaterThan(0);
		expect(p50).toBeLessThan(4e6);
	});

	it("only of the requests since they were taken last", () => {
		const latencies = new Latencies();
		latencies.add(1000);
		latencies.take();
		latencies.add(10);
		expect(latencies.take()).toEqual({ p50: expect.closeTo(10, 0), p95: expect.closeTo(10, 0) });
		expect(latencies.take()).toEqual({ p50: null, p95: null });
	});
});
