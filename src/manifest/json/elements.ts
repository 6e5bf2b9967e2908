import { ReadingStop, positionIn } from "../fault.ts";
import { MANIFEST_JSON, MAX_RECORD } from "../limits.ts";
import { JsonFault, stringEnd } from "../../json/lexer.ts";
import { parseMembers } from "../../json/parser.ts";
import type { RawRow } from "../rows/row-reader.ts";

const SPACE = /[ \n\r\t]*/y;

/** Cuts a JSON array into its elements as they arrive. It counts brackets, and does not parse the elements. */
export class ElementSplitter {
	/** the fault that ends the reading after the last elements: the array is not well formed between them */
	stop: ReadingStop | undefined;
	#text = "";
	#at = 0;
	/** the place of `#at` in the file */
	#place = { line: 1, column: 1 };
	#expects: "array" | "element or end" | "element" | "comma or end" | "nothing" = "array";
	/** how far the element at `#at` was searched for its end, so that a large one is not read from its start again */
	#scan: { at: number; depth: number } | undefined;

	push(text: string): RawRow[] {
		if (this.#scan !== undefined) this.#scan.at -= this.#at;
		this.#text = this.#text.slice(this.#at) + text;
		this.#at = 0;
		const elements: RawRow[] = [];
		while (this.stop === undefined && this.#skipSpace()) {
			const element = this.#step(this.#text.charAt(this.#at));
			if (element === "more") break;
			if (element !== undefined) elements.push(element);
		}
		return elements;
	}

	end(): RawRow[] {
		if (this.#expects === "nothing") return [];
		if (this.#scan !== undefined) this.#stopInside();
		this.#fail("the JSON array is not closed; the file is not whole");
		return [];
	}

	#step(character: string): RawRow | "more" | undefined {
		const expects = this.#expects;
		if (expects === "element" || (expects === "element or end" && character !== "]")) return this.#element(character);
		if (expects === "nothing") return this.#fail("something follows the end of the JSON array");
		if (expects === "array") this.#expects = "element or end";
		else if (character === "]") this.#expects = "nothing";
		else if (character === ",") this.#expects = "element";
		else return this.#fail("not JSON: a comma or ] was expected between elements");
		this.#advance(this.#at + 1);
		return undefined;
	}

	#element(character: string): RawRow | "more" | undefined {
		if (character === "," || character === "]") {
			return this.#fail("not JSON: a comma without an element after it");
		}
		const end = this.#elementEnd();
		if (this.stop !== undefined) return undefined;
		if ((end ?? this.#text.length) - this.#at > MAX_RECORD) {
			this.#stopInside();
			return this.#fail(`a row of more than ${MAX_RECORD} characters`, "TOO_LONG");
		}
		if (end === undefined) return "more";
		const element = { text: this.#text.slice(this.#at, end), ...this.#place };
		this.#advance(end);
		this.#scan = undefined;
		this.#expects = "comma or end";
		return element;
	}

	/** Past the last character of the element; undefined when it has not come yet. */
	#elementEnd(): number | undefined {
		const text = this.#text;
		this.#scan ??= { at: this.#at, depth: 0 };
		let { at, depth } = this.#scan;
		while (at < text.length) {
			const unit = text.charCodeAt(at);
			if (unit === 0x22) {
				const end = stringEnd(text, at);
				// A string goes on over its line where its closing quote is missing: no later quote can be trusted.
				if (text.slice(at, end).includes("\n")) {
					this.#advance(at);
					return this.#fail("not JSON: the quote that opens here is not closed on its line");
				}
				if (end > text.length) break;
				at = end;
				if (depth === 0) return at;
				continue;
			}
			if (unit === 0x7b || unit === 0x5b) depth++;
			else if (unit === 0x7d || unit === 0x5d) {
				if (depth === 0) return Math.max(at, this.#at + 1);
				depth--;
				if (depth === 0) return at + 1;
			} else if (depth === 0 && at > this.#at && (unit === 0x2c || unit <= 0x20)) return at;
			at++;
		}
		this.#scan = { at, depth };
		return undefined;
	}

	#skipSpace(): boolean {
		SPACE.lastIndex = this.#at;
		SPACE.test(this.#text);
		this.#advance(SPACE.lastIndex);
		return this.#at < this.#text.length;
	}

	#advance(to: number): void {
		const { line, column } = this.#place;
		if (to > this.#at) this.#place = positionIn(this.#text.slice(this.#at, to), to - this.#at, line, column);
		this.#at = to;
	}

	/** Stops at the place in a row that never ends where its missing bracket belongs. */
	#stopInside(): void {
		const text = this.#text.slice(this.#at);
		try {
			parseMembers(text, MANIFEST_JSON, []);
		} catch (error) {
			if (!(error instanceof JsonFault) || error.atEnd) return;
			const { line, column } = this.#place;
			this.stop ??= new ReadingStop(error.code, error.message, positionIn(text, error.offset, line, column));
		}
	}

	/** Ends the reading here. */
	#fail(text: string, code = "BAD_JSON"): undefined {
		this.stop ??= new ReadingStop(code, text, this.#place);
	}
}
