/** Whether a parsed JSON value is an object: neither null nor a list. */
export function isObject(value: unknown): value is { readonly [key: string]: unknown } {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * The members of a JSON object, each value as the text that was sent. `text` must be valid JSON.
 *
 * A parsed object would reorder keys that look like numbers, round long numbers and set the prototype for `__proto__`;
 * the text keeps all three. Of a key that is present twice the last value counts, as in `JSON.parse`.
 */
export function rawMembers(text: string): Map<string, string> {
	const members = new Map<string, string>();
	let at = skipSpace(text, text.indexOf("{") + 1);
	while (text.charCodeAt(at) === quote) {
		const keyEnd = endOfString(text, at);
		const key: unknown = JSON.parse(text.slice(at, keyEnd));
		// From the key's end: white space, the colon, white space.
		const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
		const end = endOfValue(text, start);
		members.set(String(key), text.slice(start, end));
		at = skipSpace(text, end);
		if (text.charCodeAt(at) === comma) at = skipSpace(text, at + 1);
	}
	return members;
}

/** The items of a JSON list, each as the text that was sent. `text` must be valid JSON. */
export function rawItems(text: string): string[] {
	const items: string[] = [];
	let at = skipSpace(text, text.indexOf("[") + 1);
	while (at < text.length && text.charCodeAt(at) !== closeBracket) {
		const end = endOfValue(text, at);
		items.push(text.slice(at, end));
		at = skipSpace(text, end);
		if (text.charCodeAt(at) === comma) at = skipSpace(text, at + 1);
	}
	return items;
}

/** The text of an object with these members. */
export function membersText(members: ReadonlyMap<string, string>): string {
	let text = "";
	for (const [key, value] of members) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${value}`;
	return `{${text}}`;
}

/** The text of two objects merged, member by member and recursively; `after` wins. */
export function mergedText(before: string, after: string): string {
	const members = rawMembers(before);
	for (const [key, raw] of rawMembers(after)) {
		const old = members.get(key);
		members.set(key, old?.startsWith("{") === true && raw.startsWith("{") ? mergedText(old, raw) : raw);
	}
	return membersText(members);
}

function skipSpace(text: string, from: number): number {
	let at = from;
	while (isSpace(text.charCodeAt(at))) at++;
	return at;
}

function isSpace(character: number): boolean {
	return character === 0x20 || character === 0x0a || character === 0x0d || character === 0x09;
}

/** The index after the closing quote of the string that opens at `from`. */
function endOfString(text: string, from: number): number {
	let at = from + 1;
	while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1;
	return at + 1;
}

function endOfValue(text: string, from: number): number {
	let depth = 0;
	let at = from;
	while (at < text.length) {
		const character = text.charCodeAt(at);
		if (character === quote) {
			at = endOfString(text, at);
			if (depth === 0) return at;
			continue;
		}
		if (character === openBrace || character === openBracket) depth++;
		else if (character === closeBrace || character === closeBracket) {
			// The brace that closes the object around this value.
			if (depth === 0) return at;
			depth--;
			if (depth === 0) return at + 1;
		} else if (depth === 0 && (character === comma || isSpace(character))) return at;
		at++;
	}
	return at;
}
