import type { JsonValue } from "../../json/values.ts";
import { MAX_CELL } from "../limits.ts";
import { ROLES } from "../purposes.ts";
import type { ParsedRow } from "../rows/row-reader.ts";
import { type CellValue, cellValue, type CellType } from "../rows/typed.ts";
import { brokenChangeFault, mergeOnlyFault } from "../rows/values.ts";
import type { ManifestOptions } from "../types.ts";
import type { Column, ColumnUse } from "./header.ts";
import { excerpt } from "../../text/show.ts";
import { type DateForm, isoDate } from "./date-form.ts";

type KeyUse = Extract<ColumnUse, { kind: "key" }>;

type Context = {
	readonly options: Pick<ManifestOptions, "empty" | "mergeOnly" | "deleteToken" | "cells">;
	/** where the cell begins, for messages */
	readonly offset: () => number;
};

/** Adds the text of a cell to its row, as its column says. */
export function addCell(parsed: ParsedRow, { use, field }: Column, cell: string, context: Context): void {
	const { options, offset } = context;
	if (use.kind === "drop") return;
	if (use.kind === "label") parsed.name = cell;
	else if (cell.length > MAX_CELL) {
		parsed.faults.push({
			field,
			code: "TOO_LONG",
			text: `a cell of more than ${MAX_CELL} characters`,
			offset: offset(),
		});
	} else if (use.kind === "role") parsed[ROLES[use.role]] = cell;
	else if (cell === "") {
		if (options.empty !== "skip") parsed.metadata.set(use.key, options.empty === "null" ? null : "");
	} else if (cell === options.mergeOnly?.token) setValue(parsed, use.key, cell, options);
	else if (cell === options.deleteToken || isPlain(use, options)) parsed.metadata.set(use.key, cell);
	else {
		const { cells } = options;
		const result = cells === undefined ? cellValue(cell, use.type) : savedValue(cell, use.type, cells, use.isTyped);
		if ("value" in result && use.type === "list") setValue(parsed, use.key, result.value, options);
		else if ("value" in result) {
			parsed.metadata.set(use.key, result.value);
			const fault = brokenChangeFault(use.key, result.value, options, true);
			if (fault !== undefined) parsed.faults.push(fault);
		} else {
			parsed.faults.push({ field, code: result.code, text: result.fault, offset: offset(), mend: result.mend });
		}
	}
}

/** Whether cells are texts as they stand. */
function isPlain({ type, isTyped }: KeyUse, { cells }: Context["options"]): boolean {
	return type === "text" && (isTyped || cells?.date === undefined);
}

/** Sets a value that may be one for a merge alone, or none for a merge. */
function setValue(parsed: ParsedRow, key: string, value: JsonValue, options: Context["options"]): void {
	parsed.metadata.set(key, value);
	const fault = mergeOnlyFault(key, value, options.mergeOnly) ?? brokenChangeFault(key, value, options);
	if (fault !== undefined) parsed.faults.push(fault);
}

/** How a spreadsheet wrote the cells of a table, where it differs from what a manifest has. */
export type CellForms = {
	/** 1.234,5 is a number */
	readonly decimalComma: boolean;
	/** texts of this form are dates, in columns whose header gives no type */
	readonly date: DateForm | undefined;
	/** what divides the items of a list instead of `|` */
	readonly listSeparator: string | undefined;
	/** words in small letters that mean true, beside `true` */
	readonly trueWords: ReadonlySet<string>;
	readonly falseWords: ReadonlySet<string>;
};

/** A whole part with or without dots between thousands, then a fraction after a comma. */
const WITH_COMMA = /^-?(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+)(?:,\d+)?(?:e[+-]?\d+)?$/i;

/**
 * The value of a cell that is not empty.
 *
 * @param isTyped whether the header names the type: a column `title:text` holds texts, whatever they look like
 */
function savedValue(cell: string, type: CellType, forms: CellForms, isTyped: boolean): CellValue {
	if (type === "number") return forms.decimalComma ? numberWithComma(cell) : cellValue(cell, type);
	if (type === "boolean") {
		const word = cell.trim().toLowerCase();
		if (forms.trueWords.has(word)) return { value: true };
		return forms.falseWords.has(word) ? { value: false } : cellValue(cell, type);
	}
	if (type === "list" && forms.listSeparator !== undefined) {
		const items = cell.split(forms.listSeparator).map((item) => item.trim());
		return { value: items.filter((item) => item !== "") };
	}
	if (type === "text" && !isTyped && forms.date !== undefined) {
		const date = isoDate(cell, forms.date);
		if (date === null) return { code: "BAD_DATE", fault: `${excerpt(cell)} is not a date that exists` };
		return { value: date ?? cell };
	}
	return cellValue(cell, type);
}

function numberWithComma(cell: string): CellValue {
	if (WITH_COMMA.test(cell)) return cellValue(cell.replaceAll(".", "").replace(",", "."), "number");
	const point = /^-?\d+\.\d+$/.test(cell) ? "; with --decimal-comma a point stands between thousands" : "";
	return { code: "BAD_NUMBER", fault: `"${excerpt(cell)}" is not a number with a decimal comma${point}` };
}
