import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { holds, jsonLine, TABLE_HEAD, tableOf, tableRow, verdictText, withSection } from "../../bench/goals.mjs";
import { parse } from "../support/values.ts";

describe("a figure on the wrong side of its goal never passes for one that reaches it", () => {
	it.each([
		[0.8, ">= 0.8", true],
		[0.79, ">= 0.8", false],
		[1.8, "> 1.8", false],
		[1.81, "> 1.8", true],
		[1.3, "<= 1.3", true],
		[1.31, "<= 1.3", false],
		[1, "< 1", false],
		[0.99, "< 1", true],
		[0, "<= 0", true],
		[1, "<= 0", false],
	])("%d against %s", (figure, goal, isReached) => {
		expect(holds(figure, goal)).toBe(isReached);
	});

	it.each([
		[undefined, ">= 0.8"],
		[0.8, undefined],
	])("a figure that is missing, or has no goal, has no verdict", (figure, goal) => {
		expect(holds(figure, goal)).toBeNull();
	});

	it.each(["= 1", "1.3", "<=1.3", ">= much"])("a goal that can't be read is an error: %s", (goal) => {
		expect(() => holds(1, goal)).toThrow("no goal");
	});
});

describe("what is printed", () => {
	it("a JSON line has its four members, whatever could be measured", () => {
		expect(parse(jsonLine({ name: "speed", figure: 0.5, goal: ">= 0.8" }))).toEqual({
			name: "speed",
			figure: 0.5,
			goal: ">= 0.8",
			holds: false,
		});
		expect(parse(jsonLine({ name: "speed", why: "curl is not installed" }))).toEqual({
			name: "speed",
			figure: null,
			goal: null,
			holds: null,
		});
	});

	it.each([
		[{ name: "speed", figure: 0.5, goal: ">= 0.8" }, "| speed | 0.5 | at least 0.8 | **no** |"],
		[{ name: "memory", figure: 1234.5678, goal: "< 1600" }, "| memory | 1,234.568 | under 1,600 | yes |"],
		[{ name: "seconds", figure: 12 }, "| seconds | 12 |  |  |"],
		[
			{ name: "speed", goal: "> 1.8", why: "curl is not installed" },
			"| speed | not measured: curl is not installed | over 1.8 |  |",
		],
	])("a row of the table says what is not reached, and why a figure is missing", (figure, row) => {
		expect(tableRow(figure)).toBe(row);
	});

	it("the verdict names each goal that is not reached, and each that was not measured", () => {
		const figures = [
			{ name: "one", figure: 1, goal: ">= 0.8" },
			{ name: "two", figure: 0.5, goal: ">= 0.8" },
			{ name: "three", goal: "> 18" },
			{ name: "four", figure: 7 },
		];
		expect(verdictText(figures)).toBe("1 of 2 measured goals are reached. Not reached: two. Not measured: three.");
		expect(verdictText(figures.slice(0, 1))).toBe("1 of 1 measured goals are reached.");
	});
});

describe("the table of a page", () => {
	const page = "# Speed\n\n## Table\n\nold\n\n| old |\n\n## Next\n\ntext\n";

	it("a new one replaces the old one alone", () => {
		expect(withSection(page, "## Table", "new")).toBe("# Speed\n\n## Table\n\nnew\n\n## Next\n\ntext\n");
		expect(withSection(page, "## Next", "new")).toBe("# Speed\n\n## Table\n\nold\n\n| old |\n\n## Next\n\nnew\n");
	});

	it("a page without its heading is left alone", () => {
		expect(() => withSection(page, "## Tab", "new")).toThrow("no heading ## Tab");
	});

	it("bench/figures.md has the section that the bench writes", () => {
		const shown = readFileSync(new URL("../../bench/figures.md", import.meta.url), "utf8");
		expect(withSection(shown, "## All figures", `made\n\n${TABLE_HEAD}`)).toContain("made");
	});
});

describe("a table of a long run", () => {
	it("shows no figure in the column of another, where a tenth lacks one", () => {
		const tenths = [
			{ rows: 1_000_000, megabytes: 97 },
			{ rows: 2_000_000, seconds: 0.123 },
		];
		expect(tableOf(tenths)).toBe(
			"| rows | megabytes | seconds |\n|---|---|---|\n| 1,000,000 | 97 |  |\n| 2,000,000 |  | 0.123 |",
		);
	});
});
