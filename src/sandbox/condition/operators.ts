import { compare, literal, same, type Value } from "./literal.ts";
import type { ConditionRule } from "./rule.ts";

export type Condition = { readonly key: string; readonly operator: string; readonly value: unknown };

/** The documents that have a value, for each value of one key, as text, in the order in which the documents came. */
export type Values = ReadonlyMap<string, readonly string[]>;

const orders: ReadonlyMap<string, (order: number) => boolean> = new Map([
	[">", (order) => order > 0],
	["<", (order) => order < 0],
	["≥", (order) => order >= 0],
	["≤", (order) => order <= 0],
]);

const comparing: ReadonlySet<string> = new Set(["=", "≠", ...orders.keys()]);

export const operators: ReadonlySet<string> = new Set(
	[...comparing].concat("contains", "not contains", "in", "not in", "start with", "end with", "empty", "not empty"),
);

/** The documents that have a value that meets a condition: so a document without the key meets none on it. */
export function meeting(values: Values, { operator, value }: Condition, rule: ConditionRule): string[] {
	const found: string[] = [];
	let wanted = value;
	for (const [text, documents] of values) {
		const pair = comparing.has(operator) ? compared(text, wanted, rule) : spoken(text, wanted, rule);
		if (pair === undefined) continue;
		if (rule.numbers === "kept") wanted = pair.wanted;
		if (holds(operator, pair, rule)) found.push(...documents);
	}
	return found;
}

type Pair = { readonly stored: Value; readonly wanted: unknown };

/** Two that are compared; `undefined` where a date is asked for, and this is none. */
function compared(text: string, wanted: unknown, { dates, numbers }: ConditionRule): Pair | undefined {
	if (dates && typeof wanted === "string" && isDate(wanted.trim()))
		return isDate(text.trim()) ? { stored: text.trim(), wanted: wanted.trim() } : undefined;
	const [left, right] = [literal(text), typeof wanted === "string" ? literal(wanted) : undefined];
	const both = left !== undefined && right !== undefined;
	const stored = left !== undefined && (both || numbers !== "both") ? left : text;
	const readsWanted = right !== undefined && (both || numbers === "each");
	return { stored: lower(stored), wanted: lower(readsWanted ? right : wanted) };
}

function spoken(text: string, wanted: unknown, { listsWithoutCase }: ConditionRule): Pair {
	const list = listsWithoutCase && Array.isArray(wanted) ? wanted.map((item: unknown) => lower(item)) : wanted;
	return { stored: text.toLowerCase(), wanted: lower(list) };
}

function holds(operator: string, { stored, wanted }: Pair, { contains }: ConditionRule): boolean {
	// Only what is compared is ever more than text.
	const text = typeof stored === "string" ? stored : "";
	switch (operator) {
		case "=":
			return same(stored, wanted);
		case "≠":
			return !same(stored, wanted);
		case "contains":
			return within(text, wanted, contains) === true;
		case "not contains":
			return within(text, wanted, contains) === false;
		case "in":
			return among(text, wanted) === true;
		case "not in":
			return among(text, wanted) === false;
		case "start with":
			return text.startsWith(printed(wanted));
		case "end with":
			return text.endsWith(printed(wanted));
		case "empty":
			return text === "";
		case "not empty":
			return text !== "";
		default: {
			const order = compare(stored, wanted);
			return order !== undefined && orders.get(operator)?.(order) === true;
		}
	}
}

/** `undefined` where the question makes no sense, which neither it nor its opposite meets. */
function within(text: string, wanted: unknown, how: ConditionRule["contains"]): boolean | undefined {
	if (how === "stored-in-wanted") return among(text, wanted);
	return typeof wanted === "string" ? text.includes(wanted) : undefined;
}

/** Whether text is among the items of a list, or a piece of a text. */
function among(text: string, wanted: unknown): boolean | undefined {
	if (typeof wanted === "string") return wanted.includes(text);
	return Array.isArray(wanted) ? wanted.some((item: unknown) => same(text, item)) : undefined;
}

function printed(wanted: unknown): string {
	return (typeof wanted === "string" ? wanted : JSON.stringify(wanted)).toLowerCase();
}

function lower<Kind>(value: Kind): Kind | string {
	return typeof value === "string" ? value.toLowerCase() : value;
}

function isDate(text: string): boolean {
	return /^\d{4}-\d\d-\d\d$/.test(text);
}
