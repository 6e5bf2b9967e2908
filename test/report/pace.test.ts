import { expect, it } from "vitest";
import { paceText, slowCauses } from "../../src/report/pace.ts";
import type { Pace } from "../../src/run/rate/slow-seconds.ts";

const pace = (more: Partial<Pace>): Pace => ({
	requests: 3100,
	seconds: 100,
	latency: 30,
	concurrency: 8,
	slow: [],
	...more,
});

const waited = { cause: "429", seconds: 84.2 };
const outage = { cause: "outage", seconds: 12 };
const slowed = { cause: "slowed", seconds: 20.4 };
const full = { cause: "concurrency", seconds: 60 };

it.each([
	[
		"waits and an outage",
		{ slow: [waited, outage] },
		100,
		"rate: 31 of 100 a second (waited 84 s for 429, outage 12 s)",
	],
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
	expect(paceText(pace(more), cap)).toBe(expected);
});

it("what a run is by itself is a cause only where it lasted long, so that a short run names none", () => {
	const rows = { cause: "rows", seconds: 3 };
	expect(slowCauses(pace({ slow: [waited, full, rows], requests: 800 }), 100)).toEqual([waited, full, rows]);
	expect(slowCauses(pace({ slow: [waited, full, rows], requests: 9900 }), 100)).toEqual([waited]);
	expect(slowCauses(pace({ slow: [waited, full, rows], seconds: 4 }), 100)).toEqual([waited]);
	expect(slowCauses(pace({ slow: [full] }), undefined)).toEqual([full]);
});
