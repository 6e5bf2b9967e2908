import type { Column } from "../csv/header.ts";
import { isoDate } from "../csv/date-form.ts";
import { csvFailedRows } from "../failed-rows.ts";
import type { SheetValue } from "../rows/row-reader.ts";
import type { FailedRowFormat, ManifestOptions } from "../types.ts";

/** What the values of a column are, as far as they were read: a CSV column needs one type. */
export type ColumnKind = "empty" | "text" | "number" | "boolean" | "json";

/** The kind of a column with one more value. */
export function kindWith(kind: ColumnKind, value: SheetValue): ColumnKind {
	if (value === "" || kind === "json") return kind;
	const own = typeof value === "number" || typeof value === "boolean" ? kindOfValue(value) : "text";
	return kind === "empty" || kind === own ? own : "json";
}

function kindOfValue(value: number | boolean): ColumnKind {
	return typeof value === "number" ? "number" : "boolean";
}

/**
 * The failed rows of a sheet, as CSV that the same command with the same options reads: a column of numbers gets the type in
 * its header that its cells have in the workbook.
 */
export function sheetFailedRows(
	columns: readonly Column[],
	kinds: readonly ColumnKind[],
	options: Pick<ManifestOptions, "cells" | "deleteToken" | "mergeOnly">,
	roleOf: ((column: number) => string | undefined) | undefined,
): FailedRowFormat {
	const added = columns.map(({ use }, at) => {
		const kind = use.kind === "key" && !use.isTyped ? kinds[at] : undefined;
		return kind === "number" || kind === "boolean" || kind === "json" ? kind : undefined;
	});
	const names = columns.map(({ original }, at) => (added[at] === undefined ? original : `${original}:${added[at]}`));
	const format = csvFailedRows(names, ",", roleOf);
	const text = (value: SheetValue, at: number): string => {
		if (typeof value === "object") return value.shown;
		const isToken = value === "" || value === (options.mergeOnly?.token ?? options.deleteToken);
		if (added[at] === "json" && !isToken) return JSON.stringify(dated(value, options));
		const use = columns[at]?.use;
		const isNumber = added[at] === "number" || (use?.kind === "key" && use.type === "number");
		const hasComma = options.cells?.decimalComma === true && isNumber && typeof value === "number";
		return hasComma ? String(value).replace(".", ",") : String(value);
	};
	return {
		...format,
		row(source, failure, place) {
			const cells = source.kind === "sheet" ? source.values.map(text) : [];
			return format.row({ kind: "csv", cells }, failure, place);
		},
	};
}

/** A text as it is sent. In a column `:json` no other date than this is read. */
function dated(value: string | number | boolean, { cells }: Pick<ManifestOptions, "cells">): string | number | boolean {
	if (typeof value !== "string" || cells?.date === undefined) return value;
	return isoDate(value, cells.date) ?? value;
}
