import { describe, expect, it } from "vitest";
import { LoweredRate, AnswerMeter } from "../../../src/run/rate/adaptive-rate.ts";

/** The rates at those seconds, rounded. */
function rates(lowered: LoweredRate, seconds: readonly number[]): (number | undefined)[] {
	return seconds.map((second) => {
		const rate = lowered.at(second * 1000);
		return rate === undefined ? undefined : Math.round(rate * 100) / 100;
	});
}

describe("a rate that the service asked to lower", () => {
	it("stays at the cap until then", () => {
		expect(new LoweredRate(() => 100).at(0)).toBeUndefined();
	});

	it("falls by three tenths at once and rises by a twentieth of the cap each second, up to the cap", () => {
		const lowered = new LoweredRate(() => 100);
		lowered.cut(0);
		expect(rates(lowered, [0, 1, 2, 5.9, 6, 60])).toEqual([70, 75, 80, 99.5, undefined, undefined]);
	});

	it("falls at most once a second, however many requests are throttled", () => {
		const lowered = new LoweredRate(() => 100);
		for (let time = 0; time < 1_000; time += 10) lowered.cut(time);
		expect(rates(lowered, [0.99])).toEqual([74.95]);
		lowered.cut(1_000);
		expect(rates(lowered, [1])).toEqual([52.5]);
	});

	it.each([
		[100, 0.5],
		[2, 0.5],
		[0.1, 0.1],
	])("of %d a second never falls below %d, so that a run continues", (full, least) => {
		const lowered = new LoweredRate(() => full);
		for (let time = 0; time < 100_000; time += 1_000) {
			lowered.cut(time);
			lowered.startSlowly(time, time);
			expect(lowered.at(time) ?? full).toBeGreaterThanOrEqual(least);
		}
	});

	it("restarts with a quarter after a pause and doubles each second, so that requests do not come all at once", () => {
		const lowered = new LoweredRate(() => 100);
		lowered.startSlowly(0, 10_000);
		expect(rates(lowered, [5, 10, 10.9, 11, 11.9, 12])).toEqual([25, 25, 25, 50, 50, undefined]);
	});

	it("does not rise while nothing is sent", () => {
		const lowered = new LoweredRate(() => 100);
		lowered.cut(0);
		lowered.startSlowly(0, 60_000);
		expect(rates(lowered, [60, 61, 62, 66])).toEqual([17.5, 37.5, 80, undefined]);
	});

	it("computes its target again each time that it is lowered", () => {
		let full = 200;
		const lowered = new LoweredRate(() => full);
		lowered.cut(0);
		full = 1_000;
		expect(rates(lowered, [1, 6])).toEqual([150, undefined]);
		lowered.cut(7_000);
		expect(rates(lowered, [7])).toEqual([700]);
	});
});

describe("the rate at which a service answers", () => {
	it("is that of the last two seconds with answers, even after an outage", () => {
		const meter = new AnswerMeter();
		expect(meter.rate).toBe(10);
		for (let place = 0; place < 300; place += 1) meter.answered(place * 5);
		expect(meter.rate).toBe(200);
		meter.answered(900_000);
		expect(meter.rate).toBe(100);
	});
});
