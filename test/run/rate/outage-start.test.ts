import { describe, expect, it } from "vitest";
import { Failures } from "../../../src/run/rate/outage.ts";

/** How many of `count` ends, one every `every` milliseconds, pass before an outage is seen; -1 where none is. */
function opensAt(count: number, every: number, failed: (place: number) => boolean, failures = new Failures()): number {
	for (let place = 0; place < count; place += 1) if (failures.add(failed(place), place * every)) return place + 1;
	return -1;
}

describe("an outage is distinguished from single failures", () => {
	it.each<[string, number, number, (place: number) => boolean, number]>([
		["twenty failures in a row, quick", 50, 1, () => true, 20],
		["twenty failures in a row, slow", 50, 60_000, () => true, 20],
		["nineteen, then one success, again and again", 99, 1, (place) => place % 20 !== 0, -1],
		["nineteen of twenty, a hundred times within half a minute", 400, 100, (place) => place % 20 !== 0, 100],
		["the same, too slow to be a hundred in half a minute", 400, 400, (place) => place % 20 !== 0, -1],
		["nine of ten, however many", 2_000, 10, (place) => place % 10 !== 0, -1],
		["no failure at all", 2_000, 10, () => false, -1],
	])("%s", (_, count, every, failed, opens) => {
		expect(opensAt(count, every, failed)).toBe(opens);
	});

	it("failures before an outage do not count once the service is back", () => {
		const failures = new Failures();
		opensAt(400, 10, (place) => place % 20 !== 0, failures);
		failures.forget();
		expect(failures.add(true, 4_000)).toBe(false);
	});

	it("old failures expire, even if the clock stood still for an hour", () => {
		const failures = new Failures();
		for (let place = 0; place < 95; place += 1) failures.add(place % 19 !== 0, place);
		for (let place = 0; place < 10; place += 1) expect(failures.add(place > 0, 3_600_000 + place)).toBe(false);
	});
});
