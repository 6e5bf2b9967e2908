import { Stop } from "../fault.ts";
import { MAX_RECORD } from "../limits.ts";
import type { Element } from "./elements.ts";
import { JsonFault, parseMembers } from "./parse.ts";

/** Divides JSON lines: one object a line; blank lines count as lines and are no rows. */
export class LineSplitter {
	#text = "";
	#line = 1;
	#isFirst = true;

	get tail(): { readonly text: string; readonly line: number; readonly column: number } {
		return { text: this.#text, line: this.#line, column: 1 };
	}

	/** @throws Stop */
	push(text: string): Element[] {
		const lines = (this.#text + text).split("\n");
		this.#text = lines.pop() ?? "";
		if (this.#text.length > MAX_RECORD) this.#tooLong(this.#line + lines.length);
		return lines.flatMap((line) => this.#element(line));
	}

	/** @throws Stop */
	end(): Element[] {
		const text = this.#text;
		this.#text = "";
		return this.#element(text);
	}

	#element(text: string): Element[] {
		const line = this.#line++;
		const start = text.search(/[^ \t\r]/);
		if (start === -1) return [];
		if (text.length > MAX_RECORD) this.#tooLong(line);
		if (this.#isFirst) refuseSpread(text, line);
		this.#isFirst = false;
		return [{ text: text.trimEnd(), line, column: 1 }];
	}

	#tooLong(line: number): never {
		throw new Stop("TOO_LONG", `a row of more than ${MAX_RECORD} characters`, { line, column: 1 });
	}
}

/** An object over several lines would otherwise be one problem for each of its lines. */
function refuseSpread(text: string, line: number): void {
	try {
		parseMembers(text);
	} catch (error) {
		if (!(error instanceof JsonFault) || !error.atEnd) return;
		const why = "the object is not whole on its line; JSON lines hold one object a line, a JSON array takes any layout";
		throw new Stop("NOT_JSON_LINES", why, { line, column: 1 });
	}
}
