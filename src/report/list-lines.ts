/** Blank columns between two columns of a table. */
const GAP = 2;

/** Columns: a column is not made narrower to fit the terminal. */
const MIN_WIDTH = 8;

const NO_WIDTH = /^[\p{Mn}\p{Me}\u200b-\u200f]$/u;

/** CJK, and characters that are an emoji by default. A copyright sign or an arrow can be one, but takes one column. */
const WIDE =
	/^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$/u;

/** The width of a text on a terminal, in columns: wide characters (CJK, emoji) take two, combining marks none. */
export function displayWidth(text: string): number {
	let width = 0;
	for (const character of text) width += characterWidth(character);
	return width;
}

function characterWidth(character: string): number {
	if (NO_WIDTH.test(character)) return 0;
	return WIDE.test(character) ? 2 : 1;
}

/**
 * Column widths that fit `width`. The widest columns are narrowed first, none below `MIN_WIDTH`.
 *
 * @param whole columns that are never narrowed: a name that is cut can't be typed
 */
export function columnWidths(
	rows: readonly (readonly string[])[],
	width: number,
	whole: ReadonlySet<number> = new Set(),
): number[] {
	const wanted: number[] = [];
	for (const row of rows) {
		for (const [column, cell] of row.entries()) wanted[column] = Math.max(wanted[column] ?? 0, displayWidth(cell));
	}
	const room = width - GAP * Math.max(0, wanted.length - 1);
	for (;;) {
		const total = wanted.reduce((sum, each) => sum + each, 0);
		const giving = wanted.map((each, column) => (whole.has(column) ? 0 : each));
		const widest = Math.max(...giving, 0);
		if (total <= room || widest <= MIN_WIDTH) return wanted;
		const at = giving.indexOf(widest);
		wanted[at] = Math.max(MIN_WIDTH, widest - (total - room), Math.min(widest - 1, Math.floor(room / wanted.length)));
	}
}

/** Whether lines of such columns fit. */
export function fits(widths: readonly number[], width: number): boolean {
	return widths.reduce((sum, each) => sum + each, GAP * Math.max(0, widths.length - 1)) <= width;
}

/** One line of a table: cells cut to their columns with an ellipsis, the last one not padded. */
export function tableLine(cells: readonly string[], widths: readonly number[]): string {
	const padded = cells.map((cell, column) => {
		const width = widths[column] ?? 0;
		const shown = cut(cell, width);
		return column === cells.length - 1 ? shown : shown + " ".repeat(Math.max(0, width - displayWidth(shown)));
	});
	return `${padded.join(" ".repeat(GAP)).trimEnd()}\n`;
}

function cut(text: string, width: number): string {
	if (displayWidth(text) <= width) return text;
	let shown = "";
	let used = 0;
	for (const character of text) {
		used += characterWidth(character);
		if (used > width - 1) break;
		shown += character;
	}
	return `${shown}…`;
}

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
