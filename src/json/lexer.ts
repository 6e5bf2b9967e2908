import { excerpt } from "../text/show.ts";
import { isJsonNumber, survivesDouble } from "./numbers.ts";
import type { JsonValue } from "./values.ts";

const NUMBER = /-?[0-9][0-9.eE+-]*/y;

/** Words of other languages for a value: `NaN`, `True`, `-Infinity`, `.5`. */
const WORD = /[-+.]?\w[\w.+-]*/y;

const PYTHON_NUMBER = /^(?:NaN|-?Infinity)$/;
// A string without escapes, which is nearly every one; control characters must be escaped.
// oxlint-disable-next-line no-control-regex
const PLAIN_STRING = /"[^"\\\u0000-\u001f]*"/y;

/** The end of the string that opens at `start`, past its last quote; beyond the text if it does not end. */
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

/** The tokens of a JSON text, each read where it is expected. White space is skipped. */
export class JsonLexer {
	/** how far the text was read */
	protected at = 0;
	/** names of the members that are being read */
	protected readonly names: [outer: string | null, inner: string | null] = [null, null];
	protected readonly rules: JsonRules;
	readonly #text: string;
	readonly #faults: JsonFault[] | undefined;

	/** @param faults gathers the faults after which the text can be read on; without it the first one is thrown */
	constructor(text: string, rules: JsonRules, faults: JsonFault[] | undefined) {
		this.#text = text;
		this.rules = rules;
		this.#faults = faults;
	}

	protected string(): string {
		const start = this.at;
		PLAIN_STRING.lastIndex = start;
		if (PLAIN_STRING.test(this.#text)) {
			this.at = PLAIN_STRING.lastIndex;
			return this.#checked(this.#text.slice(start + 1, this.at - 1), start);
		}
		const end = stringEnd(this.#text, start);
		if (end > this.#text.length) {
			throw this.fault("BAD_JSON", "the quote that opens here is not closed", start, true);
		}
		this.at = end;
		if (end - start > this.rules.maxString) return this.#tooLong(start);
		const value = unescaped(this.#text.slice(start, end));
		if (value !== undefined) return this.#checked(value, start);
		this.report("BAD_JSON", "a string with a raw control character or an unknown escape", start);
		return "";
	}

	#checked(value: string, start: number): string {
		return value.length > this.rules.maxString ? this.#tooLong(start) : value;
	}

	#tooLong(start: number): string {
		this.report("TOO_LONG", `a value of more than ${this.rules.maxString} characters`, start);
		return "";
	}

	protected number(): JsonValue {
		const start = this.at;
		NUMBER.lastIndex = start;
		const text = NUMBER.exec(this.#text)?.[0];
		if (text === undefined) return this.#noValue();
		this.at += text.length;
		if (!isJsonNumber(text)) this.report("BAD_JSON", `${excerpt(text)} is not a JSON number`, start);
		else if (this.rules.number !== undefined) return this.rules.number(text);
		else if (!survivesDouble(text)) {
			this.report("BAD_NUMBER", `${excerpt(text)} would be sent as ${Number(text)}; write it as a text`, start);
		}
		return Number(text);
	}

	protected word<Value extends boolean | null>(word: string, value: Value): JsonValue {
		if (!this.#text.startsWith(word, this.at)) return this.#noValue();
		this.at += word.length;
		return value;
	}

	/** A word of another language stands for one value, so the text can be read on after it. */
	#noValue(): JsonValue {
		WORD.lastIndex = this.at;
		const word = WORD.exec(this.#text)?.[0];
		if (word === undefined) this.fail("a value");
		const start = this.at;
		this.at += word.length;
		const { number } = this.rules;
		if (number !== undefined && PYTHON_NUMBER.test(word)) return number(word);
		this.report("BAD_JSON", `not JSON: a value was expected, not "${excerpt(word)}"`, start);
		return null;
	}

	/** The next character that is no white space, not yet taken; empty at the end. */
	protected peek(): string {
		for (;;) {
			const unit = this.#text.charCodeAt(this.at);
			if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) break;
			this.at++;
		}
		return this.#text.charAt(this.at);
	}

	protected accept(character: string): boolean {
		if (this.peek() !== character) return false;
		this.at++;
		return true;
	}

	protected expect(character: string): void {
		if (!this.accept(character)) this.fail(`"${character}"`);
	}

	protected fail(wanted: string): never {
		const found = this.peek();
		const character = String.fromCodePoint(this.#text.codePointAt(this.at) ?? 0);
		const text = found === "" ? "the end of the text" : `"${excerpt(character)}"`;
		throw this.fault("BAD_JSON", `not JSON: ${wanted} was expected, not ${text}`, this.at, found === "");
	}

	/** A fault after which the text can be read on. */
	protected report(code: string, message: string, offset: number): void {
		const fault = this.fault(code, message, offset);
		if (this.#faults === undefined || this.#faults.length >= this.rules.maxFaults) throw fault;
		this.#faults.push(fault);
	}

	protected fault(code: string, message: string, offset: number, atEnd = false): JsonFault {
		const [outer, inner] = this.names;
		return new JsonFault(message, { code, offset, members: [outer, inner], atEnd });
	}
}

/** The value of a string token; undefined if it is not valid JSON. */
function unescaped(token: string): string | undefined {
	try {
		const value: unknown = JSON.parse(token);
		return typeof value === "string" ? value : undefined;
	} catch {
		return undefined;
	}
}

/** The rules of reading, and its limits. */
export type JsonRules = {
	/** levels of objects and lists */
	readonly maxDepth: number;
	/** UTF-16 units of one string */
	readonly maxString: number;
	/** faults of one text that are gathered: the next one ends the reading */
	readonly maxFaults: number;
	/**
	 * Converts a number. If it is given, the text is read as Python's `json` does: `NaN`, `Infinity` and `-Infinity` are
	 * numbers, no number is too exact, and the last of several members of one name counts.
	 */
	readonly number?: (digits: string) => JsonValue;
};

/** A fault in a JSON text. It is a `SyntaxError`, like the errors of `JSON.parse`. */
export class JsonFault extends SyntaxError {
	override readonly name = "JsonFault";
	/** `BAD_JSON`, `BAD_NUMBER`, `DUPLICATE_MEMBER`, `TOO_DEEP` or `TOO_LONG` */
	readonly code: string;
	/** in UTF-16 units of the text that was parsed */
	readonly offset: number;
	/** the members in which it stands: of the outermost object, then of an object in that; null where it is in none */
	readonly members: readonly [outer: string | null, inner: string | null];
	/** whether the text ended too early; false if something in it is wrong */
	readonly atEnd: boolean;

	constructor(
		message: string,
		at: Pick<JsonFault, "code" | "offset" | "members"> & { readonly atEnd?: boolean | undefined },
	) {
		super(message);
		this.code = at.code;
		this.offset = at.offset;
		this.members = at.members;
		this.atEnd = at.atEnd === true;
	}
}
