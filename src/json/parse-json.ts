import { parseValue } from "./parser.ts";
import type { JsonRules } from "./rules.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "./values.ts";

/**
 * Parses JSON text.
 *
 * @throws SyntaxError where it is none
 */
export function parseJson(text: string): JsonValue {
	const value: unknown = JSON.parse(text);
	if (!isParsed(value)) throw new SyntaxError("not JSON");
	return text.includes("\\") && hasBackslashInName(value, DEEPEST_READ) ? parseValue(text, LIKE_JSON_PARSE) : value;
}

/** The object of a JSON text; undefined where the text is no JSON, or no object. */
export function jsonObjectOf(text: string): JsonObject | undefined {
	try {
		const value = parseJson(text);
		return isJsonObject(value) ? value : undefined;
	} catch {
		return undefined;
	}
}

/** Levels that are read twice: some ten times the depth of any answer, and a tenth of what the stack can hold. */
const DEEPEST_READ = 1000;

/** Our own parser as strict as `JSON.parse`: it reads again what that has accepted. */
const LIKE_JSON_PARSE: JsonRules = {
	maxDepth: DEEPEST_READ,
	maxString: Number.POSITIVE_INFINITY,
	maxFaults: 0,
	number: Number,
};

/**
 * Whether an object in a value has a name with a backslash.
 *
 * `JSON.parse` of Node 24 to 26.10 takes the name `"\"a"` for one of a backslash and a quotation mark where it has read such
 * a name before: it compares the text of an escaped name, not the name, with the one that it expects next. The wrong name
 * always has a backslash. Test: test/json/escaped-names.test.ts.
 */
function hasBackslashInName(value: JsonValue, levels: number): boolean {
	if (typeof value !== "object" || value === null || levels === 0) return false;
	if (isJsonArray(value)) return value.some((item) => hasBackslashInName(item, levels - 1));
	return Object.entries(value).some(([name, inner]) => name.includes("\\") || hasBackslashInName(inner, levels - 1));
}

/** JSON.parse gives only JSON values, at every level, so the outermost type decides. */
function isParsed(value: unknown): value is JsonValue {
	const type = typeof value;
	return type === "object" || type === "string" || type === "number" || type === "boolean";
}
