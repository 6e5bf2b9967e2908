import { show } from "../text/show.ts";

/** Cells that a spreadsheet would evaluate as a formula. */
const FORMULA = /^[=+\-@\t\r\n\0\uFF1D\uFF0B\uFF0D\uFF20]/u;

/** One line of a CSV report for people: quoted where needed, formulas made text with an apostrophe. */
export function reportCsvLine(cells: readonly string[]): string {
	return `${cells.map((cell) => quoted(FORMULA.test(cell) ? `'${cell}` : cell)).join(",")}\n`;
}

/** One line of tab-separated values; tabs, line ends and backslashes in a cell are escaped. */
export function tsvLine(cells: readonly string[]): string {
	return `${cells.map(tsvCell).join("\t")}\n`;
}

function quoted(cell: string): string {
	return /[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function tsvCell(cell: string): string {
	return cell.replaceAll("\\", "\\\\").replaceAll("\t", "\\t").replaceAll("\n", "\\n").replaceAll("\r", "\\r");
}

/** Most characters of a foreign text: a line of a table can't be wrapped. */
const LONGEST_CODE = 500;

/**
 * Foreign text as code, outside of a table. Nothing in code becomes a link, a picture or a mention, and code ends only at as
 * many backticks as it began with.
 */
export function markdownCode(text: string, longest = LONGEST_CODE): string {
	return inFence(show(text, longest));
}

/**
 * The same in a cell of a table, which a bar would end even in code.
 *
 * A parser takes the backslashes before a bar in pairs and drops the last one alone, so an even number of them is made odd.
 * See `escaped_char` and `unescape_pipes` in github/cmark-gfm, extensions/table.c.
 */
export function markdownCell(text: string): string {
	const escaped = show(text, LONGEST_CODE).replaceAll(/(\\*)\|/g, (_, slashes: string) => {
		return `${slashes}${slashes.length % 2 === 0 ? "\\" : "\\\\"}|`;
	});
	return inFence(escaped);
}

function inFence(shown: string): string {
	const longestRun = Math.max(0, ...Array.from(shown.matchAll(/`+/g), ([run]) => run.length));
	const fence = "`".repeat(longestRun + 1);
	// Code of blanks alone would be none; a blank at both ends is taken off.
	const space = longestRun > 0 || shown.trim() === "" || /^ .* $/.test(shown) ? " " : "";
	return `${fence}${space}${shown}${space}${fence}`;
}

/** Characters of one value that a page shows: a cell is not the place to read a document. */
const LONGEST_HTML = 2000;

export const ENTITIES: ReadonlyMap<string, string> = new Map([
	["&", "&amp;"],
	["<", "&lt;"],
	[">", "&gt;"],
	['"', "&quot;"],
	["'", "&#39;"],
]);

/**
 * Foreign text as HTML, for an element or an attribute in quotes. Characters that hide or reverse text are shown as escapes,
 * as on a terminal.
 */
export function html(text: string, longest = LONGEST_HTML): string {
	return show(text, longest).replaceAll(/[&<>"']/g, (character) => ENTITIES.get(character) ?? "");
}
