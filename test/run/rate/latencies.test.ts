import { expect, it } from "vitest";
import { Latencies } from "../../../src/run/rate/slow-seconds.ts";

it.each([
	["no request", [], null, null],
	["one request", [42], 42, 42],
	["nineteen fast and one slow", [5000, ...Array<number>(19).fill(10)], 10, 10],
	["nineteen fast and two slow", [5000, 5000, ...Array<number>(19).fill(10)], 10, 5000],
	["from 1 to 100", Array.from({ length: 100 }, (_, at) => at + 1), 50, 95],
	["more digits than are known", [41.23456], 41.2, 41.2],
	["more than are kept", Array<number>(20_000).fill(7), 7, 7],
] as const)("percentiles of %s, once", (_, times, p50, p95) => {
	const latencies = new Latencies();
	for (const time of times) latencies.add(time);
	expect(latencies.take()).toEqual({ p50, p95 });
	expect(latencies.take()).toEqual({ p50: null, p95: null });
});
