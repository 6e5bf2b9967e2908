import { describe, expect, it } from "vitest";
import { AutoConcurrency, concurrencyFor } from "../../../src/run/rate/concurrency.ts";
import type { Answer } from "../../../src/run/rate/concurrency-window.ts";

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

	it("goes beyond 64 where more are allowed, and never beyond those", () => {
		expect(concurrencyFor(5_000, 50, 2_000)).toBe(423);
		expect(concurrencyFor(5_000, 300, 2_000)).toBe(1_742);
		expect(concurrencyFor(50_000, 300, 2_000)).toBe(2_000);
		expect(concurrencyFor(100, 50, 2_000)).toBe(12);
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

	it("a shared cap whose permits take long has more rows and more requests wait for them", () => {
		let lead = 0;
		const auto = new AutoConcurrency(
			() => 1_000,
			() => lead,
		);
		auto.observe(answer(5));
		const [rows, requests] = [auto.rows, auto.requests];
		lead = 20;
		expect(auto.rows).toBe(concurrencyFor(1_000, 25));
		expect(auto.rows).toBeGreaterThan(rows);
		expect(auto.requests).toBe(requests + 20);
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

	/** what is in flight after 30 s at a service that takes `capacity` a second, and answers after `latency` ms at best */
	const settled = (auto: AutoConcurrency, { capacity, latency }: { capacity: number; latency: number }): number => {
		for (let now = 0; now < 30_000;) {
			const inFlight = auto.requests;
			const took = Math.max(latency, (inFlight * 1000) / capacity);
			now += took / inFlight;
			auto.observe({ sent: now - took, came: now, inFlight });
		}
		return auto.requests;
	};

	it("goes beyond 64 for a rate that the user asked for, as far as that rate needs", () => {
		const service = { capacity: Number.POSITIVE_INFINITY, latency: 300 };
		const asked = settled(
			new AutoConcurrency(
				() => 2_000,
				undefined,
				() => 2_000,
			),
			service,
		);
		expect(asked).toBeGreaterThanOrEqual(600);
		expect(asked).toBeLessThanOrEqual(concurrencyFor(2_000, 300, 2_000));
		expect(settled(new AutoConcurrency(() => 2_000), service)).toBe(64);
	});

	it("stays few at a service that can't keep the rate that the user asked for", () => {
		const auto = new AutoConcurrency(
			() => 5_000,
			undefined,
			() => 2_000,
		);
		expect(settled(auto, { capacity: 150, latency: 10 })).toBeLessThanOrEqual(4);
	});

	it("returns to 64 when the rate no longer needs more", () => {
		let rate = 2_000;
		const service = { capacity: Number.POSITIVE_INFINITY, latency: 300 };
		const auto = new AutoConcurrency(
			() => rate,
			undefined,
			() => 2_000,
		);
		settled(auto, service);
		rate = 100;
		expect(settled(auto, service)).toBe(64);
	});

	it("without a cap rows are at their maximum, and requests are few until more bring more", () => {
		const auto = new AutoConcurrency(() => undefined);
		auto.observe(answer(1));
		expect([auto.rows, auto.requests]).toEqual([64, 4]);
	});
});
