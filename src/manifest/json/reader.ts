import { MANIFEST_JSON, MAX_RECORD } from "../limits.ts";
import { jsonFailedRows } from "../failed-rows.ts";
import { ReadingStop } from "../fault.ts";
import { type ParsedRow, emptyRow, type RawRow, type RowReader } from "../rows/row-reader.ts";
import { PURPOSES } from "../purposes.ts";
import type { ManifestOptions } from "../types.ts";
import { ElementSplitter } from "./elements.ts";
import { memberNames, memberOffsets, rowOfMembers } from "./object.ts";
import { parseMembers } from "../../json/parser.ts";
import { JsonFault } from "../../json/lexer.ts";

/** Reads a JSON array or JSON lines: each object is a row. */
export function jsonReader(format: "json" | "jsonl", options: ManifestOptions): RowReader {
	const splitter = format === "json" ? new ElementSplitter() : new LineSplitter();
	const names = memberNames(options);
	const { hasFile } = PURPOSES[options.purpose].subject;
	let isEnded = false;
	/** the beginnings of the values of the latest row with a fault: a row may have many faults */
	let offsets: { readonly text: string; readonly of: ReadonlyMap<string, number> } | undefined;
	return {
		format,
		failedRows: jsonFailedRows(hasFile ? (member) => names.of(member) : undefined),
		keyColumns: undefined,
		get stop() {
			return splitter.stop;
		},
		/** Members that an option names and no row has, which is known only after the last row. */
		get headFaults() {
			if (!isEnded) return [];
			return names.unused().map(([flag, field]) => {
				const text = `${flag} names a member that no row has`;
				return { field, code: "NO_SUCH_COLUMN", text, line: 1, column: 1 };
			});
		},
		push: (text) => splitter.push(text),
		end() {
			isEnded = true;
			return splitter.end();
		},
		parse(raw) {
			const faults: JsonFault[] = [];
			let parsed: ParsedRow;
			try {
				parsed = rowOfMembers(parseMembers(raw.text, MANIFEST_JSON, faults), names, options);
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
		},
		offsetOf({ text }, field) {
			if (offsets?.text !== text) offsets = { text, of: memberOffsets(text, names) };
			return offsets.of.get(field) ?? 0;
		},
	};
}

/** Divides JSON lines: one object a line; blank lines count as lines and are no rows. */
class LineSplitter {
	#text = "";
	#line = 1;
	#isFirst = true;
	/** the fault that ends the reading after the last elements */
	stop: ReadingStop | undefined;

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
