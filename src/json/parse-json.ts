import { parseValue } from "./parser.ts";
import { type JsonValue, isJsonArray, isJsonObject, type JsonObject } from "./values.ts";
import { type JsonRules, stringEnd } from "./lexer.ts";

/**
 * JSON as Python's `json` writes and reads it: `NaN`, `Infinity` and `-Infinity` may stand where a value may. RAGFlow v0.12
 * to v0.23 keeps metadata in a JSON field of its database and lists it as `json.dumps` gave it (v0.21.1: `JSONField` in
 * api/db/db_models.py, `json_dumps` in api/utils/json.py).
 */
const PYTHON: JsonRules & Required<Pick<JsonRules, "number">> = {
	// Some ten times the depth of any answer, and a tenth of what the stack can hold.
	maxDepth: 1000,
	maxString: Number.POSITIVE_INFINITY,
	maxFaults: 0,
	number: Number,
};

const ANYWHERE = /(?:NaN|Infinity)/;

/** The value of JSON text in which `NaN`, `Infinity` and `-Infinity` may stand for numbers; undefined where it is no such JSON. */
export function parseLoosely(text: string): JsonValue | undefined {
	const value = jsonValueOf(text);
	if (value !== undefined || !ANYWHERE.test(text)) return value;
	try {
		return parseValue(text, PYTHON);
	} catch {
		return undefined;
	}
}

/**
 * Parses the same, and replaces each number. It is slower than `parseLoosely`.
 *
 * @throws JsonFault if the text is no such JSON, or nested more than 1,000 deep
 */
export function parseWithNumbers(text: string, number: (digits: string) => JsonValue): JsonValue {
	return parseValue(text, { ...PYTHON, number });
}

/** The names of the members of an object that `parseLoosely` takes, each as often as it stands there. */
export function looseNames(text: string): readonly string[] {
	const names: string[] = [];
	const mark = /["[\]{}]/g;
	const colon = /\s*:/y;
	let depth = 0;
	for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
		if (found[0] !== '"') depth += found[0] === "{" || found[0] === "[" ? 1 : -1;
		else {
			mark.lastIndex = colon.lastIndex = stringEnd(text, found.index);
			if (depth !== 1 || !colon.test(text)) continue;
			const name = parseJson(text.slice(found.index, mark.lastIndex));
			if (typeof name === "string") names.push(name);
		}
	}
	return names;
}

/** Whether a text that `parseLoosely` accepts is not strict JSON. */
export function isNotJson(text: string): boolean {
	return ANYWHERE.test(text) && jsonValueOf(text) === undefined;
}

/**
 * Parses JSON text.
 *
 * @throws SyntaxError where it is none
 */
export function parseJson(text: string): JsonValue {
	const value: unknown = JSON.parse(text);
	if (!isParsed(value)) throw new SyntaxError("not JSON");
	return text.includes("\\") && hasBackslashInName(value, PYTHON.maxDepth) ? parseValue(text, PYTHON) : value;
}

/** The value of a JSON text; undefined where the text is no JSON. */
export function jsonValueOf(text: string): JsonValue | undefined {
	try {
		return parseJson(text);
	} catch {
		return undefined;
	}
}

/** The object of a JSON text; undefined where the text is no JSON, or no object. */
export function jsonObjectOf(text: string): JsonObject | undefined {
	const value = jsonValueOf(text);
	return isJsonObject(value) ? value : undefined;
}

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
