import { jsonValueOf } from "../json/parse-json.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../json/values.ts";
import { type Condition, type KeyTest, isOperator, type Operator, OPERATORS, type Scalar } from "./condition.ts";

/** Other spellings of operators: `convert_conditions` in common/metadata_utils.py makes one of them (v0.23 to v0.27). */
const SPELLINGS: ReadonlyMap<string, Operator> = new Map([
	["=", "is"],
	["≠", "not is"],
	["!=", "not is"],
	[">=", "≥"],
	["<=", "≤"],
]);

/**
 * The condition that a text describes, `{"logic","conditions":[{"name","comparison_operator","value"}]}`, or a few
 * words about its fault. `logic` is `and` where it is not given.
 */
export function parseCondition(text: string): Condition | string {
	const whole = jsonValueOf(text);
	if (whole === undefined) return "it is not JSON";
	if (!isJsonObject(whole)) return "it is not an object";
	const unknown = surplus(whole, ["logic", "conditions"]);
	if (unknown !== undefined) return `it has an unknown member ${unknown}`;
	const { logic = "and", conditions } = whole;
	if (logic !== "and" && logic !== "or") return '"logic" is neither "and" nor "or"';
	if (!isJsonArray(conditions)) return 'it has no list "conditions"';
	// It would match all documents, which no filter is meant for.
	if (conditions.length === 0) return '"conditions" is empty';
	const tests: KeyTest[] = [];
	for (const [index, condition] of conditions.entries()) {
		const test = testOf(condition);
		if (typeof test === "string") return `condition ${index + 1} ${test}`;
		tests.push(test);
	}
	return { logic, tests };
}

/** A condition as JSON text. */
export function conditionText({ logic, tests }: Condition): string {
	const conditions = tests.map(({ name, operator, wanted }) => {
		const test = { name, comparison_operator: operator };
		return wanted === undefined ? test : { ...test, value: wanted };
	});
	return JSON.stringify({ logic, conditions });
}

/** The first number or boolean with which a condition compares, as text; undefined where it has none. */
export function bareValue({ tests }: Condition): string | undefined {
	const wanted = tests.flatMap((test) => test.wanted ?? []).find((value) => typeof value !== "string");
	return wanted === undefined ? undefined : String(wanted);
}

function testOf(condition: JsonValue): KeyTest | string {
	if (!isJsonObject(condition)) return "is not an object";
	const unknown = surplus(condition, ["name", "comparison_operator", "value"]);
	if (unknown !== undefined) return `has an unknown member ${unknown}`;
	const { name, comparison_operator: word, value } = condition as { readonly [key: string]: JsonValue | undefined };
	if (typeof name !== "string" || name === "") return 'has no "name"';
	if (typeof word !== "string") return 'has no "comparison_operator"';
	const operator = SPELLINGS.get(word) ?? word;
	if (!isOperator(operator)) {
		return `has an unknown "comparison_operator" ${JSON.stringify(word)}; there are: ${OPERATORS.join(", ")}`;
	}
	if (operator === "empty" || operator === "not empty") return { name, operator, wanted: undefined };
	if (value === undefined) return 'has no "value"';
	if (operator !== "in" && operator !== "not in") {
		return isPlain(value) ? { name, operator, wanted: value } : 'has a "value" that is no text, number or boolean';
	}
	if (typeof value === "string") return { name, operator, wanted: value };
	// The service matches no document with a bare number or boolean here.
	if (!isJsonArray(value)) return 'has a "value" that is no list, nor a text that the stored ones are parts of';
	const wanted = value.filter(isPlain);
	if (wanted.length < value.length) return 'has a "value" with items that are no text, number or boolean';
	return { name, operator, wanted };
}

function isPlain(value: JsonValue): value is Scalar {
	return value !== null && typeof value !== "object";
}

function surplus(object: JsonObject, known: readonly string[]): string | undefined {
	const name = Object.keys(object).find((member) => !known.includes(member));
	return name === undefined ? undefined : JSON.stringify(name);
}
