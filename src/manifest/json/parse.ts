import type { JsonValue } from "../../json/values.ts";
import { isJsonNumber, survivesDouble } from "../../json/numbers.ts";
import { MAX_CELL, MAX_DEPTH, MAX_ROW_FAULTS } from "../limits.ts";
import { show } from "../show.ts";
import { JsonFault } from "./fault.ts";
import { stringEnd } from "./string-end.ts";

/** A member of the outermost object: its value, and where key and value stand in the text. */
export type Member = {
	readonly value: JsonValue;
	readonly start: number;
	readonly valueStart: number;
	readonly end: number;
};

const NUMBER = /-?[0-9][0-9.eE+-]*/y;

/** What other languages write for a value: `NaN`, `True`, `-Infinity`, `.5`. */
const WORD = /[-+.]?\w[\w.+-]*/y;
// A string without escapes, which is nearly every one; control characters must be escaped.
// oxlint-disable-next-line no-control-regex
const PLAIN_STRING = /"[^"\\\u0000-\u001f]*"/y;
// oxlint-disable-next-line no-control-regex
const ESCAPED_STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/**
 * Reads JSON strictly: nothing is repaired, and nothing that would be sent differently from how it stands gets by
 * (a member twice, a number beyond a double). An escape for half a surrogate pair is sent as such an escape.
 *
 * @throws JsonFault
 */
export function parseJson(text: string): JsonValue {
	const parser = new Parser(text, undefined);
	const value = parser.value(0);
	parser.finish();
	return value;
}

/**
 * The members of a JSON object in their order, which an object would change for keys that look like numbers.
 *
 * @param faults gathers the faults after which the text can be read on; without it the first one is thrown
 * @throws JsonFault also when the text is JSON but no object
 */
export function parseMembers(text: string, faults?: JsonFault[]): Map<string, Member> {
	const parser = new Parser(text, faults);
	const members = parser.members(0);
	parser.finish();
	return members;
}

class Parser {
	readonly #text: string;
	readonly #faults: JsonFault[] | undefined;
	#at = 0;
	/** names of the members that are being read, outermost first; two are enough to name a metadata key */
	readonly #names: [outer: string | null, inner: string | null] = [null, null];

	constructor(text: string, faults: JsonFault[] | undefined) {
		this.#text = text;
		this.#faults = faults;
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
			if (depth < 2) this.#names[depth === 0 ? 0 : 1] = key;
			const isTwice = members.has(key);
			if (isTwice) this.#told("DUPLICATE_MEMBER", `the member "${show(key)}" stands twice in one object`, start);
			this.#expect(":");
			this.#peek();
			const valueStart = this.#at;
			const value = this.value(depth + 1);
			if (!isTwice) members.set(key, { value, start, valueStart, end: this.#at });
		} while (this.#accept(","));
		this.#expect("}");
		if (depth === 1) this.#names[1] = null;
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
		if (depth >= MAX_DEPTH) throw this.#fault("TOO_DEEP", `nested more than ${MAX_DEPTH} deep`, this.#at - 1);
	}

	#string(): string {
		const start = this.#at;
		PLAIN_STRING.lastIndex = start;
		if (PLAIN_STRING.test(this.#text)) {
			this.#at = PLAIN_STRING.lastIndex;
			return this.#checked(this.#text.slice(start + 1, this.#at - 1), start);
		}
		const end = stringEnd(this.#text, start);
		if (end > this.#text.length) {
			throw this.#fault("BAD_JSON", "the quote that opens here is not closed", start, true);
		}
		this.#at = end;
		ESCAPED_STRING.lastIndex = start;
		if (end - start > MAX_CELL) return this.#tooLong(start);
		if (!ESCAPED_STRING.test(this.#text) || ESCAPED_STRING.lastIndex !== end) {
			this.#told("BAD_JSON", "a string with a raw control character or an unknown escape", start);
			return "";
		}
		const value: unknown = JSON.parse(this.#text.slice(start, end));
		const text = typeof value === "string" ? value : "";
		return this.#checked(text, start);
	}

	#checked(value: string, start: number): string {
		return value.length > MAX_CELL ? this.#tooLong(start) : value;
	}

	#tooLong(start: number): string {
		this.#told("TOO_LONG", `a value of more than ${MAX_CELL} characters`, start);
		return "";
	}

	#number(): number | null {
		const start = this.#at;
		NUMBER.lastIndex = start;
		const text = NUMBER.exec(this.#text)?.[0];
		if (text === undefined) return this.#noValue();
		this.#at += text.length;
		if (!isJsonNumber(text)) this.#told("BAD_JSON", `${show(text)} is not a JSON number`, start);
		else if (!survivesDouble(text)) {
			this.#told("BAD_NUMBER", `${show(text)} would be sent as ${Number(text)}; write it as a text`, start);
		}
		return Number(text);
	}

	#word<Value extends boolean | null>(word: string, value: Value): Value | null {
		if (!this.#text.startsWith(word, this.#at)) return this.#noValue();
		this.#at += word.length;
		return value;
	}

	/** A word of another language stands for one value: behind it the text can be read on. */
	#noValue(): null {
		WORD.lastIndex = this.#at;
		const word = WORD.exec(this.#text)?.[0];
		if (word === undefined) this.#fail("a value");
		this.#told("BAD_JSON", `not JSON: a value was expected, not "${show(word)}"`, this.#at);
		this.#at += word.length;
		return null;
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
		throw this.#fault("BAD_JSON", `not JSON: ${wanted} was expected, not ${text}`, this.#at, found === "");
	}

	/** A fault after which the text can be read on. One row tells a bounded number of them. */
	#told(code: string, message: string, offset: number): void {
		const fault = this.#fault(code, message, offset);
		if (this.#faults === undefined || this.#faults.length >= MAX_ROW_FAULTS - 1) throw fault;
		this.#faults.push(fault);
	}

	#fault(code: string, message: string, offset: number, atEnd = false): JsonFault {
		const [outer, inner] = this.#names;
		return new JsonFault(code, message, offset, outer === "meta_fields" ? (inner ?? outer) : outer, atEnd);
	}
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
