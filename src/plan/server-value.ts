import type { JsonValue } from "../json/values.ts";

/** The values with which a condition may compare. */
export type Scalar = string | number | boolean;

/** `YYYY-MM-DD` without the white space around it: the service checks the places of digits and dashes only. */
const DATE = /^\d{4}-\d\d-\d\d$/;

/** Numbers for Python's `ast.literal_eval`, which refuses leading zeros of a whole number. */
const NUMBER = /^[ \t]*[+-]?(?:0+|[1-9]\d*|(?:\d+\.\d*|\.\d+)(?:e[+-]?\d+)?|\d+e[+-]?\d+)\s*$/i;
const WHOLE = /^[+-]?\d+$/;

/** Most digits of a whole number that Python converts (`sys.int_info.default_max_str_digits`). */
const LONGEST = 4_300;

/**
 * A value as the service's filter reads it: Python's `str` of it. Objects, which are no values for a filter, are JSON
 * here.
 */
export function serverText(value: JsonValue): string {
	if (typeof value === "string") return value;
	if (typeof value === "boolean") return value ? "True" : "False";
	if (typeof value !== "number") return JSON.stringify(value);
	// `inf` and `nan`, as Python writes them.
	return Number.isFinite(value) ? String(value) : String(value).toLowerCase().replace("infinity", "inf");
}

/** Whether a stored text equals the wanted value; undefined if a date is wanted and the text is none. */
export function areEqual(stored: string, wanted: Scalar): boolean | undefined {
	const text = serverText(wanted);
	if (isDate(text)) return isDate(stored) ? stored.trim() === text.trim() : undefined;
	return isNumberText(stored) && isNumberText(text)
		? compareNumbers(stored, text) === 0
		: stored.toLowerCase() === text.toLowerCase();
}

/** Whether a stored text is in that order to the wanted value. A number has no order to a text that is no number. */
export function isOrdered(stored: string, operator: ">" | "<" | "≥" | "≤", wanted: Scalar): boolean {
	const order = orderOf(stored, wanted);
	if (order === undefined) return false;
	switch (operator) {
		case ">":
			return order > 0;
		case "<":
			return order < 0;
		case "≥":
			return order >= 0;
		case "≤":
			return order <= 0;
	}
}

/** Whether the service reads a text as a number or a date, so that a different text may equal it. */
export function hasOtherSpellings(text: string): boolean {
	return isNumberText(text) || isDate(text);
}

function orderOf(stored: string, wanted: Scalar): number | undefined {
	const text = serverText(wanted);
	if (isDate(text)) return isDate(stored) ? compareTexts(stored.trim(), text.trim()) : undefined;
	const isNumber = isNumberText(stored);
	if (isNumber && isNumberText(text)) return compareNumbers(stored, text);
	// A stored text that is no number leaves a wanted "7" a text, but can't be ordered against the number 7.
	if (isNumber || typeof wanted !== "string") return undefined;
	return compareTexts(stored.toLowerCase(), text.toLowerCase());
}

function isDate(text: string): boolean {
	return DATE.test(text.trim());
}

function isNumberText(text: string): boolean {
	return NUMBER.test(text) && (text.length <= LONGEST || !WHOLE.test(text.trim()));
}

function compareNumbers(left: string, right: string): number {
	const [one, other] = [left.trim(), right.trim()];
	// Ids are whole numbers of more digits than a double keeps.
	if (WHOLE.test(one) && WHOLE.test(other)) {
		const difference = wholeOf(one) - wholeOf(other);
		return difference === 0n ? 0 : difference > 0n ? 1 : -1;
	}
	return Number(one) - Number(other);
}

/** `BigInt` takes no plus. */
function wholeOf(text: string): bigint {
	return BigInt(text.startsWith("+") ? text.slice(1) : text);
}

function compareTexts(left: string, right: string): number {
	return left < right ? -1 : Number(left > right);
}
