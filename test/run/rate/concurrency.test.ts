import { describe, expect, it } from "vitest";
import { AutoConcurrency, concurrencyFor } from "../../../src/run/rate/concurrency.ts";
import type { Answer } from "../../../src/run/rate/concurrency-search.ts";

describe("the concurrency that auto chooses", () => {
	it.each([
		[100, 0, 8],
		[100, 5, 8],
		[100, 50, 12],
		[100, 300, 49],
		[100, 10_000, 64],
		[5_000, 300, 64],
		[0.5, 1_000, 8],
	])("requests in flight that a rate of %d a second needs at %d ms: %d", (rate, latency, count) => {
		expect(concurrencyFor(rate, latency)).toBe(count);
	});

	const answer = (latency: number): Answer => ({ sent: 0, came: latency, inFlight: 1 });

	it("rows start low, follow a change of latency, and ignore one slow answer", () => {
		const auto = new AutoConcurrency(() => 100);
		expect(auto.rows).toBe(8);
		auto.observe(answer(300));
		expect(auto.rows).toBe(49);
		for (let place = 0; place < 100; place += 1) auto.observe(answer(10));
		expect(auto.rows).toBe(8);
		auto.observe(answer(200));
		expect(auto.rows).toBeLessThan(12);
	});

	it("requests match the cap at the first latency, and are few if the service can't keep the cap", () => {
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

	it("without a cap rows are at their maximum, and requests are few until more bring more", () => {
		const auto = new AutoConcurrency(() => undefined);
		auto.observe(answer(1));
		expect([auto.rows, auto.requests]).toEqual([64, 4]);
	});
});
