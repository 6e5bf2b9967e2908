import { describe, expect, it, test } from "vitest";
import {
	booleanAdvice,
	dateAdvice,
	headerHint,
	isRoundedNumber,
	mistakenFile,
	numberAdvice,
} from "../../src/manifest/mistaken.ts";

const MONTH_FIRST = "--date-format MM/DD/YYYY";

test.each([
	[numberAdvice, "1,000", "; write 1000 or 1", undefined],
	[numberAdvice, "-12,500", "; write -12500 or -12.5", undefined],
	[numberAdvice, "0,125", "; write 0.125", "--decimal-comma"],
	[numberAdvice, "1,5", "; write 1.5", "--decimal-comma"],
	[numberAdvice, "-0,25", "; write -0.25", "--decimal-comma"],
	[numberAdvice, "1,000,000", "; write 1000000", undefined],
	[numberAdvice, "1.000,5", "; write 1000.5", "--decimal-comma"],
	[numberAdvice, "1,000.5", "; write 1000.5", undefined],
	[numberAdvice, "1.000.000", "; write 1000000", undefined],
	[numberAdvice, "1.000,000", "; write 1000.000", "--decimal-comma"],
	[numberAdvice, "1,00,000", "", undefined],
	[numberAdvice, "x", "", undefined],
	[booleanAdvice, "yes", "; write true", "--true yes"],
	[booleanAdvice, "Nein", "; write false", "--false nein"],
	[booleanAdvice, "maybe", "", undefined],
	[dateAdvice, "31.12.2024", "; write 2024-12-31", "--date-format DD.MM.YYYY"],
	[dateAdvice, "1.2.2024", "; write 2024-02-01", "--date-format DD.MM.YYYY"],
	[dateAdvice, "12/31/2024", "; write 2024-12-31", MONTH_FIRST],
	[dateAdvice, "31/12/2024", "; write 2024-12-31", "--date-format DD/MM/YYYY"],
	[dateAdvice, "2024/3/9", "; write 2024-03-09", undefined],
	// Either may be the month.
	[dateAdvice, "03/04/2024", "", undefined],
	[dateAdvice, "32.13.2024", "", undefined],
	[dateAdvice, "soon", "", undefined],
] as const)("%o of %s is clear, or none: a number is never a thousand times another", (advice, cell, hint, option) => {
	const given = advice(cell);
	expect([given.hint, given.mend?.option]).toEqual([hint, option]);
});

describe("a file that can't be a manifest is named by its first bytes", () => {
	it.each([
		["PK\u0003\u0004....[Content_Types].xml....docProps/app.xml", "an Office file"],
		["PK\u0003\u0004....[Content_Types].xml...._rels/.rels....word/document.xml", "a Word document; to upload it"],
		["PK\u0003\u0004....[Content_Types].xml...._rels/.rels....ppt/presentation.xml", "a PowerPoint presentation"],
		["PK\u0003\u0004....mimetypeapplication/epub+zip", "an e-book"],
		["PK\u0003\u0004....xl/workbook.xml", "Excel workbook"],
		["PK\u0003\u0004....mimetypeapplication/vnd.oasis.opendocument.spreadsheet", "LibreOffice workbook"],
		["\u00d0\u00cf\u0011\u00e0", "old Office file"],
		["PK\u0003\u0004....tags.csv", "packed with zip"],
		["BZh91AY", "packed with bzip2"],
		["\u0028\u00b5\u002f\u00fd", "packed with zstd"],
		["\u00fd7zXZ", "packed with xz"],
		["%PDF-1.7\n", "a PDF document"],
		["{\\rtf1\\ansi", "an RTF document"],
		["\n<!DOCTYPE html>\n", "a page in HTML"],
		["\u0089PNG\r\n", "a picture"],
		["SQLite format 3\u0000", "a database of SQLite"],
		["PAR1", "a Parquet file"],
		["\u00ef\u00bb\u00bf// tags\n// of May\n[\n", "JSON with comments"],
		['/* tags * of "May" */ {"document_id":"a"}', "JSON with comments"],
		['{"ragtag_plan":1,"ragtag":"0.1.0"}\n', "ragtag docs apply"],
	])("%j: %s", (head, text) => {
		expect(mistakenFile(Buffer.from(head, "latin1"))?.stop.message ?? "").toContain(text);
	});

	it.each([
		"PAR,a\n",
		`${"/* */".repeat(3_000)}a`,
		"document_id,author\n",
		"[\n",
		'{"document_id":"a"}\n',
		"\u001f\u008b",
		"",
		"P",
		"PKW,a\n",
		"// a,document_id\n1,2\n",
	])("%j may be one", (head) => expect(mistakenFile(Buffer.from(head, "latin1"))).toBeUndefined());
});

it.each<[string[], string, string]>([
	[["id", "author"], "document_id", "--map id=document_id"],
	[["Doc ID", "author"], "document_id", "--map 'Doc ID=document_id'"],
	[["author: Ana"], "document_id", "YAML"],
	[["---"], "document_id", "YAML"],
	[["report.pdf"], "document_id", "docs resolve"],
	[["name", "author"], "document_id", "ragtag docs resolve FILE -d DATASET"],
	[["id"], "file", ""],
	[["id", "document_id"], "document_id", "leave that option out"],
	[["author", "title"], "document_id", ""],
])("a header of %j without %s: %s", (names, required, text) => {
	const hint = headerHint(names, required);
	if (text === "") expect(hint).toBe("");
	else expect(hint).toContain(text);
});

it.each([
	["1.23E+30", true],
	["1,23E+30", true],
	["1e+7", true],
	["0e12", false],
	["1.23", false],
	["a1E+30", false],
])("%s is a number that a spreadsheet rounded: %s", (text, is) => {
	expect(isRoundedNumber(text)).toBe(is);
});
