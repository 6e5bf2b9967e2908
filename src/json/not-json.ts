import { randomUUID } from "node:crypto";
import { type JsonValue, parseJson } from "./values.ts";

/**
 * `NaN`, `Infinity` and `-Infinity` where a value may stand. They are no JSON, and Python writes and reads them as if they
 * were: RAGFlow v0.12 to v0.23 keeps metadata in a JSON field of its database and lists it as `json.dumps` gave it
 * (v0.21.1: `JSONField` in api/db/db_models.py, `json_dumps` in api/utils/json.py).
 */
const TOKEN = /"|(?<=^|[[:,\s])-?(?:NaN|Infinity)(?=[\]},\s]|$)/g;
const ANYWHERE = /(?:NaN|Infinity)/;

/** Where the string ends whose first quote is at `start`: at its last quote. */
export function endOfString(text: string, start: number): number {
	for (let at = start + 1; at < text.length; at++) {
		if (text[at] === "\\") at++;
		else if (text[at] === '"') return at;
	}
	return text.length;
}

/**
 * Parses JSON text in which `NaN`, `Infinity` and `-Infinity` may stand for numbers, as what they are.
 *
 * @throws SyntaxError where it is nothing of that kind
 */
export function parseLoosely(text: string): JsonValue {
	try {
		return parseJson(text);
	} catch (error) {
		// Texts that no document can hold by chance stand for the tokens while the rest is parsed.
		const mark = `${randomUUID()}:`;
		const marked = replaceOutsideTexts(text, TOKEN, (token) => `"${mark}${token}"`);
		if (marked === undefined) throw error;
		return parseJson(marked, (_key, value) =>
			typeof value === "string" && value.startsWith(mark) ? Number(value.slice(mark.length)) : value,
		);
	}
}

/** Whether the text of a value, as a service gave it, is no JSON. */
export function isNotJson(text: string): boolean {
	return ANYWHERE.test(text) && replaceOutsideTexts(text, TOKEN, (token) => token) !== undefined;
}

/**
 * Puts other words for what a pattern finds outside texts. Undefined where nothing was replaced.
 *
 * @param pattern global; it must find quotes, too
 * @param other the word to put, or undefined to leave what is there
 */
export function replaceOutsideTexts(
	json: string,
	pattern: RegExp,
	other: (found: string) => string | undefined,
): string | undefined {
	const token = new RegExp(pattern);
	let replaced = "";
	let copied = 0;
	for (let found = token.exec(json); found !== null; found = token.exec(json)) {
		const [text] = found;
		if (text === '"') {
			token.lastIndex = endOfString(json, found.index) + 1;
			continue;
		}
		const word = other(text);
		if (word === undefined) continue;
		replaced += json.slice(copied, found.index) + word;
		copied = token.lastIndex;
	}
	return copied === 0 ? undefined : replaced + json.slice(copied);
}
