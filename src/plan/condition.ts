import { compareUnits, isJsonArray, type JsonValue, type Metadata } from "../json/values.ts";

/** The values with which a condition may compare. */
export type Scalar = string | number | boolean;
type Wanted = Scalar | readonly Scalar[] | undefined;
type Test = (stored: string, wanted: Wanted) => boolean;

/** Every operator of a `metadata_condition` as it is written in one, and its test of one stored text. */
const TESTS = {
	is: ofOne((stored, wanted) => areEqual(stored, wanted) === true),
	"not is": ofOne((stored, wanted) => areEqual(stored, wanted) === false),
	contains: ofParts((stored, part) => stored.includes(part)),
	"not contains": ofParts((stored, part) => !stored.includes(part)),
	in: (stored, wanted) => isIn(stored, wanted) === true,
	"not in": (stored, wanted) => isIn(stored, wanted) === false,
	"start with": ofParts((stored, part) => stored.startsWith(part)),
	"end with": ofParts((stored, part) => stored.endsWith(part)),
	">": ofOrder((order) => order > 0),
	"<": ofOrder((order) => order < 0),
	"≥": ofOrder((order) => order >= 0),
	"≤": ofOrder((order) => order <= 0),
	empty: (stored) => stored === "",
	"not empty": (stored) => stored !== "",
} satisfies Readonly<Record<string, Test>>;

export type Operator = keyof typeof TESTS;

export const OPERATORS: readonly string[] = Object.keys(TESTS);

export function isOperator(word: string): word is Operator {
	return Object.hasOwn(TESTS, word);
}

/** Only `in` and `not in` take a list. */
function ofOne(test: (stored: string, wanted: Scalar) => boolean): Test {
	return (stored, wanted) => wanted !== undefined && !isList(wanted) && test(stored, wanted);
}

function ofParts(test: (stored: string, part: string) => boolean): Test {
	return ofOne((stored, wanted) => test(stored.toLowerCase(), serverText(wanted).toLowerCase()));
}

/** A number has no order to a text that is no number. */
function ofOrder(test: (order: number) => boolean): Test {
	return ofOne((stored, wanted) => {
		const order = orderOf(stored, wanted);
		return order !== undefined && test(order);
	});
}

/** One test of one metadata key. `wanted` may be a list for `in` and `not in`, and is undefined for `empty` and `not empty`. */
export type KeyTest = { readonly name: string; readonly operator: Operator; readonly wanted: Wanted };

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
	const passes = ({ name, operator, wanted }: KeyTest): boolean =>
		itemsOf(metadata.get(name)).some((item) => TESTS[operator](serverText(item), wanted));
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

/** A wanted list has the text as one of its items. A wanted text contains it, as the service reads a text there. */
function isIn(text: string, wanted: Wanted): boolean | undefined {
	if (wanted === undefined) return undefined;
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
function serverText(value: JsonValue): string {
	if (typeof value === "string") return value;
	if (typeof value === "boolean") return value ? "True" : "False";
	if (typeof value !== "number") return JSON.stringify(value);
	// `inf` and `nan`, as Python writes them.
	return Number.isFinite(value) ? String(value) : String(value).toLowerCase().replace("infinity", "inf");
}

/** Whether a stored text equals the wanted value; undefined if a date is wanted and the text is none. */
function areEqual(stored: string, wanted: Scalar): boolean | undefined {
	const text = serverText(wanted);
	if (isDate(text)) return isDate(stored) ? stored.trim() === text.trim() : undefined;
	return isNumberText(stored) && isNumberText(text)
		? compareNumbers(stored, text) === 0
		: stored.toLowerCase() === text.toLowerCase();
}

/** The order of a stored text to the wanted value; undefined where they have none. */
function orderOf(stored: string, wanted: Scalar): number | undefined {
	const text = serverText(wanted);
	if (isDate(text)) return isDate(stored) ? compareUnits(stored.trim(), text.trim()) : undefined;
	const isNumber = isNumberText(stored);
	if (isNumber && isNumberText(text)) return compareNumbers(stored, text);
	// A stored text that is no number leaves a wanted "7" a text, but can't be ordered against the number 7.
	if (isNumber || typeof wanted !== "string") return undefined;
	return compareUnits(stored.toLowerCase(), text.toLowerCase());
}

function isDate(text: string): boolean {
	return DATE.test(text.trim());
}

function isNumberText(text: string): boolean {
	return NUMBER.test(text) && (text.length <= LONGEST || !WHOLE.test(text.trim()));
}

function compareNumbers(left: string, right: string): number {
	// `BigInt` takes no plus.
	const [one = "", other = ""] = [left, right].map((text) => text.trim().replace(/^\+/, ""));
	// Ids are whole numbers of more digits than a double keeps.
	if (WHOLE.test(one) && WHOLE.test(other)) {
		const difference = BigInt(one) - BigInt(other);
		return difference === 0n ? 0 : difference > 0n ? 1 : -1;
	}
	return Number(one) - Number(other);
}
