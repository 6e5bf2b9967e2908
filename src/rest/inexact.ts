import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, parseJson } from "../json/values.ts";
import { isDoubleInFull, survivesDouble } from "../json/numbers.ts";
import { replaceOutsideTexts } from "../json/not-json.ts";

/**
 * What may be a number that can't be sent back as it came: of 16 digits or more, with an exponent, or none of JSON's at
 * all. Fewer digits always survive.
 *
 * Looked for where a value may begin, as ids are full of digits: nearly every answer has none, and costs this search alone.
 */
const CANDIDATE = /[[:,][ \t\n\r]*(-?(?:\d(?:[\d.]{15}|[\d.]*[eE])[-+.\deE]*|NaN|Infinity))/g;
const NUMBER = /"|-?(?:\d[-+.\deE]*|NaN|Infinity)/g;

/**
 * Keys of a document whose values can't be sent back as they came, with the text of each value as it came: they hold a
 * number that a double can't keep, or `NaN` or an infinity, which are no JSON.
 */
export type InexactValues = ReadonlyMap<string, string>;

/**
 * An answer as it is parsed, but with each number that can't be sent back as a text of its digits. Undefined where there
 * is none.
 *
 * A text alone does not tell such a number from a text: what tells it is that the plain reading has a number there.
 */
export function withDigits(json: string): JsonValue | undefined {
	if (!mayLose(json)) return undefined;
	const quoted = replaceOutsideTexts(json, NUMBER, (text) => (isKept(text) ? undefined : `"${text}"`));
	return quoted === undefined ? undefined : parseJson(quoted);
}

/**
 * @param read the members as they were parsed
 * @param digits the same, as `withDigits` gives them
 */
export function inexactValues(read: JsonObject, digits: JsonValue | undefined): InexactValues | undefined {
	if (!isJsonObject(digits)) return undefined;
	const lost = Object.entries(read).filter(([key, value]) => isLost(value, digits[key]));
	return lost.length === 0 ? undefined : new Map(lost.map(([key, value]) => [key, exactText(value, digits[key])]));
}

/** It may be wrong about digits inside a text, which are no number. */
function mayLose(json: string): boolean {
	for (const [, digits = ""] of json.matchAll(CANDIDATE)) if (!isKept(digits)) return true;
	return false;
}

function isKept(digits: string): boolean {
	return /\d/.test(digits) && (survivesDouble(digits) || isDoubleInFull(digits));
}

function isLost(read: JsonValue, digits: JsonValue | undefined): boolean {
	if (typeof read === "number") return typeof digits === "string";
	if (isJsonArray(read)) return isJsonArray(digits) && read.some((item, at) => isLost(item, digits[at]));
	if (!isJsonObject(read) || !isJsonObject(digits)) return false;
	return Object.entries(read).some(([key, value]) => isLost(value, digits[key]));
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
