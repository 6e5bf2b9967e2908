import fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { type Column, tableOf } from "../../src/report/table.ts";

/** A table as it is printed: the columns, then the rows. */
function printed(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string[] {
	const line = tableOf(columns, rows, width);
	return [columns.map(({ name }) => name), ...rows].map(line);
}

describe("a table", () => {
	it.each([
		["abc", 3],
		["", 0],
		["文件", 4],
		["한글", 4],
		["ｶﾅ", 2],
		["ＡＢ", 4],
		["𠀀", 2],
		["📄", 2],
		["👩‍👩‍👧", 2],
		["🇩🇪", 2],
		["©™→", 3],
		["e\u0301", 1],
		["❤\uFE0F", 2],
	])("knows that %j takes %d columns of a terminal", (text, width) => {
		const [head] = printed([{ name: "" }, { name: "y" }], [[text, "a"]], 80);
		expect(head).toBe(`${" ".repeat(width)}  y`);
	});

	it("keeps columns straight below each other, wide characters or not", () => {
		const rows = [
			["文件", "a"],
			["👩‍👩‍👧", "b"],
			["e\u0301tude", "c"],
		];
		expect(printed([{ name: "x" }, { name: "y" }], rows, 80)).toEqual([
			"x      y",
			"文件   a",
			"👩‍👩‍👧     b",
			"e\u0301tude  c",
		]);
	});

	it.each([
		["abcdefgh", 5, "abcd…"],
		["文件文件", 6, "文件…"],
		["a👩‍👩‍👧b👩‍👩‍👧", 5, "a👩‍👩‍👧b…"],
		["abcde", 5, "abcde"],
	])("cuts %j to %d columns, and divides no character", (text, width, cut) => {
		expect(tableOf([{ name: "" }], [[text]], width)([text])).toBe(cut);
	});

	it("puts numbers and sizes below each other by their last digits, so that they can be compared", () => {
		const rows = [
			["a", "5", "14 kB", "1"],
			["b", "1,250", "1.4 MB", "x"],
			["c", "", "0 B", "2"],
		];
		expect(printed([{ name: "n" }, { name: "pages" }, { name: "size" }, { name: "mixed" }], rows, 80)).toEqual([
			"n  pages    size  mixed",
			"a      5   14 kB  1",
			"b  1,250  1.4 MB  x",
			"c            0 B  2",
		]);
	});

	it("leaves columns out in their order, until what stays can be read, and then narrows the widest", () => {
		const columns = [
			{ name: "name", readable: 10 },
			{ name: "first", spare: 0 },
			{ name: "second", spare: 1 },
			{ name: "id", isTyped: true },
		];
		const rows = [["n".repeat(20), "f".repeat(9), "s".repeat(9), "0123456789"]];
		const heads = (width: number): string[] =>
			(printed(columns, rows, width)[0] ?? "").split(/ +/).filter((word) => word !== "");
		expect(heads(54)).toEqual(["name", "first", "second", "id"]);
		expect(heads(42)).toEqual(["name", "first", "second", "id"]);
		expect(heads(41)).toEqual(["name", "first", "id"]);
		expect(heads(31)).toEqual(["name", "id"]);
		expect(printed(columns, rows, 22)[1]).toBe("nnnnnnnnn…  0123456789");
	});

	it("shows a rarer column that fits where a commoner one does not, and cuts no name for a longer value", () => {
		const columns = [
			{ name: "name", readable: 10 },
			{ name: "long", spare: 0 },
			{ name: "n", spare: 1 },
		];
		expect(printed(columns, [["n".repeat(12), "l".repeat(30), "5"]], 17)).toEqual([
			"name          n",
			"nnnnnnnnnnnn  5",
		]);
		expect(printed(columns, [["n".repeat(12), "l".repeat(30), "5"]], 24)[1]).toBe("nnnnnnnnn…  llllllll…  5");
	});

	it("puts the id below the name where the terminal is too narrow for both, so that both can be read", () => {
		const columns = [
			{ name: "name", readable: 10 },
			{ name: "size", spare: 0 },
			{ name: "id", isTyped: true },
		];
		const rows = [
			["n".repeat(20), "1 kB", "0123456789"],
			["m", "2 kB", "1123456789"],
		];
		expect(printed(columns, rows, 21)).toEqual([
			"name             size\n  id",
			"nnnnnnnnnnnnnn…  1 kB\n  0123456789",
			"m                2 kB\n  1123456789",
		]);
		expect(printed(columns, rows, 3)[1]).toBe("nnn…\n  0123456789");
	});

	it("never cuts a cell that is typed into the next command, not even one that is longer than those it was laid out by", () => {
		const columns = [{ name: "name" }, { name: "id", isTyped: true }];
		const line = tableOf(columns, [["a", "0123"]], 20);
		expect(line(["a".repeat(30), "0123456789abcdef"])).toBe("aaa…  0123456789abcdef");
	});

	/** The widths of cells of these widths in a row of a table. */
	function widthsIn(table: number, cells: readonly number[], isTyped = false): number[] {
		const row = cells.map((width) => "x".repeat(width));
		const columns = row.map((_, at) => ({ name: "", isTyped: isTyped && at === 0 }));
		return tableOf(
			columns,
			[row],
			table,
		)(row)
			.split("  ")
			.map((cell) => stringWidth(cell));
	}

	it("fits the terminal, or cuts no column below four", () => {
		fc.assert(
			fc.property(
				fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 6 }),
				fc.integer({ min: 1, max: 120 }),
				(wanted, width) => {
					const widths = widthsIn(width, wanted);
					const total = widths.reduce((sum, each) => sum + each + 2, -2);
					expect(total <= width || widths.every((each) => each <= 4)).toBe(true);
					for (const [column, each] of widths.entries()) {
						expect(each).toBeGreaterThanOrEqual(Math.min(4, wanted[column] ?? 0));
						expect(each).toBeLessThanOrEqual(wanted[column] ?? 0);
					}
					// Nothing is narrowed more than it must be.
					const areWhole = widths.every((each, column) => each === wanted[column]);
					expect(areWhole || total >= width).toBe(true);
				},
			),
		);
	});

	it("narrows the widest columns alone, and those alike", () => {
		expect(widthsIn(60, [10, 100])).toEqual([10, 48]);
		expect(widthsIn(82, [100, 100])).toEqual([40, 40]);
		expect(widthsIn(40, [22, 30], true)).toEqual([22, 16]);
		expect(tableOf([], [], 80)([])).toBe("");
	});
});
