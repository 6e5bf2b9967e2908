import { expect, it } from "vitest";
import { localTimeText, numberText, sizeText } from "../../src/text/words.ts";

it.each([
	[0, "0 B"],
	[999, "999 B"],
	[1_000, "1.0 kB"],
	[1_449, "1.4 kB"],
	[9_940, "9.9 kB"],
	[9_960, "10 kB"],
	[14_200, "14 kB"],
	[999_499, "999 kB"],
	[999_500, "1.0 MB"],
	[3_260_000_000, "3.3 GB"],
	[5e15, "5,000 TB"],
])("a size of %d bytes is read at a glance: %s", (bytes, text) => {
	expect(sizeText(bytes)).toBe(text);
});

it("a time is that of the clock on the wall, with zeros where digits would be missing", () => {
	expect(localTimeText(new Date(2026, 0, 2, 3, 4, 59))).toBe("2026-01-02 03:04");
	expect(localTimeText(new Date(2026, 10, 22, 0, 24))).toBe("2026-11-22 00:24");
});

it.each([
	[0, "0"],
	[999, "999"],
	[1_000, "1,000"],
	[1_234_567, "1,234,567"],
	[-1_000, "-1,000"],
	[12_345.5, "12,345.5"],
	[0.5, "0.5"],
])("a count of %d has its thousands divided: %s", (count, text) => {
	expect(numberText(count)).toBe(text);
});
