import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvLine } from "../../src/manifest/csv/cells.ts";
import { columnWidths, displayWidth, reportCsvLine, tableLine, tsvLine } from "../../src/report/list-lines.ts";

// Every character that means something to a reader of these files, more often than chance would bring it.
const special = fc.constantFrom(
	'"',
	",",
	";",
	"\t",
	"\r",
	"\n",
	"\r\n",
	"'",
	"=",
	"\\",
	"\\n",
	" ",
	"\u2028",
	"é",
	"界",
);

const cell = fc
	.array(fc.oneof(special, fc.string({ unit: "binary", maxLength: 3 })), { maxLength: 6 })
	.map((parts) => parts.join(""));
const rows = fc
	.integer({ min: 1, max: 4 })
	.chain((columns) =>
		fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 5 }),
	);

describe("CSV", () => {
	it("that is read back gives exactly the values that were written", () => {
		fc.assert(
			fc.property(rows, (table) => {
				expect(
					parse(table.map((cells) => csvLine(cells)).join(""), { record_delimiter: "\n", skip_empty_lines: true }),
				).toEqual(table);
			}),
		);
	});

	it.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\0=1", "＝1", "＋1", "－1", "＠1"])(
		"for people does not run %j as a formula",
		(formula) => {
			const [[first, second] = []] = parse(reportCsvLine([formula, "a"]), { record_delimiter: "\n" });
			expect([first, second]).toEqual([`'${formula}`, "a"]);
		},
	);

	it("for people leaves other cells as they are, and quotes what a reader would split", () => {
		expect(reportCsvLine(["1=1", "a,b", 'say "x"', "a;b", ""])).toBe('1=1,"a,b","say ""x""","a;b",\n');
	});

	it.each(["", " ", "\t"])("that is read back loses no row of one blank cell: %j", (blank) => {
		expect(csvLine([blank])).toBe(`"${blank}"\n`);
	});

	it("that is read back changes no value that looks like a formula", () => {
		expect(csvLine(["=1+1", "-5"])).toBe("=1+1,-5\n");
	});
});

describe("tab-separated values", () => {
	const unescaped = new Map([
		["\\t", "\t"],
		["\\n", "\n"],
		["\\r", "\r"],
		["\\\\", "\\"],
	]);

	it("keep each row on one line and each cell in its column, and can be undone", () => {
		fc.assert(
			fc.property(fc.array(cell, { minLength: 1, maxLength: 4 }), (cells) => {
				const line = tsvLine(cells);
				expect(line.slice(0, -1)).not.toMatch(/[\r\n]/);
				const read = line.slice(0, -1).split("\t");
				expect(read.map((each) => each.replaceAll(/\\[tnr\\]/g, (pair) => unescaped.get(pair) ?? pair))).toEqual(cells);
			}),
		);
	});
});

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
		["©™→", 3],
		["e\u0301", 1],
		["a\u200db", 2],
		["❤\uFE0F", 1],
	])("knows that %j takes %d columns of a terminal", (text, width) => {
		expect(displayWidth(text)).toBe(width);
	});

	it("keeps columns straight below each other, wide characters or not", () => {
		const table = [
			["文件", "1"],
			["ab", "2"],
			["e\u0301tude", "3"],
		];
		const widths = columnWidths(table, 80);
		expect(table.map((cells) => tableLine(cells, widths))).toEqual(["文件   1\n", "ab     2\n", "e\u0301tude  3\n"]);
	});

	it("cuts what does not fit and shows that it did, without splitting a wide character", () => {
		expect(tableLine(["abcdefgh", "x"], [5, 1])).toBe("abcd…  x\n");
		expect(tableLine(["文件文件", "x"], [6, 1])).toBe("文件…   x\n");
		expect(tableLine(["abcde", "x"], [5, 1])).toBe("abcde  x\n");
	});

	it("fits the terminal, or cuts no column below eight", () => {
		const word = fc.string({ unit: fc.constantFrom("a", "界", "é"), maxLength: 60 });
		const tables = fc
			.integer({ min: 1, max: 6 })
			.chain((columns) =>
				fc.array(fc.array(word, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 4 }),
			);
		fc.assert(
			fc.property(tables, fc.integer({ min: 1, max: 120 }), (table, width) => {
				const widths = columnWidths(table, width);
				const lines = table.map((cells) => displayWidth(tableLine(cells, widths).trimEnd()));
				const fits = Math.max(...lines) <= width;
				expect(fits || widths.every((each) => each <= 8)).toBe(true);
				for (const [column, each] of widths.entries()) {
					const wanted = Math.max(...table.map((cells) => displayWidth(cells[column] ?? "")));
					expect(each).toBeGreaterThanOrEqual(Math.min(8, wanted));
					expect(each).toBeLessThanOrEqual(wanted);
				}
			}),
		);
	});

	it("cuts the widest column first, so that ids stay whole", () => {
		expect(columnWidths([["0123456789", "a".repeat(100)]], 60)).toEqual([10, 48]);
		expect(columnWidths([["a".repeat(100), "b".repeat(100)]], 82)).toEqual([40, 40]);
		expect(columnWidths([], 80)).toEqual([]);
	});

	it("never cuts a column whose cells are typed into the next command, whatever the others lose", () => {
		expect(columnWidths([["a".repeat(22), "b".repeat(9)]], 20, new Set([0]))).toEqual([22, 8]);
		expect(columnWidths([["a".repeat(22), "b".repeat(30)]], 40, new Set([0]))).toEqual([22, 16]);
	});
});
