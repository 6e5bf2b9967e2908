import type { JsonValue } from "../../json/values.ts";
import type { Fault, ReadingStop } from "../fault.ts";
import type { Role, ROLES } from "../purposes.ts";
import type { KeyColumn } from "../seen-values.ts";
import type { FailedRowFormat } from "../types.ts";

/** The text of one record, before its values are read. */
export type RawRow = {
	readonly text: string;
	/** the line it begins on, and the column of its first character, from 1 */
	readonly line: number;
	readonly column: number;
	/** CSV alone */
	readonly cells?: readonly string[] | undefined;
	/** what makes the record unreadable */
	readonly fault?: Fault | undefined;
	/** workbooks alone: the values in the order of the header; "" where a cell has none */
	readonly values?: readonly SheetValue[] | undefined;
};

/** A value of a sheet. Dates are texts. */
export type SheetValue = string | number | boolean | SheetFault;

/** A cell without a usable value. `shown` is what the sheet has there. */
type SheetFault = Pick<Fault, "code" | "text"> & { readonly shown: string };

/** The content of a record, before its values are checked. Absent texts are empty. */
export type ParsedRow = { [Member in (typeof ROLES)[Role]]: string } & {
	readonly metadata: Map<string, JsonValue>;
	readonly faults: Fault[];
	/** false if the text of the record is not well formed, so that it has no values to check */
	isReadable: boolean;
};

/** A fault that belongs to the manifest and not to a row. */
export type HeadFault = Fault & { readonly line: number; readonly column: number };

/** What the rows of one format mean. It keeps no row, so that memory does not grow with the manifest. */
export type RowParser = {
	readonly format: "csv" | "json" | "jsonl" | "xlsx";
	/** the name of the sheet, in a workbook */
	readonly sheet?: string | undefined;
	/** faults of the header, as far as they are known */
	readonly headFaults: readonly HeadFault[];
	parse(raw: RawRow): ParsedRow;
	/** the columns of metadata; undefined where each row names its keys */
	readonly keyColumns: readonly KeyColumn[] | undefined;
	/** where a field's value begins in a row's text, in UTF-16 units */
	offsetOf(raw: RawRow, field: string): number;
	readonly failedRows: FailedRowFormat;
};

/** One format of text: it turns text into rows. */
export type RowReader = RowParser & {
	/** takes the next piece of text. @throws Stop where no row comes before what ends the reading */
	push(text: string): RawRow[];
	/** the rows that only the end of the text completes. @throws Stop as above */
	end(): RawRow[];
	/** why the reading ends after the rows that were given last. Those rows stand before the fault, and are valid */
	readonly stop: ReadingStop | undefined;
};

/** One literal, never a spread: a spread makes objects of no fixed shape, which read five times slower. */
export function emptyRow(): ParsedRow {
	return {
		datasetId: "",
		documentId: "",
		file: "",
		name: "",
		metadata: new Map(),
		faults: [],
		isReadable: true,
	};
}
