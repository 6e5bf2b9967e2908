import { type Column, type ColumnUse, type Header, NO_HEADER, placedRoles, readHeader } from "../csv/header.ts";
import { emptyRow, type HeadFault, type ParsedRow, type RawRow, type SheetValue } from "../rows/row-reader.ts";
import type { ManifestOptions, FailedRowFormat } from "../types.ts";
import { ReadingStop } from "../fault.ts";
import type { Batch } from "../reading.ts";
import { gather, openArchive } from "./archive.ts";
import { MOST_COLUMNS, type SheetRow, sheetRows } from "./sheet-rows.ts";
import { readWorkbook, WORKBOOK } from "./workbook.ts";
import { addCell } from "../csv/add-cell.ts";
import { isoDate } from "../csv/date-form.ts";
import { csvFailedRows } from "../failed-rows.ts";

/**
 * The rows of a sheet as they stand in it, some hundred at a time. There is always a batch, be it empty.
 *
 * @param otherwise what the file is if it is no workbook
 * @throws Stop, always with a position
 */
export async function* workbookBatches(
	blocks: AsyncIterable<Buffer>,
	options: ManifestOptions,
	otherwise: ReadingStop,
): AsyncGenerator<Batch> {
	const archive = await openArchive(await gather(blocks));
	if (!archive.has(WORKBOOK)) throw otherwise;
	const workbook = await readWorkbook(archive, options.sheet);
	const { name, part } = workbook.sheet;
	const reader = sheetReader(name, options);
	const rows = sheetRows(workbook);
	try {
		for await (const text of archive.read(part)) yield { reader, rows: reader.rows(rows.push(text)) };
		rows.end();
	} catch (error) {
		if (!(error instanceof ReadingStop)) throw error;
		throw new ReadingStop(error.code, error.message, { line: rows.row(), column: 1 });
	}
	reader.end();
	yield { reader, rows: [] };
}

/** A row's text has a character for each column, so that a place in it is a column of the sheet. */
const TEXT = " ".repeat(MOST_COLUMNS);

/** Gives the rows of a sheet their meaning. The first row with a value is the header. */
function sheetReader(sheet: string, options: ManifestOptions) {
	let header = NO_HEADER;
	/** where each column stands in the sheet, from 0 */
	let places: readonly number[] = [];
	let isNamed: ReadonlySet<number> = new Set();
	let headFaults: readonly HeadFault[] = [];
	/** the columns with a value that is no text: in CSV they need a type */
	const typed = new Set<number>();

	const begin = ({ row, values }: SheetRow): void => {
		const named = Array.from(values.entries()).flatMap(([place, value]) => {
			return value === undefined ? [] : [{ place, name: typeof value === "object" ? value.shown : String(value) }];
		});
		header = readHeader(
			named.map(({ name }) => name),
			options,
		);
		places = named.map(({ place }) => place);
		isNamed = new Set(places);
		headFaults = header.faults.map(({ cell, ...fault }) => ({ ...fault, line: row, column: (places[cell] ?? 0) + 1 }));
	};
	const rawOf = ({ row, values }: SheetRow): RawRow => {
		const known = places.map((place): SheetValue => values[place] ?? "");
		for (const [at, value] of known.entries()) {
			if (typeof value === "number" || typeof value === "boolean") typed.add(at);
		}
		const stray = values.findIndex((value, place) => value !== undefined && !isNamed.has(place));
		const text = "a value in a column without a name; give the column a name, or empty the cell";
		const fault = stray === -1 ? undefined : { field: null, code: "EMPTY_COLUMN", text, offset: stray };
		return { text: TEXT, line: row, column: 1, fault, values: known };
	};
	return {
		format: "xlsx" as const,
		sheet,
		/** the types of values are known row by row */
		keyColumns: undefined,
		get headFaults() {
			return headFaults;
		},
		get failedRows() {
			return sheetFailedRows(header, typed, options);
		},
		/** The rows after the header. */
		rows(rows: readonly SheetRow[]): RawRow[] {
			const raws: RawRow[] = [];
			for (const row of rows) {
				if (header === NO_HEADER) begin(row);
				else raws.push(rawOf(row));
			}
			return raws;
		},
		/** A sheet without any value has an empty header. */
		end(): void {
			if (header === NO_HEADER) begin({ row: 1, values: [] });
		},
		parse({ values = [] }: RawRow): ParsedRow {
			const parsed = emptyRow();
			for (const [at, column] of header.columns.entries()) {
				addValue(parsed, column, values[at] ?? "", { options, offset: places[at] ?? 0 });
			}
			return parsed;
		},
		offsetOf: (_raw: RawRow, field: string) => places[header.cellOf.get(field) ?? -1] ?? 0,
	};
}

/** Numbers from this one on may have lost digits: a spreadsheet keeps fifteen. */
const SIXTEEN_DIGITS = 1e15;

/**
 * Adds a value of a sheet to its row. A number or boolean keeps its type, unless the header names another one. A text is read
 * as a cell of CSV.
 *
 * @param column of the sheet, from 0, for messages
 */
function addValue(
	parsed: ParsedRow,
	column: Column,
	value: SheetValue,
	{ options, offset }: { readonly options: ManifestOptions; readonly offset: number },
): void {
	const { use, field } = column;
	if (use.kind === "drop") return;
	if (typeof value === "object") {
		if (use.kind === "label") parsed.name = value.shown;
		else parsed.faults.push({ field, code: value.code, text: value.text, offset });
	} else if (typeof value === "string") addCell(parsed, column, value, { options, offset: () => offset });
	else if (isLongId(use, value)) {
		const text = `${value} is a number, of which a spreadsheet keeps 15 digits; make the column text, and enter it again`;
		parsed.faults.push({ field, code: "LONG_NUMBER", text, offset });
	} else if (use.kind === "key" && keepsType(use, value)) parsed.metadata.set(use.key, value);
	else addCell(parsed, column, String(value), { options, offset: () => offset });
}

type KeyUse = Extract<ColumnUse, { kind: "key" }>;

function keepsType({ type, isTyped }: KeyUse, value: number | boolean): boolean {
	return !isTyped || type === "json" || type === typeof value;
}

function isLongId(use: ColumnUse, value: number | boolean): boolean {
	return use.kind === "role" && typeof value === "number" && Math.abs(value) >= SIXTEEN_DIGITS;
}

/**
 * The failed rows of a sheet, as CSV that the same command with the same options reads: a column with numbers or booleans
 * becomes one of JSON.
 *
 * @param typed the columns with a value that is no text
 */
function sheetFailedRows(
	header: Header,
	typed: ReadonlySet<number>,
	options: Pick<ManifestOptions, "purpose" | "cells" | "deleteToken" | "mergeOnly">,
): FailedRowFormat {
	const { columns } = header;
	const isJson = columns.map(({ use }, at) => use.kind === "key" && !use.isTyped && typed.has(at));
	const names = columns.map(({ original }, at) => (isJson[at] === true ? `${original}:json` : original));
	const format = csvFailedRows(names, ",", placedRoles(header, options));
	const text = (value: SheetValue, at: number): string => {
		if (typeof value === "object") return value.shown;
		const isToken = value === "" || value === (options.mergeOnly?.token ?? options.deleteToken);
		if (isJson[at] === true && !isToken) return JSON.stringify(dated(value, options));
		const use = columns[at]?.use;
		const isNumber = typeof value === "number" && use?.kind === "key" && use.type === "number";
		const hasComma = isNumber && options.cells?.decimalComma === true;
		return hasComma ? String(value).replace(".", ",") : String(value);
	};
	return {
		...format,
		row: ({ values = [] }, failure, place) => format.row({ text: "", cells: values.map(text) }, failure, place),
	};
}

/** A text as it is sent. In a column `:json` no other date than this is read. */
function dated(value: string | number | boolean, { cells }: Pick<ManifestOptions, "cells">): string | number | boolean {
	if (typeof value !== "string" || cells?.date === undefined) return value;
	return isoDate(value, cells.date) ?? value;
}
