import { gzipSync } from "node:zlib";
import { describe, expect, it, test } from "vitest";
import { sheetOptions } from "../../src/flags/input-flags.ts";
import type { ManifestOptions } from "../../src/manifest/types.ts";
import { row, workbook, zip } from "../support/workbook.ts";
import { checkBytes, type Outcome } from "./support.ts";

const FORMATS = [
	"yyyy\\-mm\\-dd",
	"dd.mm.yyyy hh:mm",
	"[h]:mm:ss",
	'#,##0.00\\ "Tage"',
	"[Red]0.0;[$-407]d/m/yy",
	"mmm",
];

/** The value of one cell under a header, or the problem with its place. */
async function read(
	header: string,
	cell: string,
	options: Partial<ManifestOptions> = {},
	is1904 = false,
): Promise<unknown> {
	const strings = ["<t>shared</t>", "<r><t>rich </t></r><r><t>text</t></r><rPh><t>yomi</t></rPh>", "<t>a_x000D_b</t>"];
	const rows = row(1, "document_id", header) + row(2, "doc", cell);
	const { rows: valid, problems } = await checkBytes(workbook({ rows, strings, formats: FORMATS, is1904 }), options);
	return problems[0]?.text ?? Array.from(valid[0]?.metadata.values() ?? [])[0];
}

const n = (value: string, style = 0): string => `<c s="${style}"><v>${value}</v></c>`;

test.each<[string, header: string, cell: string, unknown]>([
	["a shared text", "k", '<c t="s"><v>0</v></c>', "shared"],
	["a rich text, without how it is read aloud", "k", '<c t="s"><v>1</v></c>', "rich text"],
	["an escaped character", "k", '<c t="s"><v>2</v></c>', "a\rb"],
	["an inline text", "k", "inline &amp; &lt;ö&gt;", "inline & <ö>"],
	["a number", "k", n("12.5"), 12.5],
	["a number in a column of numbers", "k:number", n("1E-3"), 0.001],
	["a number as text, where the header says so", "k:text", n("4711"), "4711"],
	["a number in a list", "k:list", n("7"), ["7"]],
	["true", "k", '<c t="b"><v>1</v></c>', true],
	["false in a column of booleans", "k:boolean", '<c t="b"><v>0</v></c>', false],
	["the stored value of a formula", "k", "<c><f>SUM(A1:A9)</f><v>42</v></c>", 42],
	["the stored text of a formula", "k", '<c t="str"><f>"a"&amp;"b"</f><v>ab</v></c>', "ab"],
	["a date", "k", n("45650", 1), "2024-12-24"],
	["a date with a time", "k", n("45650.75", 2), "2024-12-24T18:00:00"],
	["hours", "k", n("1.0625", 3), "25:30:00"],
	["a number with a unit", "k", n("12.5", 4), 12.5],
	["a number in red", "k", n("12.5", 5), 12.5],
	["a month alone", "k", n("45650", 6), "2024-12-24"],
	["a date as ISO text", "k", '<c t="d"><v>2024-12-24T00:00:00</v></c>', "2024-12-24"],
	["the first day that all count alike", "k", n("61", 1), "1900-03-01"],
	["the last day", "k", n("2958465", 1), "9999-12-31"],
	[
		"an earlier day",
		"k",
		n("60", 1),
		"Tabelle1!B2: k: 60 is shown as a date, and spreadsheets don't agree which; write it as text, such as 1899-12-31",
	],
	["an error", "k", '<c t="e"><v>#N/A</v></c>', "Tabelle1!B2: k: #N/A is an error of the sheet; correct its formula"],
	["a text that should be a number", "k:number", "viele", 'Tabelle1!B2: k: "viele" is not a number'],
	["no value", "k", "<c></c>", undefined],
])("%s", async (_, header, cell, value) => {
	expect(await read(header, cell)).toEqual(value);
});

test("dates of a workbook that counts from 1904", async () => {
	expect(await read("k", n("44188", 1), {}, true)).toBe("2024-12-24");
	expect(await read("k", n("0", 1), {}, true)).toBe("1904-01-01");
	expect(await read("k", n("-1", 1), {}, true)).toContain("spreadsheets don't agree");
});

test("texts are read by the options for saved sheets, and numbers and dates need none", async () => {
	const options = sheetOptions({ decimalComma: true, dateFormat: "DD.MM.YYYY", true: ["ja"], listSeparator: "," });
	expect(await read("k:number", "1.234,5", options)).toBe(1234.5);
	expect(await read("k:number", n("1.5"), options)).toBe(1.5);
	expect(await read("k:boolean", "ja", options)).toBe(true);
	expect(await read("k", "24.12.2024", options)).toBe("2024-12-24");
	expect(await read("k:list", "a, b", options)).toEqual(["a", "b"]);
	expect(await read("k", "<c></c>", { empty: "null" })).toBeNull();
});

test("an id that is a number keeps its digits, and one of more than fifteen is refused", async () => {
	const rows = (id: string): string => row(1, "document_id", "k") + row(2, n(id), "v");
	const ids = async (id: string): Promise<unknown> => {
		const { rows: valid, problems } = await checkBytes(workbook({ rows: rows(id) }));
		return problems[0]?.text ?? valid[0]?.documentId;
	};
	expect(await ids("123456789012345")).toBe("123456789012345");
	expect(await ids("1234567890123456")).toContain("Tabelle1!A2: document_id: 1234567890123456 is a number");
});

describe("rows", () => {
	const read = (rows: string): Promise<Outcome> => checkBytes(workbook({ rows }));

	it("counts rows and columns as the sheet does, whatever is empty before them", async () => {
		const rows =
			row(3, undefined, "document_id", undefined, "publish_date") + row(17, undefined, "doc", undefined, "soon");
		const { problems, checked } = await read(rows);
		expect(problems[0]).toMatchObject({
			line: 17,
			column: 4,
			field: "publish_date",
			code: "BAD_DATE",
			sheet: "Tabelle1",
		});
		expect(problems[0]?.text).toMatch(/^Tabelle1!D17: publish_date: "soon" is not a date/);
		expect(checked).toMatchObject({ format: "xlsx", rows: 1, fatal: false });
	});

	it("takes cells and rows without references in their order", async () => {
		const cells = (...texts: string[]): string =>
			`<row>${texts.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join("")}</row>`;
		const { rows } = await read(cells("document_id", "k") + cells("doc", "v"));
		expect(rows.map(({ line, documentId, metadata }) => [line, documentId, metadata.get("k")])).toEqual([
			[2, "doc", "v"],
		]);
	});

	it("reports a value in a column without a name, and none that is dropped", async () => {
		const { places } = await read(row(1, "document_id", "k") + row(2, "a", "v", "stray") + row(3, "b", "v"));
		expect(places).toEqual(["2:3 EMPTY_COLUMN"]);
	});

	it("reports duplicates and faults of the header at their cells", async () => {
		expect((await read(row(1, "document_id", "k") + row(2, "a", "v") + row(3, "a", "w"))).places).toEqual([
			"3:1 DUPLICATE",
		]);
		const { problems } = await read(row(2, "Document ID", "k") + row(3, "a", "v"));
		expect(problems[0]).toMatchObject({ line: 2, column: 1 });
		expect(problems[0]?.text).toContain("Tabelle1!A2: Document ID: did you mean document_id?");
		expect((await read("")).problems.map(({ code }) => code)).toContain("MISSING_COLUMN");
	});

	it("has one value of merged cells, in the first", async () => {
		const merged = row(1, "document_id", "k", "l") + row(2, "a", "v", "<c></c>");
		expect(Object.fromEntries((await read(merged)).rows[0]?.metadata ?? [])).toEqual({ k: "v" });
	});

	it("takes no memory for many empty rows", async () => {
		const empty = Array.from({ length: 100_000 }, (_, at) => `<row r="${at + 2}"><c r="A${at + 2}" s="1"/></row>`).join(
			"",
		);
		const { rows } = await read(row(1, "document_id", "k") + empty + row(100_002, "doc", "v"));
		expect(rows.map(({ line }) => line)).toEqual([100_002]);
	});
});

test("failed rows are CSV that the same options read to the same values", async () => {
	const head = row(1, "document_id", "num", "flag", "mixed", "text", "when", "typed:number");
	const t = '<c t="b"><v>1</v></c>';
	const rows =
		head +
		row(2, "a", n("1.5"), t, n("7"), "1,5", "24.12.2024", "2,5") +
		row(3, "b", undefined, undefined, "x, y", undefined, n("45650", 1), n("3.5"));
	const options = { ...sheetOptions({ decimalComma: true, dateFormat: "DD.MM.YYYY" }), sheet: "Tabelle1" };
	const first = await checkBytes(workbook({ rows, formats: FORMATS }), options);
	expect(first.problems).toEqual([]);
	expect(first.failed[0]).toMatch(/^document_id,num:json,flag:json,mixed:json,text,when,typed:number,_line/);
	const again = await checkBytes(first.failed.join(""), options);
	expect(again.problems).toEqual([]);
	const values = ({ rows: read }: Outcome): unknown => read.map(({ metadata }) => Object.fromEntries(metadata));
	expect(values(again)).toEqual(values(first));
	expect(values(first)).toEqual([
		{ num: 1.5, flag: true, mixed: 7, text: "1,5", when: "2024-12-24", typed: 2.5 },
		{ mixed: "x, y", when: "2024-12-24", typed: 3.5 },
	]);
});

describe("sheets", () => {
	const sheet = (title: string, id: number, state = ""): string =>
		`<sheet name="${title}" sheetId="${id}" ${state} r:id="rId${id}"/>`;
	const second = `<worksheet><sheetData>${row(1, "document_id", "k")}${row(2, "doc", "second")}</sheetData></worksheet>`;
	const read = async (wanted: string | undefined, sheets: string): Promise<unknown> => {
		const rows = row(1, "document_id", "k") + row(2, "doc", "first");
		const bytes = workbook({ rows, sheets, more: { "xl/worksheets/sheet2.xml": second } });
		const outcome = await checkBytes(bytes, { sheet: wanted });
		return outcome.problems[0]?.text ?? outcome.rows[0]?.metadata.get("k");
	};

	test.each([
		[undefined, sheet("A", 1) + sheet("B", 2), "first"],
		["B", sheet("A", 1) + sheet("B", 2), "second"],
		["2", sheet("A", 1) + sheet("B", 2), "second"],
		["2", sheet("2", 1) + sheet("B", 2), "first"],
		[undefined, sheet("A", 1, 'state="hidden"') + sheet("B", 2), "second"],
		[undefined, sheet("Chart", 3) + sheet("B", 2), "second"],
		["b", sheet("A", 1) + sheet("B", 2), "the workbook has no sheet b; it has 1 A, 2 B"],
		["3", sheet("A", 1) + sheet("B", 2), "the workbook has no sheet 3; it has 1 A, 2 B"],
		[undefined, sheet("Chart", 3), "the workbook has no sheet with cells"],
	])("--sheet %s", async (wanted, sheets, value) => {
		expect(await read(wanted, sheets)).toBe(value);
	});
});

describe("files that can't be read", () => {
	const good = workbook({ rows: row(1, "document_id", "k") + row(2, "doc", "v") });
	const ole = Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(504)]);

	test.each<[string, Buffer, string, RegExp]>([
		["cut", good.subarray(0, -30), "ZIP_TRUNCATED", /broken off/],
		["a password", Buffer.concat([ole, Buffer.from("EncryptedPackage", "utf16le")]), "PASSWORD", /has a password/],
		["an old workbook", ole, "NOT_A_MANIFEST", /save it as .xlsx without a password/],
		["no workbook", zip({ "[Content_Types].xml": "<Types/>" }), "NOT_A_MANIFEST", /Office file and no workbook/],
		["XML that is none", workbook({ rows: "<row><c></row>" }), "BAD_WORKBOOK", /sheet1.xml is damaged/],
		[
			"no end of a sheet",
			workbook({ rows: "", more: { "xl/worksheets/sheet1.xml": "<worksheet><a>" } }),
			"BAD_WORKBOOK",
			/damaged/,
		],
		[
			"a bomb of entities",
			workbook({
				rows: "",
				more: { "xl/worksheets/sheet1.xml": '<!DOCTYPE x [<!ENTITY a "aa">]><worksheet>&a;</worksheet>' },
			}),
			"BAD_WORKBOOK",
			/damaged/,
		],
		[
			"a sheet that is not there",
			workbook({ rows: "", sheets: '<sheet name="B" r:id="rId2"/>' }),
			"BAD_WORKBOOK",
			/no part xl\/worksheets\/sheet2.xml/,
		],
	])("%s", async (_, bytes, code, why) => {
		const { problems, checked } = await checkBytes(bytes);
		expect(problems.map((problem) => problem.code)).toEqual([code]);
		expect(problems[0]?.text).toMatch(why);
		expect(checked.fatal).toBe(true);
	});

	it("refuses a part that unpacks to more than a thousandth of it can be", async () => {
		const bytes = Buffer.from(good);
		// The list of parts says that the sheet, which comes last, has two gibibytes.
		bytes.writeUInt32LE(2 ** 31, bytes.lastIndexOf("PK\u0001\u0002") + 24);
		const { problems } = await checkBytes(bytes);
		expect(problems.map(({ code }) => code)).toEqual(["ZIP_BOMB"]);
	});

	it("refuses a part that is longer than the archive says", async () => {
		const bytes = Buffer.from(good);
		bytes.writeUInt32LE(10, bytes.lastIndexOf("PK\u0001\u0002") + 24);
		expect((await checkBytes(bytes)).problems.map(({ code }) => code)).toEqual(["BAD_WORKBOOK"]);
	});

	it("reads no other value, whatever byte is another", async () => {
		for (let at = 0; at < good.length; at += 7) {
			const bytes = Buffer.from(good);
			bytes[at] = (bytes[at] ?? 0) ^ 0x15;
			const { problems, rows } = await checkBytes(bytes);
			if (problems.length === 0) expect(rows.map(({ metadata }) => metadata.get("k"))).toEqual(["v"]);
			else expect(problems).toHaveLength(1);
		}
	});
});

test("a workbook may be gzipped, and have macros", async () => {
	const rows = row(1, "document_id", "k") + row(2, "doc", "v");
	const bytes = workbook({ rows, more: { "xl/vbaProject.bin": "macros" } });
	expect((await checkBytes(gzipSync(bytes))).rows).toHaveLength(1);
	expect((await checkBytes(bytes, {}, 100)).rows).toHaveLength(1);
});
