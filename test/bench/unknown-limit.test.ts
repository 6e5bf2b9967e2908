import { describe, expect, it } from "vitest";
import { Gate, type GateOptions, type Update } from "../../bench/gate.mjs";
import { secondsUntilUsed, useOf } from "../../bench/measures/unknown-limit.mjs";

/** The statuses of so many updates, one every so many milliseconds. */
function statuses(options: GateOptions, milliseconds: number, count: number): number[] {
	const gate = new Gate(options);
	return Array.from({ length: count }, (_, index) => gate.status(index * milliseconds));
}

const passed = (all: readonly number[]): number => all.filter((status) => status === 200).length;

describe("the limit that the measure of the pace is taken behind", () => {
	it("takes a burst of ten and the first, as nginx does, and then its rate alone", () => {
		expect(passed(statuses({ rate: 60 }, 0, 30))).toBe(11);
		expect(passed(statuses({ rate: 60, status: 429 }, 10, 1_001))).toBe(610);
		expect(new Set(statuses({ rate: 60, status: 429 }, 10, 1_001))).toEqual(new Set([200, 429]));
	});

	it("changes its rate so many seconds after the first update", () => {
		const changed = statuses({ rate: 100, changes: [{ after: 5, rate: 50 }] }, 10, 1_001);
		expect(passed(changed.slice(0, 500))).toBe(500);
		expect(passed(changed.slice(600))).toBeCloseTo(200, -1);
	});

	it("fails the same answers in every run, half of them with a 503", () => {
		const failing = statuses({ failing: 0.25 }, 1, 2_000);
		expect(failing).toEqual(statuses({ failing: 0.25 }, 1, 2_000));
		expect(failing.filter((status) => status === 503).length / 2_000).toBeCloseTo(0.125, 1);
		expect(failing.filter((status) => status === 502).length / 2_000).toBeCloseTo(0.125, 1);
	});
});

describe("the use of a limit", () => {
	/** Updates that pass, one every so many milliseconds. */
	const every = (milliseconds: number, count: number, status = 200): Update[] =>
		Array.from({ length: count }, (_, index) => [index * milliseconds, status]);

	it("counts what passed against the limit, and what was refused against all", () => {
		const used = useOf([...every(20, 501), [10_001, 503]], 60);
		expect(used.share).toBeCloseTo(50 / 60, 2);
		expect(used.refused).toBeCloseTo(1 / 502);
	});

	it.each([
		["it is used from the beginning", every(20, 200), 0],
		["it is never used", every(50, 200), undefined],
		["it is used after four seconds", [...every(100, 40), ...every(20, 200).map(later(4_000))], 3.7],
		["most is refused for as long", [...every(5, 800, 503), ...every(20, 200).map(later(4_000))], 4],
	])("begins once most of it is used, and little refused: %s", (_, updates, seconds) => {
		const begins = secondsUntilUsed(updates, 0, 50);
		if (seconds === undefined) expect(begins).toBeUndefined();
		else expect(begins).toBeCloseTo(seconds, 0);
	});
});

function later(milliseconds: number): (update: Update) => Update {
	return ([at, status]) => [at + milliseconds, status];
}
