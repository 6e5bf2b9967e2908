import { excerpt } from "../text/show.ts";
import { type Mend, ReadingStop } from "./fault.ts";

/** Bytes at the beginning of a file that show its type. A Word document has its first own part in the first 5 KB or so. */
const HEAD_BYTES = 16_384;

const AS_CSV = 'save it as "CSV UTF-8 (comma delimited)", and give that file';
const AS_DOCUMENT = "to upload it as a document: ragtag docs upload FILE --as files -d DATASET";

/** The first bytes of a zip archive. */
const ZIP = "PK\u0003\u0004";

const unpacked = (name: string): string => `the file is packed with ${name}; unpack it, or pack it with gzip`;

/**
 * Files that are no manifest: by what they begin with and have among their first bytes, read as Latin-1, with what to say. The
 * first that matches counts. A zip archive names its parts there, and they show what it is.
 */
const MISTAKEN: readonly { begin?: string; has?: RegExp; text: string; code?: string; isWorkbook?: boolean }[] = [
	{
		begin: ZIP,
		has: /\bxl\/workbook\.bin/,
		text: `this is a binary Excel workbook (.xlsb); save it as .xlsx, or ${AS_CSV}`,
	},
	{
		begin: ZIP,
		has: /\bxl\//,
		text: `this is an Excel workbook that has no xl/workbook.xml; ${AS_CSV}`,
		isWorkbook: true,
	},
	{
		begin: ZIP,
		has: /opendocument\.spreadsheet/,
		text: "this is a LibreOffice workbook; save it as CSV in UTF-8, and give that file",
	},
	{ begin: ZIP, has: /\bword\//, text: `this is a Word document; ${AS_DOCUMENT}` },
	{ begin: ZIP, has: /\bppt\//, text: `this is a PowerPoint presentation; ${AS_DOCUMENT}` },
	{ begin: ZIP, has: /opendocument\.|epub\+zip/, text: `this is a document of an office or an e-book; ${AS_DOCUMENT}` },
	{
		begin: ZIP,
		has: /\[Content_Types\]\.xml|_rels\/\.rels/,
		text: `this is an Office file and no workbook; ${AS_DOCUMENT}`,
		isWorkbook: true,
	},
	{ begin: ZIP, text: unpacked("zip"), code: "PACKED" },
	{ begin: "\u0028\u00b5\u002f\u00fd", text: unpacked("zstd"), code: "PACKED" },
	{ begin: "\u00fd7zXZ", text: unpacked("xz"), code: "PACKED" },
	{ begin: "BZh", text: unpacked("bzip2"), code: "PACKED" },
	{
		begin: "\u00d0\u00cf\u0011\u00e0",
		has: /E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e/,
		text: "this file has a password; save it without one, and give that file",
		code: "PASSWORD",
	},
	{
		begin: "\u00d0\u00cf\u0011\u00e0",
		text: `this is an old Office file, or one with a password; if it is a workbook, save it as .xlsx without a password; ${AS_DOCUMENT}`,
	},
	{ begin: "%PDF-", text: `this is a PDF document; ${AS_DOCUMENT}` },
	{ begin: "{\\rtf", text: `this is an RTF document; ${AS_DOCUMENT}` },
	{ has: /^\s*(?:<!doctype html|<html)\b/i, text: `this is a page in HTML; ${AS_DOCUMENT}` },
	{ has: /^(?:\u0089PNG|\u00ff\u00d8\u00ff|GIF8[79]a)/, text: `this is a picture; ${AS_DOCUMENT}` },
	{ begin: "SQLite format 3", text: "this is a database of SQLite; write its table as CSV, and give that file" },
	{ begin: "PAR1", text: "this is a Parquet file; write it as CSV or JSON lines, and give that file" },
	{ has: /^\s*\{"ragtag_plan":/, text: "this is a plan and not a manifest; send it with: ragtag docs apply FILE" },
	{
		has: /^(?:\u00ef\u00bb\u00bf)?\s*(?:\/\/[^\n]*\n\s*|\/\*(?:(?!\*\/)[^])*\*\/\s*)+[[{]/,
		text: "this seems to be JSON with comments, which JSON does not have; take the comments away",
	},
];

/**
 * The reason why a file can't be a manifest, by its first bytes; undefined for one that may be. With `isWorkbook`, it may be a
 * workbook: the list of its parts says whether it is one.
 */
export function mistakenFile(block: Buffer): { readonly stop: ReadingStop; readonly isWorkbook: boolean } | undefined {
	const head = block.toString("latin1", 0, HEAD_BYTES);
	const found = MISTAKEN.find(({ begin = "", has }) => head.startsWith(begin) && has?.test(head) !== false);
	if (found === undefined) return undefined;
	const { code = "NOT_A_MANIFEST", text, isWorkbook = false } = found;
	return { stop: new ReadingStop(code, text, { line: 1, column: 1 }), isWorkbook };
}

/** Names that columns of ids often have. */
const IDS = /^(?:doc(?:ument)?[_ -]?)?(?:id|uuid)$/i;

/**
 * Advice for a header without the required column; an empty text if none fits.
 *
 * @param names the cells of the header
 * @param required the column that is not there
 */
export function headerHint(names: readonly string[], required: string): string {
	if (names.includes(required)) return `; --map or --ignore takes it away: leave that option out`;
	const other = required === "document_id" ? names.find((name) => IDS.test(name)) : undefined;
	if (other !== undefined) return `; to take the ids from the column ${other}: --map ${mapping(other, required)}`;
	const [only = "", ...others] = names;
	if (required === "document_id" && names.includes("name")) {
		return "; to find the ids by the names: ragtag docs resolve FILE -d DATASET --out tags.csv";
	}
	if (others.length > 0) return "";
	if (only === "---" || /^[\w-]+:(?: |$)/.test(only)) {
		return "; this seems to be YAML, and a manifest is CSV, JSON or JSON lines";
	}
	if (required === "document_id" && /\.\w{1,5}$/.test(only)) {
		return '; this seems to be a list of names: write "name" above them, then find their ids with: ragtag docs resolve';
	}
	return "";
}

/** The name among those of columns or keys that probably means the dataset of a row; undefined where none does. */
export function datasetName(names: readonly string[]): string | undefined {
	return names.find((name) => /^(?:dataset|kb|knowledge[ _-]?base)(?:[ _-]?id)?$/i.test(name));
}

/** Where `-d` names the dataset, a column `dataset` may be a key: a note, and no problem. */
export function datasetNote(dataset: string | undefined, keys: ReadonlyMap<string, unknown>): readonly string[] {
	const name = dataset === undefined ? undefined : datasetName([...keys.keys()]);
	if (name === undefined) return [];
	return [
		`${excerpt(name)} is written as a key of each document; the dataset of a row stands in the column dataset_id`,
	];
}

/** The value of `--map` as it is typed in a shell. */
export function mapping(column: string, key: string): string {
	const text = `${column}=${key}`;
	return /^[\w.=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The right form of a value that is written for people, as the end of a message, and the option that would read it. */
type Advice = { readonly hint: string; readonly mend?: Mend | undefined };

/** A number with the mark between thousands that people write, and perhaps the other mark before its fraction. */
const GROUPED = /^(-?[1-9]\d{0,2})((?:,\d{3})+|(?:\.\d{3}){2,}|(?:\.\d{3})+(?=,))(?:([.,])(\d+))?$/;

/** Advice on a number; no option where its comma may stand between thousands. */
export function numberAdvice(cell: string): Advice {
	const isClear = /^-?(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+),\d+$/.test(cell) && !/^-?[1-9]\d{0,2},\d{3}$/.test(cell);
	return { hint: numberHint(cell), mend: isClear ? { what: "a decimal comma", option: "--decimal-comma" } : undefined };
}

function numberHint(cell: string): string {
	const [, first, groups = "", mark, fraction] = GROUPED.exec(cell) ?? [];
	if (first !== undefined && mark !== groups[0]) {
		const whole = `${first}${groups.replaceAll(/[.,]/g, "")}`;
		if (mark !== undefined) return `; write ${whole}.${fraction}`;
		// Another language takes the comma for the one before a fraction.
		const isFraction = groups.length === 4 && groups.startsWith(",");
		return isFraction ? `; write ${whole} or ${Number(`${first}.${groups.slice(1)}`)}` : `; write ${whole}`;
	}
	return /^-?\d+,\d+$/.test(cell) ? `; write ${cell.replace(",", ".")}` : "";
}

/** Words that mean true or false, by the word that is read. */
const WORDS = {
	true: /^(?:yes|y|on|1|x|true|wahr|ja|oui|vrai|si|sí)$/,
	false: /^(?:no|n|off|0|false|falsch|nein|non|faux)$/,
} as const;

export function booleanAdvice(cell: string): Advice {
	const word = cell.trim().toLowerCase();
	const value = (["true", "false"] as const).find((each) => WORDS[each].test(word));
	if (value === undefined) return { hint: "" };
	return { hint: `; write ${value}`, mend: { what: `the word ${word}`, option: `--${value} ${word}` } };
}

/** Advice on a date; none if day and month can't be distinguished. */
export function dateAdvice(text: string): Advice {
	const [, year, month, day] = /^(\d{4})[/.](\d{1,2})[/.](\d{1,2})$/.exec(text) ?? [];
	if (year !== undefined && month !== undefined && day !== undefined) return { hint: written(year, month, day) };
	const [, one, mark = "", other, last] = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})$/.exec(text) ?? [];
	if (one === undefined || other === undefined || last === undefined) return { hint: "" };
	// With dots the day always comes first; with slashes only a number above 12 shows which it is.
	const isDayFirst = mark === "." || Number(one) > 12;
	const isClear = isDayFirst || Number(other) > 12;
	const hint = !isClear ? "" : isDayFirst ? written(last, other, one) : written(last, one, other);
	const form = (isDayFirst ? ["DD", "MM", "YYYY"] : ["MM", "DD", "YYYY"]).join(mark);
	if (hint === "") return { hint };
	return { hint, mend: { what: `a date of the form ${form}`, option: `--date-format ${form}` } };
}

function written(year: string, month: string, day: string): string {
	if (Number(month) > 12 || Number(day) > 31) return "";
	return `; write ${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
}

/** Whether a text is the form that a spreadsheet gives a long number, whose digits are lost. */
export function isRoundedNumber(text: string): boolean {
	return /^\d(?:[.,]\d+)?E\+\d+$/i.test(text);
}
