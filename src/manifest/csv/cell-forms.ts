import { type CellType, type CellValue, cellValue } from "../rows/typed.ts";
import { excerpt } from "../../text/show.ts";
import { type DateForm, isoDate } from "./date-form.ts";

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
export function savedValue(cell: string, type: CellType, forms: CellForms, isTyped: boolean): CellValue {
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
