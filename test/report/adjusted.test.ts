import { describe, expect, it } from "vitest";
import { adjustedLine, adjustedTexts } from "../../src/report/pace.ts";
import type { Adjustment } from "../../src/run/rate/rate-control.ts";

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
