import { describe, expect, test } from "vitest";
import { retryAfter } from "../../src/rest/classify.ts";

const date = "Sun, 06 Nov 1994 08:49:37 GMT";
const now = Date.UTC(1994, 10, 6, 8, 49, 37);

describe("a retry comes when the service asked for it, never earlier", () => {
	test.each([
		["0", 0],
		["1", 1_000],
		["007", 7_000],
		["120", 120_000],
		[" 5 ", 5_000],
		["9999999999", 9_999_999_999_000],
		["99999999999", 9_999_999_999_000],
		["9".repeat(400), 9_999_999_999_000],
		["Sun, 06 Nov 1994 08:49:47 GMT", 10_000],
		["Sun, 06 Nov 1994 08:49:47 gmt", 10_000],
		["sun, 06 nov 1994 08:49:47 GMT", 10_000],
		["Sunday, 06-Nov-94 08:49:47 GMT", 10_000],
		["Sun Nov  6 08:49:47 1994", 10_000],
		["Sun, 06 Nov 1994 08:49:27 GMT", 0],
		["Thu, 01 Jan 1970 00:00:00 GMT", 0],
		["Fri, 06 Nov 2099 08:49:37 GMT", Date.UTC(2099, 10, 6, 8, 49, 37) - now],
	])("%j", (field, wait) => {
		expect(retryAfter([field], date, now + 86_400_000)).toBe(wait);
	});

	test.each([
		"",
		" ",
		"-1",
		"+1",
		"abc",
		"1.5",
		"1e3",
		"0x10",
		"1 s",
		"1,2",
		"NaN",
		"Infinity",
		"１",
		"null",
		"1994-11-06T08:49:47Z",
		"06 Nov 1994 08:49:47 GMT",
		"Sun, 06 Nov 1994 08:49:47",
		"Sun, 06 Nov 1994 08:49:47 UTC",
		"Sun, 06 Nov 1994 08:49:47 +0000",
		"Sun, 32 Nov 1994 08:49:47 GMT",
		"Sun, 06 Foo 1994 08:49:47 GMT",
		"Sun, 06 Nov 1994 24:49:47 GMT",
		"Sun, 06 Nov 1994 08:60:47 GMT",
		"Sun, 00 Nov 1994 08:49:47 GMT",
		"soon",
	])("%j is no valid wait, so the program's own back-off applies", (field) => {
		expect(retryAfter([field], date, now)).toBeUndefined();
	});

	test("of several fields the longest counts, and a malformed one does not spoil the others", () => {
		expect(retryAfter(["1", "30", "x", "2"], date, now)).toBe(30_000);
		expect(retryAfter([], date, now)).toBeUndefined();
	});

	test("a wrong clock of this machine does not shorten the wait; without a Date only that clock is left", () => {
		const later = "Sun, 06 Nov 1994 08:50:37 GMT";
		expect(retryAfter([later], date, now + 3_600_000)).toBe(60_000);
		expect(retryAfter([later], undefined, now + 20_000)).toBe(40_000);
		expect(retryAfter([later], "yesterday", now + 20_000)).toBe(40_000);
	});
});
