import { Stop } from "../fault.ts";
import { MAX_CELL, MAX_RECORD } from "../limits.ts";
import { Cursor } from "./cursor.ts";
import { stringEnd } from "./parse.ts";

/** The text of one element, and where it begins. */
export type Element = { readonly text: string; readonly line: number; readonly column: number };

/** Cuts a JSON array into its elements as they arrive. What is inside an element is not its matter. */
export class ElementSplitter {
	#text = "";
	#at = 0;
	#expects: "array" | "element or end" | "element" | "comma or end" | "nothing" = "array";
	readonly #cursor = new Cursor();
	/** how far the element at `#at` was followed, so that a large one is not followed from its start again */
	#scan: { at: number; depth: number } | undefined;

	get tail(): { readonly text: string; readonly line: number; readonly column: number } {
		return { text: this.#text.slice(this.#at), line: this.#cursor.line, column: this.#cursor.column };
	}

	/** @throws Stop where the array is not well formed between its elements */
	push(text: string): Element[] {
		if (this.#scan !== undefined) this.#scan.at -= this.#at;
		this.#text = this.#text.slice(this.#at) + text;
		this.#at = 0;
		const elements: Element[] = [];
		while (this.#skipSpace()) {
			const element = this.#step(this.#text.charAt(this.#at));
			if (element === "more") break;
			if (element !== undefined) elements.push(element);
		}
		return elements;
	}

	/** @throws Stop where the array is not closed */
	end(): Element[] {
		if (this.#expects !== "nothing") throw this.#stop("the JSON array is not closed; the file is not whole");
		return [];
	}

	#step(character: string): Element | "more" | undefined {
		if (this.#expects === "nothing") throw this.#stop("something follows the end of the JSON array");
		const ends = character === "]" && (this.#expects === "element or end" || this.#expects === "comma or end");
		if (ends) this.#expects = "nothing";
		else if (this.#expects === "array") this.#expects = "element or end";
		else if (this.#expects === "comma or end") {
			if (character !== ",") throw this.#stop("not JSON: a comma or ] was expected between elements");
			this.#expects = "element";
		} else return this.#element(character);
		this.#advance(this.#at + 1);
		return undefined;
	}

	#element(character: string): Element | "more" {
		if (character === "," || character === "]") throw this.#stop("not JSON: a comma without an element after it");
		const end = this.#elementEnd();
		if ((end ?? this.#text.length) - this.#at > MAX_RECORD) {
			throw this.#stop(`a row of more than ${MAX_RECORD} characters`, "TOO_LONG");
		}
		if (end === undefined) return "more";
		const { line, column } = this.#cursor;
		const element = { text: this.#text.slice(this.#at, end), line, column };
		this.#advance(end);
		this.#scan = undefined;
		this.#expects = "comma or end";
		return element;
	}

	/** Past the last character of the element; undefined when it has not come yet. */
	#elementEnd(): number | undefined {
		const text = this.#text;
		let { at, depth } = this.#scan ?? { at: this.#at, depth: 0 };
		while (at < text.length) {
			const unit = text.charCodeAt(at);
			if (unit === 0x22) {
				const end = stringEnd(text, at);
				this.#checkString(at, end);
				if (end > text.length) break;
				at = end;
				if (depth === 0) return at;
				continue;
			}
			if (unit === 0x7b || unit === 0x5b) depth++;
			else if (unit === 0x7d || unit === 0x5d) {
				if (depth === 0) return at;
				if (--depth === 0) return at + 1;
			} else if (depth === 0 && at > this.#at && (unit === 0x2c || unit <= 0x20)) return at;
			at++;
		}
		this.#scan = { at, depth };
		return undefined;
	}

	#checkString(start: number, end: number): void {
		const feed = this.#text.indexOf("\n", start);
		if (feed !== -1 && feed < end) {
			this.#advance(start);
			throw this.#stop("not JSON: the quote that opens here is not closed on its line");
		}
		if (Math.min(end, this.#text.length) - start > MAX_CELL * 6) {
			this.#advance(start);
			throw this.#stop(`a value of more than ${MAX_CELL} characters`, "TOO_LONG");
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
		this.#cursor.advance(this.#text, this.#at, to);
		this.#at = to;
	}

	#stop(text: string, code = "BAD_JSON"): Stop {
		return new Stop(code, text, { line: this.#cursor.line, column: this.#cursor.column });
	}
}
