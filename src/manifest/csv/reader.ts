import type { ManifestOptions } from "../types.ts";
import { ReadingStop, type Fault, lineFeeds, positionIn, positionsIn } from "../fault.ts";
import { MAX_COLUMNS, MAX_RECORD } from "../limits.ts";
import { emptyRow, type ParsedRow, type HeadFault, type RawRow, type RowReader } from "../rows/row-reader.ts";
import type { KeyColumn } from "../seen-values.ts";
import { csvFailedRows } from "../failed-rows.ts";
import { cellsOf, cellStarts } from "./cells.ts";
import { addCell } from "./add-cell.ts";
import { type Column, delimiterOf, NO_HEADER, namedDelimiter, placedRoles, readHeader } from "./header.ts";
import { type CsvRecord, recordEnd, RecordSplitter } from "./split.ts";

/** Reads CSV. The first record that is no blank line is the header, from which the delimiter is found, too. */
export class CsvReader implements RowReader {
	readonly format = "csv";
	readonly #options: ManifestOptions;
	#waiting = "";
	#splitter: RecordSplitter | undefined;
	#delimiter = ",";
	#header = NO_HEADER;
	headFaults: readonly HeadFault[] = [];
	/** the beginnings of the cells of the latest row with a fault: a row may have many faults */
	#located: { readonly text: string; readonly starts: readonly number[] } | undefined;
	#keyColumns: readonly KeyColumn[] = [];

	constructor(options: ManifestOptions) {
		this.#options = options;
	}

	get stop(): ReadingStop | undefined {
		return this.#splitter?.stop;
	}

	get keyColumns(): RowReader["keyColumns"] {
		return this.#keyColumns;
	}

	get failedRows(): RowReader["failedRows"] {
		const names = this.#header.columns.map(({ original }) => original);
		return csvFailedRows(names, this.#delimiter, placedRoles(this.#header, this.#options));
	}

	push(text: string): RawRow[] {
		if (this.#splitter !== undefined) return this.#rows(this.#splitter.push(text));
		this.#waiting += text;
		const start = this.#waiting.search(/[^\r\n]/);
		if (start === -1 || recordEnd(this.#waiting, start) === -1) {
			if (this.#waiting.length <= MAX_RECORD) return [];
			if (start === -1) throw new ReadingStop("TOO_LONG", `more than ${MAX_RECORD} blank lines before the header`);
		}
		return this.#begin();
	}

	end(): RawRow[] {
		const rows = this.#splitter === undefined ? this.#begin() : [];
		return [...rows, ...this.#rows(this.#splitter?.end() ?? [])];
	}

	offsetOf({ text }: RawRow, field: string): number {
		return this.#startOf(text, this.#header.cellOf.get(field) ?? 0);
	}

	parse(raw: RawRow): ParsedRow {
		const parsed = emptyRow();
		const cells = raw.cells ?? [];
		const { columns } = this.#header;
		if (cells.length !== columns.length) {
			parsed.isReadable = false;
			parsed.faults.push(ragged(cells.length, columns, raw.text, this.#startOf(raw.text, columns.length)));
			return parsed;
		}
		let cell = 0;
		const context = { options: this.#options, offset: () => this.#startOf(raw.text, cell) };
		for (const column of columns) {
			addCell(parsed, column, cells[cell] ?? "", context);
			cell += 1;
		}
		return parsed;
	}

	/** Finds the delimiter. A line before the header that names it is no record of the manifest. */
	#begin(): RawRow[] {
		const text = this.#waiting;
		const start = Math.max(text.search(/[^\r\n]/), 0);
		const end = recordEnd(text, start);
		const first = text.slice(start, end === -1 ? undefined : end);
		const named = namedDelimiter(first, 1 + lineFeeds(text, 0, start));
		const skipped = named === undefined ? 0 : end === -1 ? text.length : end + 1;
		this.#delimiter = named ?? delimiterOf(first);
		this.#splitter = new RecordSplitter(this.#delimiter, 1 + lineFeeds(text, 0, skipped));
		this.#waiting = "";
		return this.#rows(this.#splitter.push(text.slice(skipped)));
	}

	#rows(records: CsvRecord[]): RawRow[] {
		const [first] = records;
		if (first === undefined) return [];
		if (this.#header === NO_HEADER) {
			this.#readHeader(first);
			records.shift();
		}
		const cells = cellsOf(records, this.#delimiter);
		return records.map(({ text, line, fault }, index) => {
			return { text, line, column: 1, cells: cells[index], fault: fault && this.#named(fault, text) };
		});
	}

	/** A fault of a record, with the field of its cell. */
	#named(fault: Fault, text: string): Fault {
		const { columns } = this.#header;
		const cell = this.#starts(text).findLastIndex((start) => start <= (fault.offset ?? 0));
		return { ...fault, field: columns[Math.min(cell, columns.length - 1)]?.field ?? null };
	}

	/** @throws Stop where the header can't be read at all */
	#readHeader(record: CsvRecord): void {
		const [names] = cellsOf([record], this.#delimiter);
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
		this.#header = readHeader(names, this.#options);
		const { columns, faults } = this.#header;
		this.#keyColumns = columns.flatMap(({ use }, cell) => {
			return use.kind === "key" ? [{ cell, key: use.key, type: use.type }] : [];
		});
		const offsets = faults.map(({ cell }) => this.#startOf(record.text, cell));
		const places = positionsIn(record.text, offsets, record.line);
		this.headFaults = faults.map(({ field, code, text }, index) => ({ field, code, text, ...(places[index] ?? at) }));
	}

	#starts(text: string): readonly number[] {
		if (this.#located?.text !== text) this.#located = { text, starts: cellStarts(text, this.#delimiter) };
		return this.#located.starts;
	}

	/** The beginning of a cell; the end of the text for one that the record does not have. */
	#startOf(text: string, cell: number): number {
		return this.#starts(text)[cell] ?? text.length;
	}
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
