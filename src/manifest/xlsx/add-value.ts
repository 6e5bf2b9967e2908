import { addCell } from "../csv/add-cell.ts";
import type { Column, ColumnUse } from "../csv/header.ts";
import type { ParsedRow, SheetValue } from "../rows/row-reader.ts";
import type { ManifestOptions } from "../types.ts";

/** Numbers from this one on may have lost digits: a spreadsheet keeps fifteen. */
const SIXTEEN_DIGITS = 1e15;

/**
 * Adds a value of a sheet to its row. A number or boolean keeps its type, unless the header names another one. A text is read
 * as a cell of CSV.
 *
 * @param column of the sheet, from 0, for messages
 */
export function addValue(
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
