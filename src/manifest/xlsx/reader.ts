import { roleOf } from "../csv/reader.ts";
import { type Column, readHeader } from "../csv/header.ts";
import { PURPOSES } from "../purposes.ts";
import {
	emptyRow,
	type HeadFault,
	type ParsedRow,
	type RawRow,
	type RowParser,
	type SheetValue,
} from "../rows/row-reader.ts";
import type { ManifestOptions, SourceRecord } from "../types.ts";
import { addValue } from "./add-value.ts";
import { type ColumnKind, kindWith, sheetFailedRows } from "./failed-values.ts";
import { MOST_COLUMNS, type SheetRow } from "./sheet-rows.ts";

/** A row's text has a character for each column, so that a place in it is a column of the sheet. */
const TEXT = " ".repeat(MOST_COLUMNS);

/** Gives the rows of a sheet their meaning. The first row with a value is the header. */
export class SheetReader implements RowParser {
	readonly format = "xlsx";
	readonly sheet: string;
	/** the types of values are known row by row */
	readonly keyColumns = undefined;
	readonly #options: ManifestOptions;
	#columns: readonly Column[] | undefined;
	/** where each column stands in the sheet, from 0 */
	#places: readonly number[] = [];
	readonly #placeOf = new Map<string, number>();
	#isNamed: ReadonlySet<number> = new Set();
	#kinds: ColumnKind[] = [];
	#headFaults: HeadFault[] = [];

	constructor(sheet: string, options: ManifestOptions) {
		this.sheet = sheet;
		this.#options = options;
	}

	/** The rows after the header. */
	rows(rows: readonly SheetRow[]): RawRow[] {
		const raws: RawRow[] = [];
		for (const row of rows) {
			if (this.#columns === undefined) this.#header(row);
			else raws.push(this.#raw(row));
		}
		return raws;
	}

	/** A sheet without any value has an empty header. */
	end(): void {
		if (this.#columns === undefined) this.#header({ row: 1, values: [] });
	}

	get failedRows(): RowParser["failedRows"] {
		const columns = this.#columns ?? [];
		const { hasFile } = PURPOSES[this.#options.purpose].subject;
		const role = hasFile ? (at: number): string | undefined => roleOf(columns[at]) : undefined;
		return sheetFailedRows(columns, this.#kinds, this.#options, role);
	}

	headFaults(): HeadFault[] {
		const faults = this.#headFaults;
		this.#headFaults = [];
		return faults;
	}

	parse({ values = [] }: RawRow): ParsedRow {
		const parsed = emptyRow();
		for (const [at, column] of (this.#columns ?? []).entries()) {
			addValue(parsed, column, values[at] ?? "", { options: this.#options, offset: this.#places[at] ?? 0 });
		}
		return parsed;
	}

	source({ values = [] }: RawRow): SourceRecord {
		return { kind: "sheet", values };
	}

	offsetOf(_raw: RawRow, field: string): number {
		return this.#placeOf.get(field) ?? 0;
	}

	/** A fault of a row names its field, or has none. */
	fieldAt(): null {
		return null;
	}

	#header({ row, values }: SheetRow): void {
		const named = Array.from(values.entries()).flatMap(([place, value]) => {
			return value === undefined ? [] : [{ place, name: typeof value === "object" ? value.shown : String(value) }];
		});
		const { columns, faults } = readHeader(
			named.map(({ name }) => name),
			this.#options,
		);
		this.#columns = columns;
		this.#places = named.map(({ place }) => place);
		this.#isNamed = new Set(this.#places);
		this.#kinds = columns.map(() => "empty");
		for (const [at, { field, use }] of columns.entries()) {
			if (use.kind === "role" || (use.kind === "key" && !this.#placeOf.has(field)))
				this.#placeOf.set(field, this.#places[at] ?? 0);
		}
		this.#headFaults = faults.map(({ cell, ...fault }) => ({
			...fault,
			line: row,
			column: (this.#places[cell] ?? 0) + 1,
		}));
	}

	#raw({ row, values }: SheetRow): RawRow {
		const known = this.#places.map((place): SheetValue => values[place] ?? "");
		for (const [at, value] of known.entries()) this.#kinds[at] = kindWith(this.#kinds[at] ?? "empty", value);
		const stray = values.findIndex((value, place) => value !== undefined && !this.#isNamed.has(place));
		const text = "a value in a column without a name; give the column a name, or empty the cell";
		const fault = stray === -1 ? undefined : { field: null, code: "EMPTY_COLUMN", text, offset: stray };
		return { text: TEXT, line: row, column: 1, cells: undefined, fault, values: known };
	}
}
