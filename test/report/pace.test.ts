import { describe, expect, it } from "vitest";
import { adjustedLine, adjustedTexts, foundRateText, paceText, slowCauses } from "../../src/report/pace.ts";
import type { Adjustment } from "../../src/run/rate/rate-control.ts";
import type { Pace } from "../../src/run/rate/slow-seconds.ts";

const pace = (more: Partial<Pace>): Pace => ({
	requests: 3100,
	seconds: 100,
	latency: 30,
	concurrency: 8,
	cap: 100,
	slow: [],
	...more,
});

const waited = { cause: "429", seconds: 84.2 };
const outage = { cause: "outage", seconds: 12 };
const slowed = { cause: "slowed", seconds: 20.4 };
const full = { cause: "concurrency", seconds: 60 };

it.each([
	["waits, an outage", { slow: [waited, outage] }, 100, "rate: 31 of 100 a second (waited 84 s for 429, outage 12 s)"],
	["a lowered rate", { slow: [slowed] }, 100, "rate: 31 of 100 a second (slowed for 20 s)"],
	[
		"requests in flight",
		{ slow: [full], latency: 258, requests: 800 },
		100,
		"rate: 8 of 100 a second (8 in flight at 258 ms each for 60 s)",
	],
	["no cause that is known", { latency: 120 }, 100, "rate: 31 of 100 a second (a request took 120 ms)"],
	["nine tenths of the cap", { requests: 9000, slow: [waited] }, 100, undefined],
	["no cap", { slow: [waited, outage] }, undefined, "rate: 31 a second (waited 84 s for 429, outage 12 s)"],
	["no cap and no cause", {}, undefined, undefined],
	["a short run without a cause", { requests: 120, seconds: 4 }, 100, undefined],
	["few requests without a cause", { requests: 30 }, 100, undefined],
	[
		"a short run that waited",
		{ requests: 30, seconds: 4, slow: [{ cause: "503", seconds: 3 }] },
		100,
		"rate: 7.5 of 100 a second (waited 3 s for 503)",
	],
	["no time", { requests: 0, seconds: 0 }, 100, undefined],
] as const)("the summary says why a run was slow: %s", (_, more, cap, expected) => {
	expect(paceText(pace({ ...more, cap }))).toBe(expected);
});

it("what a run is by itself is a cause only where it lasted long, so that a short run names none", () => {
	const rows = { cause: "rows", seconds: 3 };
	expect(slowCauses(pace({ slow: [waited, full, rows], requests: 800 }))).toEqual([waited, full, rows]);
	expect(slowCauses(pace({ slow: [waited, full, rows], requests: 9900 }))).toEqual([waited]);
	expect(slowCauses(pace({ slow: [waited, full, rows], seconds: 4 }))).toEqual([waited]);
	expect(slowCauses(pace({ slow: [full], cap: undefined }))).toEqual([full]);
});

it.each([
	[{ rate: 148, because: "latency", at: 155 }, "found 148 a second: above it the answers took longer"],
	[{ rate: 1_980, because: "429", at: 2_100 }, "found 1,980 a second: 429 at 2,100 a second"],
	[{ rate: 7.5, because: "503", at: 8 }, "found 7.5 a second: 503 at 8 a second"],
	[{ rate: 640, because: null, at: null }, "no limit was seen up to 640 a second"],
] as const)("a user learns what was found, and why no more: %j", (found, text) => {
	expect(foundRateText(found)).toBe(text);
});

const time = new Date(2026, 10, 22, 22, 4, 59);
const rate = (to: number): Adjustment => ({ kind: "rate", from: 100, to, by: "runs adjust", time });

describe("the summary names what was changed while the run went on", () => {
	it.each<[Adjustment, string, object]>([
		[rate(20), "rate changed: 100 → 20 at 22:04 (runs adjust)", { rate: 20, by: "runs adjust" }],
		[
			{ kind: "rate", from: 20, to: "unlimited", by: "timetable", time },
			"rate changed: 20 → unlimited at 22:04 (timetable)",
			{ rate: "unlimited", by: "timetable" },
		],
		[{ kind: "paused", by: "runs adjust", time }, "paused at 22:04 (runs adjust)", { paused: true, by: "runs adjust" }],
		[
			{ kind: "continued", by: "runs adjust", time },
			"continued at 22:04 (runs adjust)",
			{ paused: false, by: "runs adjust" },
		],
	])("%o", (change, text, line) => {
		expect(adjustedTexts([change])).toEqual([text]);
		expect(adjustedLine(change)).toEqual({ time: time.toISOString(), ...line });
	});

	it("in a few lines, however many changes there were", () => {
		const texts = adjustedTexts([1, 2, 3, 4, 5, 6, 7].map(rate));
		expect(texts).toHaveLength(6);
		expect(texts[0]).toBe("2 earlier changes");
		expect(texts.at(-1)).toContain("100 → 7");
		expect(adjustedTexts([])).toEqual([]);
	});
});
