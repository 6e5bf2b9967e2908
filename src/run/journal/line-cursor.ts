import { crc32 } from "node:zlib";
import { AFTER_CHECKSUM, BEFORE_CHECKSUM, CHECKSUM_LENGTH, MAX_LINE_BYTES } from "./encode.ts";

/** The bytes of a fixed text, which is ASCII. */
export function bytesOf(text: string): Uint8Array {
	return new TextEncoder().encode(text);
}

const BEFORE_BYTES = bytesOf(BEFORE_CHECKSUM);
const AFTER_BYTES = bytesOf(AFTER_CHECKSUM);

/** Bytes before those that the checksum covers. */
const COVERED_FROM = BEFORE_BYTES.length + CHECKSUM_LENGTH + AFTER_BYTES.length;

const LINE_END = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const DIGIT_0 = 0x30;
const BACKSLASH = 0x5c;
const LETTER_A = 0x61;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const DELETE = 0x7f;

/** Digits of a number that is certainly exact. */
const MOST_DIGITS = 15;

/** A place in a line of some bytes. It recognises fixed texts and simple values, and makes no strings. */
export class LineCursor {
	readonly #bytes: Uint8Array;
	/** where the line begins, and where its end is */
	#line = 0;
	#end = 0;
	at = 0;

	constructor(bytes: Uint8Array) {
		this.#bytes = bytes;
	}

	/** Goes to the first byte that the checksum of a line covers. @returns whether the line ends in this chunk */
	begin(line: number): boolean {
		this.#line = line;
		this.#end = this.#bytes.indexOf(LINE_END, line);
		this.at = line + COVERED_FROM;
		return this.#end >= this.at && this.#end - line <= MAX_LINE_BYTES;
	}

	/** Skips a text, if it is here. */
	has(text: Uint8Array): boolean {
		const bytes = this.#bytes;
		const { at } = this;
		for (let index = 0; index < text.length; index++) if (bytes[at + index] !== text[index]) return false;
		this.at = at + text.length;
		return true;
	}

	oneOf<Value>(values: readonly (readonly [Value, Uint8Array])[]): Value | undefined {
		for (const [value, text] of values) if (this.has(text)) return value;
		return undefined;
	}

	/** Skips a whole number. @returns -1 where there is none in the form of JSON, or it may not be exact */
	count(): number {
		const bytes = this.#bytes;
		const from = this.at;
		let value = 0;
		let at = from;
		for (; ; at++) {
			const digit = (bytes[at] ?? 0) - DIGIT_0;
			if (!(digit >= 0 && digit <= 9)) break;
			value = value * 10 + digit;
		}
		this.at = at;
		const digits = at - from;
		return digits === 0 || digits > MOST_DIGITS || (digits > 1 && bytes[from] === DIGIT_0) ? -1 : value;
	}

	/** Skips the rest of a JSON text of ASCII without escapes, and its closing quote. */
	skipText(): boolean {
		const bytes = this.#bytes;
		const end = this.#end;
		let { at } = this;
		for (; at < end; at++) {
			const byte = bytes[at] ?? 0;
			if (byte === QUOTE) break;
			if (byte < SPACE || byte >= DELETE || byte === BACKSLASH) return false;
		}
		this.at = at + 1;
		return at < end;
	}

	/** Skips the rest of a JSON object after its opening brace. Only strings and brackets count: the checksum covers the rest. */
	skipObject(): boolean {
		const bytes = this.#bytes;
		const end = this.#end;
		let depth = 1;
		let isText = false;
		let { at } = this;
		for (; at < end && depth > 0; at++) {
			const byte = bytes[at];
			if (byte === QUOTE) isText = !isText;
			else if (isText) {
				if (byte === BACKSLASH) at += 1;
			} else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
			else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
		}
		this.at = at;
		return depth === 0;
	}

	/** Whether the closing brace of the record and the line end are here, and nothing else. */
	isAtLast(): boolean {
		return this.#bytes[this.at] === CLOSE_BRACE && this.at + 1 === this.#end;
	}

	/** Skips the end of a line. @returns whether it begins with the checksum of its bytes */
	endLine(): boolean {
		const end = this.#end;
		this.at = this.#line;
		if (!this.has(BEFORE_BYTES)) return false;
		let expected = 0;
		for (let index = 0; index < CHECKSUM_LENGTH; index++) {
			const digit = this.#hexadecimal(this.at + index);
			if (digit < 0) return false;
			expected = expected * 16 + digit;
		}
		this.at += CHECKSUM_LENGTH;
		if (!this.has(AFTER_BYTES)) return false;
		if (crc32(this.#bytes.subarray(this.#line + COVERED_FROM, end)) !== expected) return false;
		this.at = end + 1;
		return true;
	}

	/** A digit in lower case, or -1. */
	#hexadecimal(at: number): number {
		const byte = this.#bytes[at] ?? 0;
		if (byte >= DIGIT_0 && byte <= DIGIT_0 + 9) return byte - DIGIT_0;
		return byte >= LETTER_A && byte <= LETTER_A + 5 ? byte - LETTER_A + 10 : -1;
	}
}
