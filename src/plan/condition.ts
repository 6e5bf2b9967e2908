import { isJsonArray, type JsonValue, type Metadata } from "../json/values.ts";
import { areEqual, isOrdered, type Scalar, serverText } from "./server-value.ts";

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

/** One test of one metadata key. `wanted` may be a list for `in` and `not in`, and is undefined for `empty` and `not empty`. */
export type KeyTest = {
	readonly name: string;
	readonly operator: Operator;
	readonly wanted: Scalar | readonly Scalar[] | undefined;
};

/** A parsed `metadata_condition`. */
export type Condition = { readonly logic: "and" | "or"; readonly tests: readonly KeyTest[] };

/**
 * Whether metadata meets a condition, as RAGFlow means it (v0.24.0 to v0.27.0: `meta_filter` in common/metadata_utils.py over
 * `get_flatted_meta_by_kbs` in api/db/services/doc_metadata_service.py).
 *
 * The values of a key are tested one by one, the items of a list each, and one that passes is enough, also for negated
 * operators. So a document without the key, or with null or an empty list under it, meets no condition on it. Text is
 * compared without letter case, numbers by value where both sides are numbers, and a date (YYYY-MM-DD) with dates alone.
 */
export function meets(metadata: Metadata | undefined, { logic, tests }: Condition): boolean {
	// Unknown metadata meets no condition.
	if (metadata === undefined) return false;
	const passes = (test: KeyTest): boolean => itemsOf(metadata.get(test.name)).some((item) => passesTest(item, test));
	return logic === "and" ? tests.every(passes) : tests.some(passes);
}

/** Whether metadata lacks one of these keys. A key whose value is null or empty is there. */
export function lacks(metadata: Metadata | undefined, keys: readonly string[]): boolean {
	return metadata !== undefined && keys.every((key) => !metadata.has(key));
}

/** The values that a test compares one by one. */
function itemsOf(value: JsonValue | undefined): readonly JsonValue[] {
	if (value === undefined) return [];
	return (isJsonArray(value) ? value : [value]).filter((item) => item !== null);
}

function passesTest(item: JsonValue, { operator, wanted }: KeyTest): boolean {
	const text = serverText(item);
	if (operator === "empty") return text === "";
	if (operator === "not empty") return text !== "";
	if (wanted === undefined) return false;
	if (operator === "in") return isIn(text, wanted);
	if (operator === "not in") return !isIn(text, wanted);
	// Only these two take a list.
	if (isList(wanted)) return false;
	const [stored, part] = [text.toLowerCase(), serverText(wanted).toLowerCase()];
	switch (operator) {
		case "contains":
			return stored.includes(part);
		case "not contains":
			return !stored.includes(part);
		case "start with":
			return stored.startsWith(part);
		case "end with":
			return stored.endsWith(part);
		case "is":
			return areEqual(text, wanted) === true;
		case "not is":
			return areEqual(text, wanted) === false;
		case ">":
		case "<":
		case "≥":
		case "≤":
			return isOrdered(text, operator, wanted);
	}
}

/** A wanted list has the text as one of its items. A wanted text contains it, as the service reads a text there. */
function isIn(text: string, wanted: Scalar | readonly Scalar[]): boolean {
	if (!isList(wanted)) return serverText(wanted).toLowerCase().includes(text.toLowerCase());
	return wanted.some((item) =>
		typeof item === "number" ? areEqual(text, item) === true : serverText(item).toLowerCase() === text.toLowerCase(),
	);
}

function isList(wanted: Scalar | readonly Scalar[]): wanted is readonly Scalar[] {
	return Array.isArray(wanted);
}

/** One `--where KEY=VALUE`. */
export type Where = readonly [key: string, value: string];

/** A value as text: `--where` compares it, and a cell of a table shows it. */
export function valueText(value: JsonValue | undefined): string {
	if (value === undefined) return "";
	return typeof value === "string" ? value : JSON.stringify(value);
}

/** Whether metadata meets every `--where`. Values are compared as text; a list matches if one of its items does. */
export function matches(metadata: Metadata | undefined, conditions: readonly Where[]): boolean {
	return conditions.every(([key, wanted]) => {
		const value = metadata?.get(key);
		if (value === undefined) return false;
		return isJsonArray(value) ? value.some((item) => valueText(item) === wanted) : valueText(value) === wanted;
	});
}
