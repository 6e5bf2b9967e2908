import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../json/values.ts";
import { isDoubleInFull, survivesDouble } from "../json/numbers.ts";
import { parseWithNumbers } from "../json/parse-json.ts";

/**
 * A candidate for a number that can't be sent back as it came: it has 16 digits or more, or an exponent, or it is `NaN` or
 * an infinity. A double keeps fewer digits exactly.
 *
 * A match begins where a value may begin, because ids are full of digits. Nearly every answer has no match, and costs this
 * search alone.
 */
const CANDIDATE = /[[:,][ \t\n\r]*(-?(?:\d(?:[\d.]{15}|[\d.]*[eE])[-+.\deE]*|NaN|Infinity))/g;

/**
 * The keys of a document whose values can't be sent back as they came, each with the text of its value. Such a value has a
 * number that a double can't keep, or `NaN` or an infinity, which are no JSON.
 */
export type InexactValues = ReadonlyMap<string, string>;

/**
 * An answer as it is parsed, but with a text of its digits in place of each number that can't be sent back. Undefined if
 * there is no such number.
 *
 * The plain parse has a number in that place, so such a text is not mistaken for a text of the answer.
 *
 * @throws JsonFault if it is nested more than 1,000 deep
 */
export function withDigits(json: string): JsonValue | undefined {
	return mayLose(json) ? parseWithNumbers(json, (digits) => (isKept(digits) ? Number(digits) : digits)) : undefined;
}

/**
 * @param read the members as they were parsed
 * @param digits the same members from `withDigits`
 */
export function inexactValues(read: JsonObject, digits: JsonValue | undefined): InexactValues | undefined {
	if (!isJsonObject(digits)) return undefined;
	const exact = Object.entries(read).map(([key, value]) => [key, exactText(value, digits[key])] as const);
	const lost = exact.filter(([key, text]) => text !== JSON.stringify(read[key]));
	return lost.length === 0 ? undefined : new Map(lost);
}

/** Digits inside a text may also match, although they are no number. */
function mayLose(json: string): boolean {
	for (const [, digits = ""] of json.matchAll(CANDIDATE)) if (!isKept(digits)) return true;
	return false;
}

function isKept(digits: string): boolean {
	return /\d/.test(digits) && (survivesDouble(digits) || isDoubleInFull(digits));
}

/** The JSON text of a value with its numbers as they came. */
function exactText(read: JsonValue, digits: JsonValue | undefined): string {
	if (typeof read === "number" && typeof digits === "string") return digits;
	if (isJsonArray(read) && isJsonArray(digits)) {
		return `[${read.map((item, at) => exactText(item, digits[at])).join(",")}]`;
	}
	if (!isJsonObject(read) || !isJsonObject(digits)) return JSON.stringify(read);
	const members = Object.entries(read).map(([key, value]) => `${JSON.stringify(key)}:${exactText(value, digits[key])}`);
	return `{${members.join(",")}}`;
}
