import { Refusal } from "./envelope.ts";
import { isObject } from "./object.ts";

type Metadata = { readonly [key: string]: unknown };
type Test = (metadata: Metadata) => boolean;

/**
 * The test that a `metadata_condition` describes: `{"logic","conditions":[{"name","comparison_operator","value"}]}`.
 *
 * Values are compared as text, numbers where both sides are numbers; a list matches if one of its items does. A negated
 * operator is the opposite of its positive, so it also finds documents that lack the key.
 */
export function parseCondition(text: string): Test {
	const condition = parsed(text);
	const { logic = "and", conditions = [] } = condition;
	if (logic !== "and" && logic !== "or") throw refused('"logic" is neither "and" nor "or"');
	if (!Array.isArray(conditions)) throw refused('"conditions" is not a list');
	const tests = conditions.map(oneTest);
	if (tests.length === 0) return () => true;
	return logic === "and" ? (of) => tests.every((test) => test(of)) : (of) => tests.some((test) => test(of));
}

function oneTest(condition: unknown): Test {
	if (!isObject(condition)) throw refused("a condition is not an object");
	const { name, comparison_operator: operator, value } = condition;
	if (typeof name !== "string" || name === "") throw refused('a condition has no "name"');
	if (typeof operator !== "string") throw refused('a condition has no "comparison_operator"');
	const holds = operators.get(operator);
	if (holds === undefined) throw refused(`"comparison_operator" ${JSON.stringify(operator)} is unknown`);
	return (metadata) => holds(Object.hasOwn(metadata, name) ? metadata[name] : undefined, value);
}

type Operator = (stored: unknown, wanted: unknown) => boolean;

const is = anyItem((stored, wanted) => stored === wanted);
const contains = anyItem((stored, wanted) => stored.includes(wanted));
const isIn: Operator = (stored, wanted) => choices(wanted).some((choice) => is(stored, choice));
const isEmpty: Operator = (stored) =>
	stored === undefined || stored === null || stored === "" || (Array.isArray(stored) && stored.length === 0);

const operators: ReadonlyMap<string, Operator> = new Map([
	["is", is],
	["not is", not(is)],
	["contains", contains],
	["not contains", not(contains)],
	["in", isIn],
	["not in", not(isIn)],
	["start with", anyItem((stored, wanted) => stored.startsWith(wanted))],
	["end with", anyItem((stored, wanted) => stored.endsWith(wanted))],
	[">", anyItem((stored, wanted) => order(stored, wanted) > 0)],
	["<", anyItem((stored, wanted) => order(stored, wanted) < 0)],
	["≥", anyItem((stored, wanted) => order(stored, wanted) >= 0)],
	["≤", anyItem((stored, wanted) => order(stored, wanted) <= 0)],
	["empty", isEmpty],
	["not empty", not(isEmpty)],
]);

function anyItem(holds: (stored: string, wanted: string) => boolean): Operator {
	return (stored, wanted) => {
		if (isEmpty(stored, undefined)) return false;
		const items: readonly unknown[] = Array.isArray(stored) ? stored : [stored];
		return items.some((item) => holds(textOf(item), textOf(wanted)));
	};
}

function not(operator: Operator): Operator {
	return (stored, wanted) => !operator(stored, wanted);
}

/** The values of `in`: a list, or text divided by commas. */
function choices(wanted: unknown): readonly unknown[] {
	return Array.isArray(wanted)
		? wanted
		: textOf(wanted)
				.split(",")
				.map((choice) => choice.trim());
}

function textOf(value: unknown): string {
	if (typeof value === "string") return value;
	return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** Numbers by size, all else (dates as YYYY-MM-DD among it) as text. */
function order(stored: string, wanted: string): number {
	const [left, right] = [asNumber(stored), asNumber(wanted)];
	if (left !== undefined && right !== undefined) return left - right;
	return stored < wanted ? -1 : Number(stored > wanted);
}

function asNumber(text: string): number | undefined {
	const number = text.trim() === "" ? Number.NaN : Number(text);
	return Number.isFinite(number) ? number : undefined;
}

function parsed(text: string): { readonly [key: string]: unknown } {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		throw refused("it is not JSON");
	}
	if (!isObject(value)) throw refused("it is not an object");
	return value;
}

function refused(why: string): Refusal {
	return new Refusal(400, `metadata_condition: ${why}`);
}
