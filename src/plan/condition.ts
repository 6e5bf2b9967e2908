import { isJsonArray, type JsonValue, type Metadata } from "../json.ts";
import { valueText } from "./where.ts";

/** Every operator of a `metadata_condition`, as it is written in one. */
export const OPERATORS = [
	"is",
	"not is",
	"contains",
	"not contains",
	"in",
	"not in",
	"start with",
	"end with",
	">",
	"<",
	"≥",
	"≤",
	"empty",
	"not empty",
] as const;
export type Operator = (typeof OPERATORS)[number];

/** One test of one metadata key. `wanted` has the texts to compare with: several for `in`, none for `empty`. */
export type KeyTest = { readonly name: string; readonly operator: Operator; readonly wanted: readonly string[] };

/** A parsed `metadata_condition`. */
export type Condition = { readonly logic: "and" | "or"; readonly tests: readonly KeyTest[] };

/**
 * Whether metadata meets a condition. Releases of the service read conditions in different ways, so what counts is this.
 *
 * Compares as text, case included; a list passes if one of its items does. Order is that of numbers where both sides are
 * numbers, that of text (dates as YYYY-MM-DD) where neither is, and there is none between the two. A negated operator is the
 * opposite of its positive, so it also finds documents that lack the key.
 */
export function meets(metadata: Metadata | undefined, { logic, tests }: Condition): boolean {
	// What is not known is not said to lack a key.
	if (metadata === undefined) return false;
	const passes = (test: KeyTest): boolean => passesTest(metadata.get(test.name), test);
	return logic === "and" ? tests.every(passes) : tests.some(passes);
}

function passesTest(value: JsonValue | undefined, { operator, wanted }: KeyTest): boolean {
	switch (operator) {
		case "is":
		case "in":
			return isOneOf(value, wanted);
		case "not is":
		case "not in":
			return !isOneOf(value, wanted);
		case "contains":
			return someText(value, wanted, (stored, part) => stored.includes(part));
		case "not contains":
			return !someText(value, wanted, (stored, part) => stored.includes(part));
		case "start with":
			return someText(value, wanted, (stored, part) => stored.startsWith(part));
		case "end with":
			return someText(value, wanted, (stored, part) => stored.endsWith(part));
		case ">":
			return someText(value, wanted, (stored, bound) => order(stored, bound) > 0);
		case "<":
			return someText(value, wanted, (stored, bound) => order(stored, bound) < 0);
		case "≥":
			return someText(value, wanted, (stored, bound) => order(stored, bound) >= 0);
		case "≤":
			return someText(value, wanted, (stored, bound) => order(stored, bound) <= 0);
		case "empty":
			return isEmpty(value);
		case "not empty":
			return !isEmpty(value);
	}
}

/** The values that a test looks at one by one: the items of a list, or the value alone. */
function itemsOf(value: JsonValue | undefined): readonly JsonValue[] {
	if (value === undefined) return [];
	return isJsonArray(value) ? value : [value];
}

function isOneOf(value: JsonValue | undefined, wanted: readonly string[]): boolean {
	return itemsOf(value).some((item) => wanted.includes(valueText(item)));
}

/** Whether some item has a text that stands in that relation to the wanted one. Null has no text to look into. */
function someText(
	value: JsonValue | undefined,
	wanted: readonly string[],
	holds: (stored: string, wanted: string) => boolean,
): boolean {
	return itemsOf(value).some((item) => item !== null && wanted.some((text) => holds(valueText(item), text)));
}

function isEmpty(value: JsonValue | undefined): boolean {
	return value === undefined || value === null || value === "" || (isJsonArray(value) && value.length === 0);
}

/** Negative, zero or positive; not a number where the two can't be put in order. */
function order(stored: string, bound: string): number {
	const [left, right] = [numberOf(stored), numberOf(bound)];
	if (left !== undefined && right !== undefined) return left - right;
	if (left !== undefined || right !== undefined || stored === "") return Number.NaN;
	return stored < bound ? -1 : Number(stored > bound);
}

function numberOf(text: string): number | undefined {
	return /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : undefined;
}
