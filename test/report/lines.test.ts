import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvLine } from "../../src/manifest/csv/cells.ts";
import { reportCsvLine, tsvLine } from "../../src/report/escape.ts";

// Every character that means something to a reader of these files, more often than chance would bring it.
const special = fc.constantFrom("\r\n", "\\n", ..."\",;\t\r\n'=\\ \u2028é界".split(""));

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
