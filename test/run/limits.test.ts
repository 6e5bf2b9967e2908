import { describe, expect, it } from "vitest";
import { chunked } from "../../src/run/rows.ts";
import { AutoConcurrency, concurrencyFor } from "../../src/run/rate/concurrency.ts";
import type { Answer } from "../../src/run/rate/concurrency-search.ts";
import { errorLimit, type MaxErrors, SameRefusals } from "../../src/run/stop/limits.ts";
import type { Totals } from "../../src/run/types.ts";

function totals(updated: number, failed: number): Totals {
	const none = { unchanged: 0, uploaded: 0, removed: 0, invalid: 0, duplicateSkipped: 0 };
	return { ...none, rows: 1_000, updated, failed, pending: 1_000 - updated - failed, attempts: 0 };
}

describe("--max-errors", () => {
	it.each<[MaxErrors | undefined, number, number, boolean]>([
		[undefined, 0, 1_000, false],
		[{ unit: "rows", value: 1 }, 10, 0, false],
		[{ unit: "rows", value: 1 }, 0, 1, true],
		[{ unit: "rows", value: 3 }, 900, 2, false],
		[{ unit: "rows", value: 3 }, 900, 3, true],
		[{ unit: "percent", value: 5 }, 0, 99, false],
		[{ unit: "percent", value: 5 }, 95, 5, true],
		[{ unit: "percent", value: 5 }, 96, 5, false],
		[{ unit: "percent", value: 0.1 }, 999, 1, true],
		[{ unit: "percent", value: 100 }, 1, 99, false],
		[{ unit: "percent", value: 100 }, 0, 100, true],
	])("%j: %d done and %d failed stop the run: %s", (limit, updated, failed, stops) => {
		expect(errorLimit(limit, totals(updated, failed)) !== undefined).toBe(stops);
	});

	it("names the limit and the count that reached it", () => {
		const stop = errorLimit({ unit: "percent", value: 5 }, totals(95, 5));
		expect(stop?.text).toBe("stopped by --max-errors 5 %: 5 of 100 finished rows failed");
	});
});

describe("rows that are all refused alike", () => {
	const refuse = (refused: SameRefusals, codes: readonly string[]): number =>
		codes.findIndex((code) => refused.failed({ code, text: "no" }) !== undefined);

	it("stop the run at the tenth", () => {
		const codes = Array.from({ length: 12 }, () => "CODE_102");
		expect(refuse(new SameRefusals(), codes)).toBe(9);
	});

	it("do not stop it when two refusals differed, or a row succeeded", () => {
		const codes = Array.from({ length: 40 }, (_, place) => (place === 8 ? "CODE_101" : "CODE_102"));
		expect(refuse(new SameRefusals(), codes)).toBe(-1);
		const refused = new SameRefusals();
		refused.succeeded();
		expect(refuse(refused, codes.slice(9))).toBe(-1);
	});
});

describe("requests in flight", () => {
	it.each([
		[100, 0, 8],
		[100, 5, 8],
		[100, 50, 12],
		[100, 300, 49],
		[100, 10_000, 64],
		[5_000, 300, 64],
		[0.5, 1_000, 8],
	])("that a rate of %d a second needs at %d ms: %d", (rate, latency, count) => {
		expect(concurrencyFor(rate, latency)).toBe(count);
	});

	const answer = (latency: number): Answer => ({ sent: 0, came: latency, inFlight: 1 });

	it("rows start low, follow a change of latency, and shrug off one slow answer", () => {
		const auto = new AutoConcurrency(() => 100);
		expect(auto.rows).toBe(8);
		auto.observe(answer(300));
		expect(auto.rows).toBe(49);
		for (let place = 0; place < 100; place += 1) auto.observe(answer(10));
		expect(auto.rows).toBe(8);
		auto.observe(answer(200));
		expect(auto.rows).toBeLessThan(12);
	});

	it("requests are as many as a cap needs at the first latency, and few of a cap that the service can't keep", () => {
		const far = new AutoConcurrency(() => 100);
		expect(far.requests).toBe(4);
		far.observe(answer(300));
		expect(far.requests).toBe(49);
		// Sixty-four in flight, each of which waits for all others: a service that takes 150 a second.
		const busy = new AutoConcurrency(() => 5_000);
		let now = 0;
		for (let place = 0; place < 10_000; place += 1) {
			const inFlight = busy.requests;
			now += 1000 / 150;
			busy.observe({ sent: now - (inFlight * 1000) / 150, came: now, inFlight });
		}
		expect(busy.requests).toBeLessThanOrEqual(4);
	});

	it("rows are as many as are allowed without a cap, and requests are few until more are seen to bring more", () => {
		const auto = new AutoConcurrency(() => undefined);
		auto.observe(answer(1));
		expect([auto.rows, auto.requests]).toEqual([64, 4]);
	});
});

describe("chunks", () => {
	it.each([
		[0, 3, []],
		[2, 3, [[0, 1]]],
		[3, 3, [[0, 1, 2]]],
		[4, 3, [[0, 1, 2], [3]]],
		[2, 1, [[0], [1]]],
	])("of %d rows by %d lose none", async (count, size, expected) => {
		async function* rows(): AsyncGenerator<number> {
			yield* Array.from({ length: count }, (_, index) => index);
		}
		const seen: number[][] = [];
		for await (const chunk of chunked(rows(), size)) seen.push(chunk);
		expect(seen).toEqual(expected);
	});
});
