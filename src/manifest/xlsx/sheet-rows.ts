import { excerpt } from "../../text/show.ts";
import { ReadingStop } from "../fault.ts";
import { MAX_CELL } from "../limits.ts";
import type { SheetValue } from "../rows/row-reader.ts";
import { isTrue, type NumberKind, type Workbook } from "./workbook.ts";
import { unescaped, xmlParser } from "./archive.ts";

/** Columns of a sheet at most, in every spreadsheet. */
export const MOST_COLUMNS = 16_384;

/** A row with at least one value. Cells without one are `undefined`. */
export type SheetRow = { readonly row: number; readonly values: readonly (SheetValue | undefined)[] };

/** Makes rows of the XML of a sheet, which is given in pieces. Rows without a value are none. */
export function sheetRows(workbook: Workbook) {
	let rows: SheetRow[] = [];
	let row = 0;
	let values: (SheetValue | undefined)[] = [];
	let column = -1;
	let cell: Cell = { type: "n", style: 0 };
	let text = "";
	const xml = xmlParser(workbook.sheet.part, {
		open(name, { r, t = "n", s = "0" }) {
			if (name === "row") {
				const given = Number(r);
				row = Number.isInteger(given) && given > 0 ? given : row + 1;
				values = [];
				column = -1;
			} else if (name === "c") {
				column = columnOf(r) ?? column + 1;
				if (column >= MOST_COLUMNS) throw new ReadingStop("TOO_LONG", `more than ${MOST_COLUMNS} columns`);
				cell = { type: t, style: Number(s) };
				text = "";
			}
		},
		close(name) {
			if (name === "c") {
				const value = text === "" ? undefined : valueOf(text, cell, workbook);
				if (value !== undefined && value !== "") values[column] = value;
			} else if (name === "row" && values.length > 0) rows.push({ row, values });
		},
		text(piece, element) {
			// `v` has the value of a cell, `t` the text of one that shares none with others. A formula stands in `f`.
			if (element === "v" || element === "t") text += piece;
			if (text.length > MAX_CELL) throw new ReadingStop("TOO_LONG", `a cell of more than ${MAX_CELL} characters`);
		},
	});
	return {
		/** The row that is being read, or was read last. */
		row: () => Math.max(row, 1),
		/** The rows that this piece completes. @throws Stop */
		push(piece: string): readonly SheetRow[] {
			rows = [];
			xml.write(piece);
			return rows;
		},
		/** @throws Stop where the sheet is not whole */
		end: () => xml.close(),
	};
}

type Cell = { readonly type: string; readonly style: number };

function valueOf(text: string, { type, style }: Cell, { strings, kinds, is1904 }: Workbook): SheetValue | undefined {
	if (type === "s") return strings[Number(text)];
	if (type === "str" || type === "inlineStr") return unescaped(text);
	if (type === "b") return isTrue(text);
	if (type === "e") {
		return {
			code: "CELL_ERROR",
			text: `${excerpt(text)} is an error of the sheet; correct its formula`,
			shown: text,
		};
	}
	if (type === "d") return text.replace(/T00:00:00(?:\.0+)?Z?$/, "");
	const number = Number(text);
	if (!Number.isFinite(number)) {
		return { code: "BAD_NUMBER", text: `"${excerpt(text)}" is stored as a number, and is none`, shown: text };
	}
	const kind = kinds[style] ?? "number";
	if (kind === "number") return number;
	const why = "is shown as a date, and spreadsheets don't agree which; write it as text, such as 1899-12-31";
	const iso = serialText(number, kind, is1904);
	return iso ?? { code: "BAD_DATE", text: `${excerpt(text)} ${why}`, shown: text };
}

/** The column of a cell such as `AB12`, from 0. */
function columnOf(reference: string | undefined): number | undefined {
	const letters = /^[A-Z]{1,3}/.exec(reference ?? "")?.[0];
	if (letters === undefined) return undefined;
	let column = 0;
	for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
	return column - 1;
}

/** The first day that all spreadsheets count alike: Excel has a 29th of February 1900. */
const FIRST = 61;
/** 31 December 9999 */
const LAST = 2_958_465;
const DAY = 86_400;
/** Days from the beginning of the 1900 system to that of the 1904 system. */
const BETWEEN_SYSTEMS = 1462;

/** A date or time as ISO text; undefined where the number is none that all spreadsheets read alike. */
function serialText(serial: number, kind: Exclude<NumberKind, "number">, is1904: boolean): string | undefined {
	if (kind === "time") return serial >= 0 && serial <= LAST ? timeText(Math.round(serial * DAY)) : undefined;
	const days = is1904 ? serial + BETWEEN_SYSTEMS : serial;
	if (serial < 0 || days < FIRST || days >= LAST + 1) return undefined;
	// Serial 25569 is 1 January 1970.
	const seconds = Math.round((days - 25_569) * DAY);
	return new Date(seconds * 1000).toISOString().slice(0, kind === "date" ? 10 : 19);
}

/** Hours may be more than 23: a sum of times is shown so. */
function timeText(seconds: number): string {
	const two = (number: number): string => String(Math.floor(number)).padStart(2, "0");
	return `${two(seconds / 3600)}:${two((seconds % 3600) / 60)}:${two(seconds % 60)}`;
}
