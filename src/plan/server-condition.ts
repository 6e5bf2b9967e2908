import { parseJson } from "../json/values.ts";
import type { Condition, KeyTest } from "./condition.ts";
import { hasOtherSpellings } from "./server-value.ts";
import type { Where } from "./where.ts";

/**
 * Keys and values that reach the service's comparison as they are. Others are split at commas, taken for wildcards, or read
 * as something else on the way, on one release or another.
 */
const PLAIN_KEY = /^[\p{L}\p{N}_-]{1,100}$/u;
const PLAIN_VALUE = /^(?=.{1,100}$)[\p{L}\p{N}](?:[\p{L}\p{N} _.:/@-]*[\p{L}\p{N}])?$/u;

/**
 * The `metadata_condition` to send for filters that are applied here in any case, or undefined where none helps.
 *
 * It may let too much through, but can never hide a document that the filters show. So of all operators it uses `contains`
 * alone, and that for equal texts alone: what is equal is contained, on every release, in lists too. Some releases read
 * `contains` the other way round (the stored text within the wanted one), so a `contains` of the user's is not sent. Numbers
 * and booleans are stored typed, and compared in different ways.
 */
export function serverCondition(where: readonly Where[], condition: Condition | undefined): string | undefined {
	const equal = where.filter(isPlain);
	if (condition === undefined) return conditionText("and", equal);
	const asked = condition.tests.flatMap(equality);
	if (condition.logic === "and" || condition.tests.length === 1) return conditionText("and", [...equal, ...asked]);
	// Leaving one of several choices out would hide what it finds; and no condition can say "and" and "or".
	const isWhole = asked.length === condition.tests.length;
	return isWhole && equal.length === 0 ? conditionText("or", asked) : conditionText("and", equal);
}

/** A test that asks for equal text, as a pair; nothing of any other. */
function equality({ name, operator, wanted }: KeyTest): readonly Where[] {
	// What is equal by value or but for white space may not contain it.
	if (operator !== "is" || typeof wanted !== "string" || hasOtherSpellings(wanted)) return [];
	return [[name, wanted] as const].filter(isPlain);
}

function isPlain([key, value]: Where): boolean {
	return PLAIN_KEY.test(key) && PLAIN_VALUE.test(value) && !isJson(value);
}

function isJson(text: string): boolean {
	try {
		parseJson(text);
		return true;
	} catch {
		return false;
	}
}

function conditionText(logic: "and" | "or", pairs: readonly Where[]): string | undefined {
	if (pairs.length === 0) return undefined;
	const conditions = pairs.map(([name, value]) => ({ name, comparison_operator: "contains", value }));
	return JSON.stringify({ logic, conditions });
}
