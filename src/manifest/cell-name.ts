import { excerpt } from "../text/show.ts";

/** A cell as spreadsheets name it: `Tabelle1!C17`. Line and column count from 1. */
export function cellName(sheet: string, line: number, column: number): string {
	const name = /^[\p{L}\p{N}_]+$/u.test(sheet) ? sheet : `'${sheet.replaceAll("'", "''")}'`;
	return `${excerpt(name)}!${letters(column - 1)}${line}`;
}

/** The letters of a column, from 0. */
function letters(column: number): string {
	const rest = Math.floor(column / 26);
	return (rest === 0 ? "" : letters(rest - 1)) + String.fromCharCode(65 + (column % 26));
}
