import { describe, expect, it } from "vitest";
import { Controller } from "../../../src/run/rate/controller.ts";
import { type Course, eachSecond, failing, leakyBucket, oneByOne, simulate, slidingCounter } from "./simulation.ts";

const LIMIT = 60;

describe("a limit of 60/s that is not known, with a burst of 10, as nginx keeps it", () => {
	const ways = [5, 30, 300].flatMap((way) =>
		([429, 503] as const).flatMap((status) => [100, undefined].map((cap) => ({ way, status, cap }))),
	);
	it.each(ways)("is used, and few are refused: $status, cap $cap, at $way ms", ({ way, status, cap }) => {
		const rows = 1_500;
		const { end, refused, tries } = simulate(
			leakyBucket(() => LIMIT, status, 2),
			{ rows, ...(cap === undefined ? {} : { cap }), way },
		);
		expect((rows * 1000) / end / LIMIT).toBeGreaterThan(0.92);
		// At 300 ms a refusal is known only after 18 more requests.
		expect(refused()).toBeLessThan(way === 300 ? 0.08 : 0.025);
		expect(tries / rows).toBeLessThan(way === 300 ? 0.07 : 0.02);
	});

	it.each([
		{ status: 429, cap: 100, way: 30 },
		{ status: 429, cap: undefined, way: 300 },
		{ status: 503, cap: 100, way: 300 },
		{ status: 503, cap: undefined, way: 30 },
	] as const)("is used ten seconds after a fall to 20 and a rise: $status, $cap, $way ms", ({ status, cap, way }) => {
		const limit = (seconds: number): number => (seconds < 20 ? LIMIT : seconds < 40 ? 20 : 100);
		const { passed, refused } = simulate(leakyBucket(limit, status, 2), {
			rows: 3_400,
			...(cap === undefined ? {} : { cap }),
			way,
		});
		expect(passed(30, 39)).toBeGreaterThan(0.85 * 20);
		expect(passed(50, 55)).toBeGreaterThan(0.85 * 100);
		expect(refused()).toBeLessThan(0.06);
	});
});

describe("a service that takes so many at any concurrency", () => {
	it.each([
		{ rate: 150, cap: undefined, share: 0.97, most: 9 },
		{ rate: 150, cap: 300, share: 0.97, most: 16 },
		{ rate: 26, cap: undefined, share: 0.93, most: 9 },
		{ rate: 26, cap: 300, share: 0.92, most: 40 },
	])("is used with few requests in flight: $rate/s, cap $cap", ({ rate, cap, share, most }) => {
		const course = simulate(oneByOne(rate, 1), { rows: rate * 40, ...(cap === undefined ? {} : { cap }), way: 4 });
		expect(course.passed(5, 35) / rate).toBeGreaterThan(share);
		expect(course.mostInFlight).toBeLessThanOrEqual(most);
		expect(course.inFlight(10)).toBeLessThan(6);
		expect(course.controller.found.because).toBe("latency");
	});
});

describe("a service that refuses everything for a moment", () => {
	it.each([
		{ name: "HAProxy, whose counter counts refusals", cap: 100, make: slidingCounter, least: 0.88, most: 0.02 },
		{ name: "HAProxy, whose counter counts refusals", cap: undefined, make: slidingCounter, least: 0.86, most: 0.02 },
		{ name: "a quota of each second", cap: 100, make: eachSecond, least: 0.93, most: 0.035 },
		{ name: "a quota of each second", cap: undefined, make: eachSecond, least: 0.91, most: 0.03 },
	])("costs little: $name, cap $cap", ({ cap, make, least, most }) => {
		const limited = cap === undefined ? {} : { cap };
		const courses = Array.from({ length: 10 }, (_, seed) =>
			simulate(make(LIMIT, 429, 30), { rows: 1_500, way: 2, seed, ...limited }),
		);
		const mean = (of: (course: Course) => number): number => courses.reduce((sum, course) => sum + of(course), 0) / 10;
		expect(mean(({ end }) => 1_500 / (end / 1000) / LIMIT)).toBeGreaterThan(least);
		expect(mean(({ refused }) => refused())).toBeLessThan(most);
	});

	it("is found by 503, too, though all answers of that moment are refusals", () => {
		const course = simulate(slidingCounter(60, 503, 30), { rows: 1_500, cap: 100, way: 2 });
		expect(1_500 / (course.end / 1000) / 60).toBeGreaterThan(0.75);
	});
});

describe("a low limit that refuses by 503", () => {
	it.each([1, 5].flatMap((rate) => [100, undefined].map((cap) => ({ rate, cap }))))(
		"is found, and no row is tried again and again: $rate/s, cap $cap",
		({ rate, cap }) => {
			const rows = rate * 60;
			const limited = cap === undefined ? {} : { cap };
			const { end, tries } = simulate(
				leakyBucket(() => rate, 503, 2),
				{ rows, way: 30, ...limited },
			);
			expect(end).toBeLessThan(80_000);
			expect(tries).toBeLessThan(300);
		},
	);
});

it("503 that come at once are found to be a limit though a success takes 300 ms", () => {
	const course = simulate(
		leakyBucket(() => 60, 503, 300),
		{ rows: 1_500, way: 2 },
	);
	expect(course.refused()).toBeLessThan(0.05);
	expect(1_500 / (course.end / 1000) / 60).toBeGreaterThan(0.9);
});

describe("answers that fail by chance, half 503 and half 502", () => {
	it.each([0.01, 0.05, 0.25])("do not slow a run, though 503 may mean too fast: %d", (share) => {
		const times = Array.from({ length: 20 }, (_, seed) => {
			const { end, requests } = simulate(failing(share, 2, seed + 1), { rows: 1_500, cap: 100, way: 20, seed });
			return end / (requests.length * 10);
		});
		expect(times.reduce((sum, time) => sum + time, 0) / times.length).toBeLessThan(1.05);
		expect(Math.max(...times)).toBeLessThan(1.1);
	});

	// Two trials in a row saw hardly any 503: each of these runs took 150 times as long.
	it.each([394, 887, 1668, 2372])("let a rate rise again that was lowered for them by mistake: seed %d", (seed) => {
		const { end, requests } = simulate(failing(0.25, 2, seed + 1), { rows: 1_500, cap: 100, way: 20, seed });
		expect(end / (requests.length * 10)).toBeLessThan(8);
	});

	it("cost tries, so that a row which always fails ends", () => {
		const { tries, requests } = simulate(failing(0.25, 2, 3), { rows: 1_500, cap: 100, way: 20 });
		expect(tries).toBe(requests.filter(({ status }) => status !== 200).length);
	});
});

describe("a service without a limit", () => {
	it.each([
		{ cap: 100, way: 5 },
		{ cap: 100, way: 300 },
		{ cap: 1_000, way: 50 },
	])("gets the cap: $cap/s at $way ms", ({ cap, way }) => {
		const course = simulate(() => ({ status: 200, takes: 1 }), { rows: cap * 15, cap, way });
		expect(course.passed(2, 14) / cap).toBeGreaterThan(0.99);
	});

	it("is asked twice as much each half second without a cap, and is not paced in the end", () => {
		const course = simulate(() => ({ status: 200, takes: 1 }), { rows: 20_000, way: 50 });
		expect(course.passed(0, 0.5)).toBeLessThan(25);
		expect(course.passed(4, 8)).toBeGreaterThan(1_100);
		expect(course.controller.pace(1e9)).toBeUndefined();
	});

	it("holds a run without a cap back for two and a half seconds, no longer", () => {
		const course = simulate(() => ({ status: 200, takes: 1 }), { rows: 4_000 });
		expect(course.end).toBeGreaterThan(2_500);
		expect(course.end).toBeLessThan(3_000);
	});

	it("does not hold it back longer for the time before its rows, in which a manifest was checked", () => {
		const controller = new Controller(undefined, 0);
		controller.rowsBegin(1_400);
		for (let sent = 1_400; sent <= 1_900; sent += 50) {
			controller.sent(sent, false);
			controller.answered(sent, sent + 1);
		}
		expect(controller.pace(1_902)).toBe(40);
	});
});

describe("a wait", () => {
	it.each([
		[5_000, 25],
		[6_000, 50],
		[7_000, undefined],
	])("is followed by few requests: at %d ms %j a second", (now, pace) => {
		const controller = new Controller(100, 0);
		controller.startSlowly(5_000);
		expect(controller.pace(now)).toBe(pace);
	});

	it("is named as long as the rate is low for it", () => {
		const controller = new Controller(100, 0);
		controller.startSlowly(5_000);
		expect(controller.slowness(5_500)).toMatchObject({ cause: "restart", now: 25 });
		expect(controller.slowness(8_000)).toBeUndefined();
	});
});

describe("refusals of one round trip", () => {
	it("are one event: the rate falls once", () => {
		const controller = new Controller(100, 0);
		for (let sent = 0; sent < 10; sent++) controller.refused(sent, 100);
		expect(controller.pace(100)).toBe(85);
		expect(controller.slowness(100)).toMatchObject({ cause: "429", at: 100 });
	});

	it("that are a service's every answer leave the ceiling that was known, so that it comes back fast", () => {
		const controller = new Controller(100, 0);
		controller.refused(0, 100);
		for (let time = 200; time < 5_000; time += 50) controller.refused(time, time + 10);
		expect(controller.pace(5_000)).toBeLessThan(3);
		expect(controller.found).toMatchObject({ rate: 100 });
	});
});
