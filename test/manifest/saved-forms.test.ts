import { describe, expect, it, test } from "vitest";
import { sheetOptions, type SheetFlags } from "../../src/flags/input-flags.ts";
import { payloadFlags } from "../../src/flags/payload-options.ts";
import { encodingOf } from "../../src/manifest/bytes/encodings.ts";
import { dateFormOf } from "../../src/manifest/csv/date-form.ts";
import { checkBytes } from "./support.ts";

/** The value of a cell in a column, or the problem. */
async function read(column: string, cell: string, flags: SheetFlags): Promise<unknown> {
	const table = `document_id;${column}\na;"${cell.replaceAll('"', '""')}"\n`;
	const { rows, problems } = await checkBytes(table, sheetOptions(flags));
	return problems[0]?.text ?? Array.from(rows[0]?.metadata.values() ?? [])[0];
}

const COMMA = { decimalComma: true };
const GERMAN = { dateFormat: "DD.MM.YYYY" };
const WORDS = { true: ["ja", "wahr", "x"], false: ["nein", "falsch"] };

test.each<[column: string, cell: string, SheetFlags, unknown]>([
	["n:number", "1,5", COMMA, 1.5],
	["n:number", "-0,25", COMMA, -0.25],
	["n:number", "1.234,5", COMMA, 1234.5],
	["n:number", "1.234.567", COMMA, 1_234_567],
	["n:number", "1.234", COMMA, 1234],
	["n:number", "17", COMMA, 17],
	["n:number", "1,5E+3", COMMA, 1500],
	[
		"n:number",
		"1.5",
		COMMA,
		'n: "1.5" is not a number with a decimal comma; with --decimal-comma a point stands between thousands',
	],
	["n:number", "1,2,3", COMMA, 'n: "1,2,3" is not a number with a decimal comma'],
	["n:number", "12.34,5", COMMA, 'n: "12.34,5" is not a number with a decimal comma'],
	["n:number", "1.5", GERMAN, 1.5],
	["n", "1,5", COMMA, "1,5"],
	["d", "24.12.2024", GERMAN, "2024-12-24"],
	["d", "1.2.2024", GERMAN, "2024-02-01"],
	["d", "29.02.2024", GERMAN, "2024-02-29"],
	["d", "29.02.2023", GERMAN, "d: 29.02.2023 is not a date that exists"],
	["d", "2024-12-24", GERMAN, "2024-12-24"],
	["d", "am 24.12.2024", GERMAN, "am 24.12.2024"],
	["d:text", "24.12.2024", GERMAN, "24.12.2024"],
	["publish_date", "24.12.2024", GERMAN, "2024-12-24"],
	["d", "12/24/2024", { dateFormat: "M/D/YYYY" }, "2024-12-24"],
	["d", "24.12.2024 9:05", { dateFormat: "DD.MM.YYYY hh:mm" }, "2024-12-24T09:05:00"],
	["d", "24.12.2024 25:05", { dateFormat: "DD.MM.YYYY hh:mm" }, "d: 24.12.2024 25:05 is not a date that exists"],
	["b:boolean", "ja", WORDS, true],
	["b:boolean", "WAHR", WORDS, true],
	["b:boolean", "Nein", WORDS, false],
	["b:boolean", "TRUE", WORDS, true],
	["b:boolean", "vielleicht", WORDS, 'b: "vielleicht" is neither true nor false'],
	["b", "ja", WORDS, "ja"],
	["l:list", "a, b,c", { listSeparator: "," }, ["a", "b", "c"]],
	["l:list", "a|b", { listSeparator: "," }, ["a|b"]],
	["l:list", "a\nb\n", { listSeparator: "\n" }, ["a", "b"]],
	["l:list", "a, b", COMMA, ["a, b"]],
])("%s %j with %j is %j", async (column, cell, flags, value) => {
	expect(await read(column, cell, flags)).toEqual(value);
});

test.each([
	["DD.MM.YY", "a year has four letters: YYYY"],
	["DD.MM", "the year is missing"],
	["YYYY-MM-MM", "MM is the month, which stands there twice"],
	["dd.MM.YYYY", "dd is no part of a date"],
	["DD.MM.YYYY hh", "a time needs hours and minutes"],
])("the form %s is refused", (form, why) => {
	expect(dateFormOf(form)).toContain(why);
});

test("a word that means true and false is refused", () => {
	expect(() => sheetOptions({ true: ["x"], false: ["nein", "x"] })).toThrow("--true and --false both name x");
});

describe("encodings", () => {
	const text = "document_id,a\n1,Größe – 5 €\n";
	const bytes1252 = Buffer.from("document_id,a\n1,Gr\xf6\xdfe \x96 5 \x80\n", "latin1");

	test.each(["windows-1252", "latin1", "cp1252"])("%s keeps the euro sign and dashes", async (label) => {
		const { rows } = await checkBytes(bytes1252, { encoding: encodingOf(label) });
		expect(rows[0]?.metadata.get("a")).toBe("Größe – 5 €");
	});

	it("gives the same in pieces of one byte", async () => {
		const { rows } = await checkBytes(bytes1252, { encoding: "windows-1252" }, 1);
		expect(rows[0]?.metadata.get("a")).toBe("Größe – 5 €");
	});

	test.each([
		["macintosh", Buffer.from("document_id,a\n1,Gr\x9a\xa7e\n", "latin1"), "Größe"],
		["iso-8859-15", Buffer.from("document_id,a\n1,5 \xa4\n", "latin1"), "5 €"],
		["shift_jis", Buffer.from("document_id,a\n1,\x93\xfa\x96\x7b\n", "latin1"), "日本"],
	])("%s is read", async (encoding, bytes, value) => {
		const { rows } = await checkBytes(bytes, { encoding }, 1);
		expect(rows[0]?.metadata.get("a")).toBe(value);
	});

	it("refuses a byte that windows-1252 does not have, with its line", async () => {
		const { problems } = await checkBytes(Buffer.from("document_id,a\n1,x\x81\n", "latin1"), {
			encoding: "windows-1252",
		});
		expect(problems.map(({ line, column, text: why }) => `${line}:${column} ${why}`)).toEqual([
			"2:4 byte 17 (0x81) is not windows-1252; name the encoding of the file with --encoding",
		]);
	});

	it("lets a byte-order mark win, and marks the failed rows, so that the same options read them", async () => {
		const { failed } = await checkBytes(bytes1252, { encoding: "windows-1252" });
		const again = await checkBytes(failed.join(""), { encoding: "windows-1252" });
		expect(again.rows[0]?.metadata.get("a")).toBe("Größe – 5 €");
		expect((await checkBytes(`\uFEFF${text}`, { encoding: "windows-1252" })).rows[0]?.metadata.get("a")).toBe(
			"Größe – 5 €",
		);
	});

	test.each(["klingon", "", "windows-1252x"])("%j is no encoding", (label) => {
		expect(encodingOf(label)).toBeUndefined();
	});
});

test("a resumed run reads its manifest by the same options", () => {
	const flags = { encoding: "windows-1252", decimalComma: true, ...GERMAN, listSeparator: ",", ...WORDS };
	expect(payloadFlags({ ...flags, filesRoot: "/" })).toMatchObject(flags);
});
