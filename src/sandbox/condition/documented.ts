import { Refusal } from "../envelope.ts";
import { isObject } from "../object.ts";
import type { Asked } from "./find.ts";
import { type Condition, operators } from "./operators.ts";

/** A `metadata_condition` of the documented flavour, which refuses what it does not understand. */
export function parseCondition(text: string): Asked {
	const { logic = "and", conditions = [] } = parsed(text);
	if (logic !== "and" && logic !== "or") throw refused('"logic" is neither "and" nor "or"');
	if (!Array.isArray(conditions)) throw refused('"conditions" is not a list');
	return { logic, conditions: conditions.map(oneCondition) };
}

function oneCondition(condition: unknown): Condition {
	if (!isObject(condition)) throw refused("a condition is not an object");
	const { name, comparison_operator: given, value } = condition;
	if (typeof name !== "string" || name === "") throw refused('a condition has no "name"');
	if (typeof given !== "string") throw refused('a condition has no "comparison_operator"');
	const operator = given === "is" ? "=" : given === "not is" ? "≠" : given;
	if (given === "=" || given === "≠" || !operators.has(operator))
		throw refused(`"comparison_operator" ${JSON.stringify(given)} is unknown`);
	return { key: name, operator, value };
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
