import { ReadingStop, positionIn } from "../fault.ts";
import { MANIFEST_JSON, MAX_CELL, MAX_RECORD } from "../limits.ts";
import { JsonFault, stringEnd } from "../../json/lexer.ts";
import { parseMembers } from "../../json/parser.ts";

/** The text of one element, and where it begins. */
export type Element = { readonly text: string; readonly line: number; readonly column: number };

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
	/** the next line feed at or after `#at`, once searched; kept because many strings stand on one line */
	#feed = -1;

	get tail(): { readonly text: string; readonly line: number; readonly column: number } {
		return { text: this.#text.slice(this.#at), ...this.#place };
	}

	push(text: string): Element[] {
		if (this.#scan !== undefined) this.#scan.at -= this.#at;
		this.#text = this.#text.slice(this.#at) + text;
		this.#at = 0;
		this.#feed = -1;
		const elements: Element[] = [];
		while (this.stop === undefined && this.#skipSpace()) {
			const element = this.#step(this.#text.charAt(this.#at));
			if (element === "more") break;
			if (element !== undefined) elements.push(element);
		}
		return elements;
	}

	end(): Element[] {
		if (this.#expects === "nothing") return [];
		if (this.#scan !== undefined) this.#stopInside();
		this.stop ??= this.#fault("the JSON array is not closed; the file is not whole");
		return [];
	}

	#step(character: string): Element | "more" | undefined {
		const expects = this.#expects;
		if (expects === "element" || (expects === "element or end" && character !== "]")) return this.#element(character);
		if (expects === "nothing") return this.#end(this.#fault("something follows the end of the JSON array"));
		if (expects === "array") this.#expects = "element or end";
		else if (character === "]") this.#expects = "nothing";
		else if (character === ",") this.#expects = "element";
		else return this.#end(this.#fault("not JSON: a comma or ] was expected between elements"));
		this.#advance(this.#at + 1);
		return undefined;
	}

	#element(character: string): Element | "more" | undefined {
		if (character === "," || character === "]") {
			return this.#end(this.#fault("not JSON: a comma without an element after it"));
		}
		const end = this.#elementEnd();
		if (this.stop !== undefined) return undefined;
		if ((end ?? this.#text.length) - this.#at > MAX_RECORD) {
			this.#stopInside();
			return this.#end(this.#fault(`a row of more than ${MAX_RECORD} characters`, "TOO_LONG"));
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
				this.#checkString(at, end);
				if (this.stop !== undefined) return undefined;
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

	#checkString(start: number, end: number): void {
		if (this.#feed < start) {
			const feed = this.#text.indexOf("\n", start);
			this.#feed = feed === -1 ? Number.POSITIVE_INFINITY : feed;
		}
		if (this.#feed < end && this.#feed < this.#text.length) {
			this.#advance(start);
			this.#end(this.#fault("not JSON: the quote that opens here is not closed on its line"));
		} else if (Math.min(end, this.#text.length) - start > MAX_CELL * 6) {
			this.#advance(start);
			this.#end(this.#fault(`a value of more than ${MAX_CELL} characters`, "TOO_LONG"));
		}
	}

	#skipSpace(): boolean {
		let at = this.#at;
		for (; at < this.#text.length; at++) {
			const unit = this.#text.charCodeAt(at);
			if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) break;
		}
		this.#advance(at);
		return at < this.#text.length;
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

	#end(stop: ReadingStop): undefined {
		this.stop ??= stop;
	}

	#fault(text: string, code = "BAD_JSON"): ReadingStop {
		return new ReadingStop(code, text, this.#place);
	}
}
