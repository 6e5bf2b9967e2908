import { literalEval, pythonCompare, pythonEquals, type PythonValue } from "../python.ts";

export type Condition = { readonly key: string; readonly operator: string; readonly value: unknown };

/** For each value of one key, as text: the documents that have it, in the order of creation. */
export type DocumentsByValue = ReadonlyMap<string, readonly string[]>;

/** How the filters of releases by metadata differ: `meta_filter` in common/metadata_utils.py. */
export type ConditionRules = {
	/** Whether `contains` searches the wanted text in the stored one, or, by mistake, the reverse (v0.23). */
	readonly contains: "wanted-in-stored" | "stored-in-wanted";
	/** Whether a wanted date (YYYY-MM-DD) is compared with stored dates alone (from v0.24). */
	readonly dates: boolean;
	/**
	 * How text becomes a number for a comparison. `kept`: the stored one first, then the wanted one, which stays a number
	 * for the values that follow (to v0.26). `both`: both or neither (v0.27). `each`: each by itself.
	 */
	readonly numbers: "kept" | "both" | "each";
	/** Whether the items of a wanted list are compared without case, too (from v0.26). */
	readonly listsWithoutCase: boolean;
	/** Whether `>=`, `<=` and `!=` are known (from v0.24). */
	readonly asciiOperators: boolean;
	/**
	 * How conditions are joined. `by-key`: in the order of the dataset's keys, without keys that no document has, and
	 * finding nothing once nothing is left, even for "or" (v0.23). `forgetful`: a first condition that no document meets
	 * is forgotten (v0.24 and v0.25). `plain`: as documented.
	 */
	readonly join: "by-key" | "forgetful" | "plain";
	/** The documents that a filter without conditions finds (none from v0.26). */
	readonly withoutConditions: "all" | "nothing";
};

const orders: ReadonlyMap<string, (order: number) => boolean> = new Map([
	[">", (order) => order > 0],
	["<", (order) => order < 0],
	["≥", (order) => order >= 0],
	["≤", (order) => order <= 0],
]);

const comparisons: ReadonlySet<string> = new Set(["=", "≠", ...orders.keys()]);

export const operators: ReadonlySet<string> = new Set(
	[...comparisons].concat("contains", "not contains", "in", "not in", "start with", "end with", "empty", "not empty"),
);

/** The documents that have a value that meets a condition. A document without the key meets no condition on it. */
export function matchingDocuments(
	values: DocumentsByValue,
	{ operator, value }: Condition,
	rules: ConditionRules,
): string[] {
	const found: string[] = [];
	let wanted = value;
	for (const [text, documents] of values) {
		const operands = comparisons.has(operator) ? compared(text, wanted, rules) : searched(text, wanted, rules);
		if (operands === undefined) continue;
		if (rules.numbers === "kept") wanted = operands.wanted;
		if (holds(operator, operands, rules)) found.push(...documents);
	}
	return found;
}

type Operands = { readonly stored: PythonValue; readonly wanted: unknown };

/** The operands of a comparison; `undefined` where a date is wanted and the stored text is none. */
function compared(text: string, wanted: unknown, { dates, numbers }: ConditionRules): Operands | undefined {
	if (dates && typeof wanted === "string" && isDate(wanted.trim()))
		return isDate(text.trim()) ? { stored: text.trim(), wanted: wanted.trim() } : undefined;
	const [left, right] = [literalEval(text), typeof wanted === "string" ? literalEval(wanted) : undefined];
	const both = left !== undefined && right !== undefined;
	const stored = left !== undefined && (both || numbers !== "both") ? left : text;
	const readsWanted = right !== undefined && (both || numbers === "each");
	return { stored: lowerCase(stored), wanted: lowerCase(readsWanted ? right : wanted) };
}

/** The operands of an operator on text. */
function searched(text: string, wanted: unknown, { listsWithoutCase }: ConditionRules): Operands {
	const list = listsWithoutCase && Array.isArray(wanted) ? wanted.map((item: unknown) => lowerCase(item)) : wanted;
	return { stored: text.toLowerCase(), wanted: lowerCase(list) };
}

function holds(operator: string, { stored, wanted }: Operands, { contains }: ConditionRules): boolean {
	// Only the operands of comparisons can be other than text.
	const text = typeof stored === "string" ? stored : "";
	switch (operator) {
		case "=":
			return pythonEquals(stored, wanted);
		case "≠":
			return !pythonEquals(stored, wanted);
		case "contains":
			return containment(text, wanted, contains) === true;
		case "not contains":
			return containment(text, wanted, contains) === false;
		case "in":
			return isIn(text, wanted) === true;
		case "not in":
			return isIn(text, wanted) === false;
		case "start with":
			return text.startsWith(lowerCaseText(wanted));
		case "end with":
			return text.endsWith(lowerCaseText(wanted));
		case "empty":
			return text === "";
		case "not empty":
			return text !== "";
		default: {
			const order = pythonCompare(stored, wanted);
			return order !== undefined && orders.get(operator)?.(order) === true;
		}
	}
}

/** `undefined` where the operator does not fit the value: then neither it nor its negation holds. */
function containment(text: string, wanted: unknown, rule: ConditionRules["contains"]): boolean | undefined {
	if (rule === "stored-in-wanted") return isIn(text, wanted);
	return typeof wanted === "string" ? text.includes(wanted) : undefined;
}

/** Whether text is an item of a list, or a part of a text; `undefined` for any other value. */
function isIn(text: string, wanted: unknown): boolean | undefined {
	if (typeof wanted === "string") return wanted.includes(text);
	return Array.isArray(wanted) ? wanted.some((item: unknown) => pythonEquals(text, item)) : undefined;
}

function lowerCaseText(wanted: unknown): string {
	return (typeof wanted === "string" ? wanted : JSON.stringify(wanted)).toLowerCase();
}

function lowerCase<Value>(value: Value): Value | string {
	return typeof value === "string" ? value.toLowerCase() : value;
}

function isDate(text: string): boolean {
	return /^\d{4}-\d\d-\d\d$/.test(text);
}
