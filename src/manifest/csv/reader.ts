import type { ManifestOptions } from "../types.ts";
import { ReadingStop, type Fault, lineFeeds, positionIn, positionsIn } from "../fault.ts";
import { MAX_COLUMNS, MAX_RECORD } from "../limits.ts";
import { emptyRow, type HeadFault, type RawRow, type RowReader } from "../rows/row-reader.ts";
import type { KeyColumn } from "../seen-values.ts";
import { csvFailedRows } from "../failed-rows.ts";
import { cellsOf, cellStarts } from "./cells.ts";
import { addCell } from "./add-cell.ts";
import { type Column, delimiterOf, NO_HEADER, namedDelimiter, placedRoles, readHeader } from "./header.ts";
import { type CsvRecord, recordEnd, RecordSplitter } from "./split.ts";

/** Reads CSV. The first record that is no blank line is the header, from which the delimiter is found, too. */
export function csvReader(options: ManifestOptions): RowReader {
	let waiting = "";
	let splitter: RecordSplitter | undefined;
	let delimiter = ",";
	let header = NO_HEADER;
	let headFaults: readonly HeadFault[] = [];
	let keyColumns: readonly KeyColumn[] = [];
	/** the beginnings of the cells of the latest row with a fault: a row may have many faults */
	let located: { readonly text: string; readonly starts: readonly number[] } | undefined;

	const startsOf = (text: string): readonly number[] => {
		if (located?.text !== text) located = { text, starts: cellStarts(text, delimiter) };
		return located.starts;
	};
	/** The beginning of a cell; the end of the text for one that the record does not have. */
	const startOf = (text: string, cell: number): number => startsOf(text)[cell] ?? text.length;
	/** @throws Stop where the header can't be read at all */
	const takeHeader = (record: CsvRecord): void => {
		const [names] = cellsOf([record], delimiter);
		const at = positionIn(record.text, record.fault?.offset ?? 0, record.line);
		if (names === undefined)
			throw new ReadingStop(record.fault?.code ?? "HEADER", `header: ${record.fault?.text ?? "unreadable"}`, at);
		const [only = ""] = names;
		if (names.length === 1 && only.includes("|")) {
			throw new ReadingStop("DELIMITER", "the header is divided by |; use a comma, a semicolon or a tab", at);
		}
		if (names.length > MAX_COLUMNS) {
			throw new ReadingStop("TOO_LONG", `a header of ${names.length} columns; ${MAX_COLUMNS} are the most`, at);
		}
		header = readHeader(names, options);
		keyColumns = header.columns.flatMap(({ use }, cell) => {
			return use.kind === "key" ? [{ cell, key: use.key, type: use.type }] : [];
		});
		const offsets = header.faults.map(({ cell }) => startOf(record.text, cell));
		const places = positionsIn(record.text, offsets, record.line);
		headFaults = header.faults.map(({ field, code, text }, index) => ({ field, code, text, ...(places[index] ?? at) }));
	};
	/** A fault of a record, with the field of its cell. */
	const named = (fault: Fault, text: string): Fault => {
		const { columns } = header;
		const cell = startsOf(text).findLastIndex((start) => start <= (fault.offset ?? 0));
		return { ...fault, field: columns[Math.min(cell, columns.length - 1)]?.field ?? null };
	};
	const rowsOf = (records: CsvRecord[]): RawRow[] => {
		const [first] = records;
		if (first === undefined) return [];
		if (header === NO_HEADER) {
			takeHeader(first);
			records.shift();
		}
		const cells = cellsOf(records, delimiter);
		return records.map(({ text, line, fault }, index) => {
			return { text, line, column: 1, cells: cells[index], fault: fault && named(fault, text) };
		});
	};
	/** Finds the delimiter. A line before the header that names it is no record of the manifest. */
	const begin = (): RawRow[] => {
		const text = waiting;
		const start = Math.max(text.search(/[^\r\n]/), 0);
		const end = recordEnd(text, start);
		const first = text.slice(start, end === -1 ? undefined : end);
		const sep = namedDelimiter(first, 1 + lineFeeds(text, 0, start));
		const skipped = sep === undefined ? 0 : end === -1 ? text.length : end + 1;
		delimiter = sep ?? delimiterOf(first);
		splitter = new RecordSplitter(delimiter, 1 + lineFeeds(text, 0, skipped));
		waiting = "";
		return rowsOf(splitter.push(text.slice(skipped)));
	};
	return {
		format: "csv",
		get headFaults() {
			return headFaults;
		},
		get stop() {
			return splitter?.stop;
		},
		get keyColumns() {
			return keyColumns;
		},
		get failedRows() {
			const names = header.columns.map(({ original }) => original);
			return csvFailedRows(names, delimiter, placedRoles(header, options));
		},
		push(text) {
			if (splitter !== undefined) return rowsOf(splitter.push(text));
			waiting += text;
			const start = waiting.search(/[^\r\n]/);
			if (start === -1 || recordEnd(waiting, start) === -1) {
				if (waiting.length <= MAX_RECORD) return [];
				if (start === -1) throw new ReadingStop("TOO_LONG", `more than ${MAX_RECORD} blank lines before the header`);
			}
			return begin();
		},
		end() {
			const rows = splitter === undefined ? begin() : [];
			return [...rows, ...rowsOf(splitter?.end() ?? [])];
		},
		offsetOf: ({ text }, field) => startOf(text, header.cellOf.get(field) ?? 0),
		parse({ text, cells = [] }) {
			const parsed = emptyRow();
			const { columns } = header;
			if (cells.length !== columns.length) {
				parsed.isReadable = false;
				parsed.faults.push(ragged(cells.length, columns, text, startOf(text, columns.length)));
				return parsed;
			}
			let cell = 0;
			const context = { options, offset: () => startOf(text, cell) };
			for (const column of columns) {
				addCell(parsed, column, cells[cell] ?? "", context);
				cell += 1;
			}
			return parsed;
		},
	};
}

/** @param end where the last column ends, and a surplus cell begins */
function ragged(found: number, columns: readonly Column[], text: string, end: number): Fault {
	const cells = `${found} ${found === 1 ? "cell" : "cells"} where the header has ${columns.length}`;
	const missing = columns[found];
	if (missing !== undefined) {
		return { field: missing.field, code: "RAGGED", text: `missing: the row has ${cells}`, offset: text.length };
	}
	return {
		field: columns.at(-1)?.field ?? null,
		code: "RAGGED",
		text: `the row has ${cells}; quote values that hold the delimiter`,
		offset: end,
	};
}
