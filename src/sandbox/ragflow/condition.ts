import type { Asked } from "../condition/find.ts";
import type { Condition } from "../condition/operators.ts";
import type { Release } from "../flavours/release.ts";
import { isObject } from "../object.ts";
import { parsePythonJson } from "../python-json.ts";
import { isFalsy, pythonRepr, pythonType } from "../python.ts";
import { Code, exception, Failure } from "./failure.ts";

const shorthands: ReadonlyMap<string, string> = new Map([
	["is", "="],
	["not is", "≠"],
]);

const signs: ReadonlyMap<string, string> = new Map([
	[">=", "≥"],
	["<=", "≤"],
	["!=", "≠"],
]);

/** What the parameter `metadata_condition` asks for; `undefined` where that is everything (`convert_conditions`). */
export function conditionOf(query: URLSearchParams, { list }: Release): Asked | undefined {
	const { condition: rule } = list;
	const text = query.get("metadata_condition") ?? "";
	if (rule === undefined || (text === "" && !(list.pagesFirst && query.has("metadata_condition")))) return undefined;
	const asked = parsed(text, list.pagesFirst ? `: ${text}.` : ".");
	if (isFalsy(asked)) return undefined;
	if (!isObject(asked)) throw new Failure(Code.data, "metadata_condition must be an object.");
	const { conditions = [], logic = "and" } = asked;
	if (!Array.isArray(conditions) && !isObject(conditions))
		throw exception(`TypeError("'${pythonType(conditions)}' object is not iterable")`);
	const all = (Array.isArray(conditions) ? conditions : Object.keys(conditions)).map((each: unknown) => {
		return oneCondition(each, rule.signs);
	});
	return all.length === 0 && rule.withoutConditions === "all" ? undefined : { logic, conditions: all };
}

function oneCondition(condition: unknown, withSigns: boolean): Condition {
	if (!isObject(condition)) throw exception("TypeError(\"string indices must be integers, not 'str'\")");
	const [given, key, value] = ["comparison_operator", "name", "value"].map((name) => {
		if (Object.hasOwn(condition, name)) return condition[name];
		throw exception(`KeyError(${pythonRepr(name)})`);
	});
	const operator = String(given);
	const sign = withSigns ? signs.get(operator) : undefined;
	return { operator: shorthands.get(operator) ?? sign ?? operator, key: String(key), value };
}

function parsed(text: string, end: string): unknown {
	try {
		return parsePythonJson(text);
	} catch {
		throw new Failure(Code.data, `metadata_condition must be valid JSON${end}`);
	}
}
