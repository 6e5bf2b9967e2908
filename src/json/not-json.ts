import { memberNames, parseValue } from "./parser.ts";
import type { JsonRules } from "./rules.ts";
import { parseJson } from "./parse-json.ts";
import type { JsonValue } from "./values.ts";

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

/**
 * Parses JSON text in which `NaN`, `Infinity` and `-Infinity` may stand for numbers.
 *
 * @throws SyntaxError if the text is no such JSON
 */
export function parseLoosely(text: string): JsonValue {
	try {
		return parseJson(text);
	} catch (error) {
		if (!ANYWHERE.test(text)) throw error;
		return parseValue(text, PYTHON);
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
	return memberNames(text, PYTHON);
}

/** Whether a text that `parseLoosely` accepts is not strict JSON. */
export function isNotJson(text: string): boolean {
	if (!ANYWHERE.test(text)) return false;
	try {
		parseJson(text);
		return false;
	} catch {
		return true;
	}
}
