import { MANIFEST_JSON, MAX_RECORD } from "../limits.ts";
import { jsonFailedRows } from "../failed-rows.ts";
import { ReadingStop } from "../fault.ts";
import { type ParsedRow, emptyRow, type HeadFault, type RawRow, type RowReader } from "../rows/row-reader.ts";
import { PURPOSES } from "../purposes.ts";
import type { ManifestOptions } from "../types.ts";
import { ElementSplitter } from "./elements.ts";
import { memberNames, memberOffsets, type MemberNames, rowOfMembers } from "./object.ts";
import { parseMembers } from "../../json/parser.ts";
import { JsonFault } from "../../json/lexer.ts";

/** Reads a JSON array or JSON lines: each object is a row. */
export class JsonReader implements RowReader {
	readonly format: "json" | "jsonl";
	readonly failedRows: RowReader["failedRows"];
	readonly keyColumns = undefined;
	readonly #splitter: ElementSplitter | LineSplitter;
	readonly #options: ManifestOptions;
	readonly #names: MemberNames;
	#ended = false;
	/** the beginnings of the values of the latest row with a fault: a row may have many faults */
	#offsets: { readonly text: string; readonly of: ReadonlyMap<string, number> } | undefined;

	constructor(format: "json" | "jsonl", options: ManifestOptions) {
		this.format = format;
		this.#options = options;
		this.#splitter = format === "json" ? new ElementSplitter() : new LineSplitter();
		this.#names = memberNames(options);
		this.failedRows = jsonFailedRows(
			PURPOSES[options.purpose].subject.hasFile ? (member) => this.#names.of(member) : undefined,
		);
	}

	get tail(): { readonly text: string; readonly line: number; readonly column: number } {
		return this.#splitter.tail;
	}

	get stop(): ReadingStop | undefined {
		return this.#splitter.stop;
	}

	push(text: string): RawRow[] {
		return this.#splitter.push(text);
	}

	end(): RawRow[] {
		this.#ended = true;
		return this.#splitter.end();
	}

	/** Members that an option names and no row has, which is known only after the last row. */
	get headFaults(): readonly HeadFault[] {
		if (!this.#ended) return [];
		return this.#names.unused().map(([flag, field]) => {
			const text = `${flag} names a member that no row has`;
			return { field, code: "NO_SUCH_COLUMN", text, line: 1, column: 1 };
		});
	}

	parse(raw: RawRow): ParsedRow {
		const faults: JsonFault[] = [];
		let parsed: ParsedRow;
		try {
			parsed = rowOfMembers(parseMembers(raw.text, MANIFEST_JSON, faults), this.#names, this.#options);
		} catch (error) {
			if (!(error instanceof JsonFault)) throw error;
			faults.push(error);
			parsed = emptyRow();
			parsed.isReadable = false;
		}
		for (const { members, code, message, offset } of faults) {
			const [outer, inner] = members;
			const field = outer === "meta_fields" ? (inner ?? outer) : outer;
			parsed.faults.push({ field, code, text: message, offset });
		}
		return parsed;
	}

	offsetOf({ text }: RawRow, field: string): number {
		if (this.#offsets?.text !== text) this.#offsets = { text, of: memberOffsets(text, this.#names) };
		return this.#offsets.of.get(field) ?? 0;
	}
}

/** Divides JSON lines: one object a line; blank lines count as lines and are no rows. */
class LineSplitter {
	#text = "";
	#line = 1;
	#isFirst = true;
	/** the fault that ends the reading after the last elements */
	stop: ReadingStop | undefined;

	get tail(): { readonly text: string; readonly line: number; readonly column: number } {
		return { text: this.#text, line: this.#line, column: 1 };
	}

	push(text: string): RawRow[] {
		const lines = (this.#text + text).split("\n");
		this.#text = lines.pop() ?? "";
		const elements = this.#elements(lines);
		if (this.#text.length > MAX_RECORD) this.stop ??= tooLong(this.#line);
		return elements;
	}

	end(): RawRow[] {
		const text = this.#text;
		this.#text = "";
		return this.#elements([text]);
	}

	#elements(lines: readonly string[]): RawRow[] {
		const elements: RawRow[] = [];
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
