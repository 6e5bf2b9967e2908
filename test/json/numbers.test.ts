import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { processorTime } from "../support/cpu.ts";
import { isDoubleInFull, isJsonNumber, survivesDouble } from "../../src/json/numbers.ts";
import { withDigits } from "../../src/rest/inexact.ts";

describe("which numbers a double keeps", () => {
	it.each<[string, boolean]>([
		["0", true],
		["-0", true],
		["0.000", true],
		["1.0", true],
		["1000", true],
		["1e3", true],
		["100e-2", true],
		["0.1", true],
		["1e21", true],
		["12345678901234567890", false],
		["9007199254740993", false],
		["1e400", false],
		["1e-400", false],
		["0e400", true],
		["1e99999999999999999999999", false],
		["1e-99999999999999999999999", false],
		["0e99999999999999999999999", true],
		[`1${"0".repeat(20)}`, true],
		[`1${"0".repeat(400)}e-400`, true],
		[`0.${"0".repeat(400)}1e401`, true],
	])("%s: %j", (text, kept) => {
		expect(survivesDouble(text)).toBe(kept);
	});

	it("any double in any spelling of its digits is kept", () => {
		fc.assert(
			fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.nat(30), (value, zeros) => {
				const [mantissa = "", exponent = "0"] = String(value).split("e");
				const padded = `${mantissa}${mantissa.includes(".") ? "" : "."}${"0".repeat(zeros + 1)}e${exponent}`;
				expect([isJsonNumber(padded), survivesDouble(padded)]).toEqual([true, true]);
			}),
		);
	});
});

// A quadratic reading of these takes a minute; this one takes milliseconds.
describe("a number of 300 kB is checked at once, in a cell or in a service's answer", () => {
	const zeros = "0".repeat(300_000);
	it.each([
		["zeros between two digits", `1${zeros}1`],
		["zeros at its end", `1${zeros}`],
		["zeros at its beginning", `0.${zeros}1`],
		["an exponent", `1e${zeros}1`],
		["a negative exponent", `1${zeros}e-${zeros.slice(1)}1`],
	])("of %s", async (_, text) => {
		const taken = await processorTime(() => {
			expect(isJsonNumber(text)).toBe(true);
			survivesDouble(text);
			isDoubleInFull(text);
			withDigits(`{"a":${text}}`);
		});
		expect(taken).toBeLessThan(5_000);
	});
});
