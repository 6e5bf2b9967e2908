import { ReadingStop, positionIn, Cursor } from "../fault.ts";
import { MANIFEST_JSON, MAX_CELL, MAX_RECORD } from "../limits.ts";
import { JsonFault, stringEnd } from "../../json/lexer.ts";
import { parseMembers } from "../../json/parser.ts";

/** The text of one element, and where it begins. */
export type Element = { readonly text: string; readonly line: number; readonly column: number };

type Place = { readonly line: number; readonly column: number };

/** Cuts a JSON array into its elements as they arrive. It does not parse the elements. */
export class ElementSplitter {
	/** the fault that ends the reading after the last elements: the array is not well formed between them */
	stop: ReadingStop | undefined;
	#text = "";
	#at = 0;
	#expects: "array" | "element or end" | "element" | "comma or end" | "nothing" = "array";
	readonly #cursor = new Cursor();
	/** the position reached in the element at `#at`, so that a large one is not read from its start again */
	#scan: { at: number; readonly brackets: Brackets } | undefined;
	/** where the array was closed */
	#closed: Place | undefined;
	/** reported at the end, so that later faults are found too */
	#stray: ReadingStop | undefined;
	/** the first row whose brackets don't fit: where the array is not closed, its bracket may have been lost there */
	#odd: Place | undefined;
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
		if (this.#stray !== undefined) this.stop = this.#stray;
		else if (this.#expects !== "nothing") {
			if (this.#scan !== undefined) this.#stopInside();
			if (this.#odd !== undefined) {
				const text = "the JSON array is not closed; the row that begins here has a bracket too many or too few";
				this.stop ??= new ReadingStop("BAD_JSON", text, this.#odd);
			}
			this.stop ??= this.#fault("the JSON array is not closed; the file is not whole");
		}
		return [];
	}

	#step(character: string): Element | "more" | undefined {
		if (this.#expects === "nothing" && !this.#followsStray(character)) {
			return this.#end(this.#fault("something follows the end of the JSON array"));
		}
		if (this.#expects === "element") return this.#element(character);
		if (this.#expects === "element or end" && character !== "]") return this.#element(character);
		if (this.#expects === "array") this.#expects = "element or end";
		else if (character === "]") {
			this.#closed = this.#place;
			this.#expects = "nothing";
		} else if (character === ",") this.#expects = "element";
		else if (character !== "}") {
			return this.#end(this.#fault("not JSON: a comma or ] was expected between elements"));
		}
		const { line, column } = this.#cursor;
		this.#advance(this.#at + 1);
		// A brace that closes nothing is a row by itself: its fault gets a place, and rows follow.
		return character === "}" ? { text: character, line, column } : undefined;
	}

	/** Whether the bracket that closed the array was one too many, so that rows follow it. */
	#followsStray(character: string): boolean {
		if (!/[,{}\]]/.test(character)) return false;
		const { line } = this.#cursor;
		this.#stray ??= new ReadingStop(
			"BAD_JSON",
			`the JSON array ends here, and line ${line} goes on with more`,
			this.#closed,
		);
		this.#expects = character === "{" ? "element" : "comma or end";
		return true;
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
		const { line, column } = this.#cursor;
		if (character === "[" || this.#scan?.brackets.isOdd === true) this.#odd ??= { line, column };
		const element = { text: this.#text.slice(this.#at, end), line, column };
		this.#advance(end);
		this.#scan = undefined;
		this.#expects = "comma or end";
		return element;
	}

	/** Past the last character of the element; undefined when it has not come yet. */
	#elementEnd(): number | undefined {
		const text = this.#text;
		this.#scan ??= { at: this.#at, brackets: new Brackets() };
		const { brackets } = this.#scan;
		let { at } = this.#scan;
		while (at < text.length) {
			const unit = text.charCodeAt(at);
			if (unit === 0x22) {
				const end = stringEnd(text, at);
				this.#checkString(at, end);
				if (this.stop !== undefined) return undefined;
				if (end > text.length) break;
				at = end;
				if (brackets.depth === 0) return at;
				continue;
			}
			if (unit === 0x7b || unit === 0x5b) brackets.open(unit);
			else if (unit === 0x7d || unit === 0x5d) {
				if (brackets.depth === 0) return Math.max(at, this.#at + 1);
				brackets.close(unit);
				if (brackets.depth === 0) return at + 1;
			} else if (brackets.depth === 0 && at > this.#at && (unit === 0x2c || unit <= 0x20)) return at;
			at++;
		}
		this.#scan.at = at;
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
		this.#cursor.advance(this.#text, this.#at, to);
		this.#at = to;
	}

	get #place(): Place {
		return { line: this.#cursor.line, column: this.#cursor.column };
	}

	/** Stops at the place in a row that never ends where its missing bracket belongs. */
	#stopInside(): void {
		const text = this.#text.slice(this.#at);
		try {
			parseMembers(text, MANIFEST_JSON, []);
		} catch (error) {
			if (!(error instanceof JsonFault) || error.atEnd) return;
			const { line, column } = this.#cursor;
			this.stop ??= new ReadingStop(error.code, error.message, positionIn(text, error.offset, line, column));
		}
	}

	/** An earlier surplus bracket is the cause of all later faults. */
	#end(stop: ReadingStop): undefined {
		this.stop ??= this.#stray ?? stop;
	}

	#fault(text: string, code = "BAD_JSON"): ReadingStop {
		return new ReadingStop(code, text, this.#place);
	}
}

/** The brackets that are open in a text, by which a stray one is noticed where it stands. */
class Brackets {
	/** those that opened, by their character codes */
	readonly #open: number[] = [];
	/** how many of them are braces */
	#braces = 0;
	/** whether any did not meet its own kind */
	isOdd = false;

	get depth(): number {
		return this.#open.length;
	}

	open(unit: number): void {
		this.#open.push(unit);
		if (unit === 0x7b) this.#braces++;
	}

	/** Closes the last bracket of that kind with those inside it, or the last of all where none of its kind is open. */
	close(unit: number): void {
		const opening = unit === 0x7d ? 0x7b : 0x5b;
		const count = opening === 0x7b ? this.#braces : this.#open.length - this.#braces;
		let kind = this.#pop();
		if (kind !== opening) this.isOdd = true;
		while (count > 0 && kind !== opening) kind = this.#pop();
	}

	#pop(): number | undefined {
		const kind = this.#open.pop();
		if (kind === 0x7b) this.#braces--;
		return kind;
	}
}
