import { describe, expect, it } from "vitest";
import { highestRate, minuteOfDay, parseRateSetting, rateAt, rateSettingText } from "../src/rates.ts";

describe("what --rate takes", () => {
	it.each([
		["20", 20],
		["0.5", 0.5],
		["unlimited", "unlimited"],
		["auto", "auto"],
		["08:00=auto", [{ minute: 480, rate: "auto" }]],
		["08:00=20", [{ minute: 480, rate: 20 }]],
		[
			"20:00=100 8:30=unlimited",
			[
				{ minute: 510, rate: "unlimited" },
				{ minute: 1200, rate: 100 },
			],
		],
		[
			" 00:00=1\t23:59=0.25 ",
			[
				{ minute: 0, rate: 1 },
				{ minute: 1439, rate: 0.25 },
			],
		],
	])("%j is read as it is meant", (text, setting) => {
		expect(parseRateSetting(text)).toEqual(setting);
	});

	it.each([
		["", "nothing"],
		["0", "a rate of zero"],
		["-5", "a negative rate"],
		["1e3", "an exponent"],
		["1000001", "a rate above the highest"],
		["fast", "a word"],
		["08:00", "a time without a rate"],
		["08:00=", "a time with an empty rate"],
		["=20", "a rate without a time"],
		["24:00=20", "an hour that no day has"],
		["08:60=20", "a minute that no hour has"],
		["8=20", "an hour alone"],
		["08:00=20,20:00=100", "a comma between entries"],
		["08:00=20 08:00=30", "the same time twice"],
		["8:00=20 08:00=30", "the same time in two forms"],
		["08:00=20 100", "a rate beside an entry"],
		["08:00=08:00=20", "two times in one entry"],
	])("%j is refused: %s", (text) => {
		expect(parseRateSetting(text)).toBeUndefined();
	});

	it.each(["20", "auto", "unlimited", "08:00=20 20:00=auto", "08:00=20 20:00=100", "00:05=unlimited"])(
		"%s is shown as it is typed",
		(text) => {
			expect(rateSettingText(parseRateSetting(text) ?? 0)).toBe(text);
		},
	);
});

describe("a timetable", () => {
	const day = parseRateSetting("08:00=20 20:00=100 23:30=unlimited") ?? 0;

	it.each([
		["00:00", "unlimited"],
		["07:59", "unlimited"],
		["08:00", 20],
		["19:59", 20],
		["20:00", 100],
		["23:29", 100],
		["23:30", "unlimited"],
	])("has at %s the rate of the last entry before it, which may be of the day before", (time, rate) => {
		const [hours = 0, minutes = 0] = time.split(":").map(Number);
		expect(rateAt(day, minuteOfDay(new Date(2026, 10, 22, hours, minutes, 59)))).toBe(rate);
	});

	it.each([
		["08:00=20 20:00=100", 100],
		["08:00=20 20:00=unlimited", "unlimited"],
		["7", 7],
	])("%s asks for %s at most, which doctor compares with what is safe", (text, highest) => {
		expect(highestRate(parseRateSetting(text) ?? 0)).toBe(highest);
	});
});
