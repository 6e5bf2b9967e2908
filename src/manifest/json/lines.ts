import { ReadingStop } from "../fault.ts";
import { MANIFEST_JSON, MAX_RECORD } from "../limits.ts";
import type { Element } from "./elements.ts";
import { JsonFault } from "../../json/rules.ts";
import { parseMembers } from "../../json/parser.ts";

/** Divides JSON lines: one object a line; blank lines count as lines and are no rows. */
export class LineSplitter {
	#text = "";
	#line = 1;
	#isFirst = true;
	/** the fault that ends the reading after the last elements */
	stop: ReadingStop | undefined;

	get tail(): { readonly text: string; readonly line: number; readonly column: number } {
		return { text: this.#text, line: this.#line, column: 1 };
	}

	push(text: string): Element[] {
		const lines = (this.#text + text).split("\n");
		this.#text = lines.pop() ?? "";
		const elements = this.#elements(lines);
		if (this.#text.length > MAX_RECORD) this.stop ??= tooLong(this.#line);
		return elements;
	}

	end(): Element[] {
		const text = this.#text;
		this.#text = "";
		return this.#elements([text]);
	}

	#elements(lines: readonly string[]): Element[] {
		const elements: Element[] = [];
		for (const text of lines) {
			const line = this.#line++;
			if (!/[^ \t\r]/.test(text)) continue;
			this.stop = text.length > MAX_RECORD ? tooLong(line) : this.#isFirst ? spread(text, line) : undefined;
			if (this.stop !== undefined) break;
			this.#isFirst = false;
			elements.push({ text: text.trimEnd(), line, column: 1 });
		}
		return elements;
	}
}

function tooLong(line: number): ReadingStop {
	return new ReadingStop("TOO_LONG", `a row of more than ${MAX_RECORD} characters`, { line, column: 1 });
}

/** An object over several lines would otherwise be one problem for each of its lines. */
function spread(text: string, line: number): ReadingStop | undefined {
	try {
		parseMembers(text, MANIFEST_JSON, []);
	} catch (error) {
		if (!(error instanceof JsonFault) || !error.atEnd) return undefined;
		const why = "the object is not whole on its line; JSON lines hold one object a line, a JSON array takes any layout";
		return new ReadingStop("NOT_JSON_LINES", why, { line, column: 1 });
	}
	return undefined;
}
