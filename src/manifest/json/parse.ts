import type { JsonValue } from "../../json.ts";
import { MAX_CELL, MAX_DEPTH } from "../limits.ts";
import { show } from "../show.ts";
import { isJsonNumber, survivesDouble } from "../../json-number.ts";

/** A fault in a JSON text: `offset` in UTF-16 units of the text that was parsed. */
export class JsonFault extends Error {
	override readonly name = "JsonFault";
	readonly code: string;
	readonly offset: number;
	/** whether the text ended too early, as against something being wrong in it */
	readonly atEnd: boolean;

	constructor(code: string, message: string, offset: number, atEnd = false) {
		super(message);
		this.code = code;
		this.offset = offset;
		this.atEnd = atEnd;
	}
}

/** A member of the outermost object: its value, and where key and value stand in the text. */
export type Member = {
	readonly value: JsonValue;
	readonly start: number;
	readonly valueStart: number;
	readonly end: number;
};

const NUMBER = /-?[0-9][0-9.eE+-]*/y;
// A string without escapes, which is nearly every one; control characters must be escaped.
// oxlint-disable-next-line no-control-regex
const PLAIN_STRING = /"[^"\\\u0000-\u001f]*"/y;
// oxlint-disable-next-line no-control-regex
const ESCAPED_STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/**
 * Reads JSON strictly: nothing is repaired, and nothing that would be sent differently from how it stands gets by
 * (a member twice, a number beyond a double, half a surrogate pair).
 *
 * @throws JsonFault
 */
export function parseJson(text: string): JsonValue {
	const parser = new Parser(text);
	const value = parser.value(0);
	parser.finish();
	return value;
}

/**
 * The members of a JSON object in their order, which an object would change for keys that look like numbers.
 *
 * @throws JsonFault also when the text is JSON but no object
 */
export function parseMembers(text: string): Map<string, Member> {
	const parser = new Parser(text);
	const members = parser.members(0);
	parser.finish();
	return members;
}

class Parser {
	readonly #text: string;
	#at = 0;

	constructor(text: string) {
		this.#text = text;
	}

	value(depth: number): JsonValue {
		switch (this.#peek()) {
			case "{":
				return objectOf(this.members(depth));
			case "[":
				return this.#array(depth);
			case '"':
				return this.#string();
			case "t":
				return this.#word("true", true);
			case "f":
				return this.#word("false", false);
			case "n":
				return this.#word("null", null);
			default:
				return this.#number();
		}
	}

	members(depth: number): Map<string, Member> {
		this.#open("{", depth);
		const members = new Map<string, Member>();
		if (this.#accept("}")) return members;
		do {
			if (this.#peek() !== '"') this.#fail("a member's name in double quotes");
			const start = this.#at;
			const key = this.#string();
			if (members.has(key)) {
				throw new JsonFault("DUPLICATE_MEMBER", `the member "${show(key)}" stands twice in one object`, start);
			}
			this.#expect(":");
			this.#peek();
			const valueStart = this.#at;
			const value = this.value(depth + 1);
			members.set(key, { value, start, valueStart, end: this.#at });
		} while (this.#accept(","));
		this.#expect("}");
		return members;
	}

	finish(): void {
		if (this.#peek() !== "") this.#fail("nothing more");
	}

	#array(depth: number): JsonValue[] {
		this.#open("[", depth);
		const items: JsonValue[] = [];
		if (this.#accept("]")) return items;
		do items.push(this.value(depth + 1));
		while (this.#accept(","));
		this.#expect("]");
		return items;
	}

	#open(bracket: string, depth: number): void {
		this.#expect(bracket);
		if (depth >= MAX_DEPTH) {
			throw new JsonFault("TOO_DEEP", `nested more than ${MAX_DEPTH} deep`, this.#at - 1);
		}
	}

	#string(): string {
		const start = this.#at;
		PLAIN_STRING.lastIndex = start;
		if (PLAIN_STRING.test(this.#text)) {
			this.#at = PLAIN_STRING.lastIndex;
			return this.#checked(this.#text.slice(start + 1, this.#at - 1), start);
		}
		const end = this.#escapedEnd(start);
		const value: unknown = JSON.parse(this.#text.slice(start, end));
		this.#at = end;
		const text = typeof value === "string" ? value : "";
		if (/\p{Surrogate}/u.test(text)) {
			throw new JsonFault("LONE_SURROGATE", "half a surrogate pair, which no text can hold", start);
		}
		return this.#checked(text, start);
	}

	#escapedEnd(start: number): number {
		ESCAPED_STRING.lastIndex = start;
		if (stringEnd(this.#text, start) - start <= MAX_CELL && ESCAPED_STRING.test(this.#text)) {
			return ESCAPED_STRING.lastIndex;
		}
		const end = stringEnd(this.#text, start);
		if (end > this.#text.length)
			throw new JsonFault("BAD_JSON", "the quote that opens here is not closed", start, true);
		if (end - start > MAX_CELL) this.#tooLong(start);
		throw new JsonFault("BAD_JSON", "a string with a raw control character or an unknown escape", start);
	}

	#checked(value: string, start: number): string {
		if (value.length > MAX_CELL) this.#tooLong(start);
		return value;
	}

	#tooLong(start: number): never {
		throw new JsonFault("TOO_LONG", `a value of more than ${MAX_CELL} characters`, start);
	}

	#number(): number {
		NUMBER.lastIndex = this.#at;
		const text = NUMBER.exec(this.#text)?.[0];
		if (text === undefined) this.#fail("a value");
		if (!isJsonNumber(text)) throw new JsonFault("BAD_JSON", `${show(text)} is not a JSON number`, this.#at);
		if (!survivesDouble(text)) {
			throw new JsonFault("BAD_NUMBER", `${show(text)} would be sent as ${Number(text)}; write it as a text`, this.#at);
		}
		this.#at += text.length;
		return Number(text);
	}

	#word<Value extends boolean | null>(word: string, value: Value): Value {
		if (!this.#text.startsWith(word, this.#at)) this.#fail("a value");
		this.#at += word.length;
		return value;
	}

	/** The next character that is no white space, not yet taken; empty at the end. */
	#peek(): string {
		for (;;) {
			const unit = this.#text.charCodeAt(this.#at);
			if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) break;
			this.#at++;
		}
		return this.#text.charAt(this.#at);
	}

	#accept(character: string): boolean {
		if (this.#peek() !== character) return false;
		this.#at++;
		return true;
	}

	#expect(character: string): void {
		if (!this.#accept(character)) this.#fail(`"${character}"`);
	}

	#fail(wanted: string): never {
		const found = this.#peek();
		const text =
			found === "" ? "the end of the text" : `"${show(String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0))}"`;
		throw new JsonFault("BAD_JSON", `not JSON: ${wanted} was expected, not ${text}`, this.#at, found === "");
	}
}

/** Where the string that opens at `start` ends, past its quote; beyond the text when it does not. */
export function stringEnd(text: string, start: number): number {
	let at = text.indexOf('"', start + 1);
	while (at !== -1) {
		let slashes = 0;
		while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes++;
		if (slashes % 2 === 0) return at + 1;
		at = text.indexOf('"', at + 1);
	}
	return text.length + 1;
}

/** Members as a plain object; `__proto__` becomes data like any other key. */
function objectOf(members: ReadonlyMap<string, Member>): JsonValue {
	const object: Record<string, JsonValue> = {};
	for (const [key, { value }] of members) {
		if (key === "__proto__") {
			Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
		} else object[key] = value;
	}
	return object;
}
