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
