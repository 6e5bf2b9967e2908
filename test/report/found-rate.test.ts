import { expect, it } from "vitest";
import { foundRateText } from "../../src/report/pace.ts";

it.each([
	[{ rate: 148, because: "latency", at: 155 }, "found 148 a second: above it the answers took longer"],
	[{ rate: 1_980, because: "429", at: 2_100 }, "found 1,980 a second: 429 at 2,100 a second"],
	[{ rate: 7.5, because: "503", at: 8 }, "found 7.5 a second: 503 at 8 a second"],
	[{ rate: 640, because: null, at: null }, "no limit was seen up to 640 a second"],
] as const)("a user learns what was found, and why no more: %j", (found, text) => {
	expect(foundRateText(found)).toBe(text);
});
