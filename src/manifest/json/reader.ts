import { jsonFailedRows } from "../failed-rows.ts";
import { emptyDraft, type Draft, type HeadFault, type RawRow, type RowReader } from "../rows/draft.ts";
import type { ManifestOptions, SourceRecord } from "../types.ts";
import { ElementSplitter, type Element } from "./elements.ts";
import { LineSplitter } from "./lines.ts";
import { MemberNames } from "./names.ts";
import { draftOf } from "./object.ts";
import { JsonFault, parseMembers, type Member } from "./parse.ts";

/** Reads a JSON array or JSON lines: each object is a row. */
export class JsonReader implements RowReader {
	readonly format: "json" | "jsonl";
	readonly failedRows = jsonFailedRows;
	readonly #splitter: ElementSplitter | LineSplitter;
	readonly #options: ManifestOptions;
	readonly #names: MemberNames;
	#ended = false;

	constructor(format: "json" | "jsonl", options: ManifestOptions) {
		this.format = format;
		this.#options = options;
		this.#splitter = format === "json" ? new ElementSplitter() : new LineSplitter();
		this.#names = new MemberNames(options);
	}

	get tail(): { readonly text: string; readonly line: number; readonly column: number } {
		return this.#splitter.tail;
	}

	push(text: string): RawRow[] {
		return this.#splitter.push(text).map(rawRow);
	}

	end(): RawRow[] {
		const rows = this.#splitter.end().map(rawRow);
		this.#ended = true;
		return rows;
	}

	/** What no single row can tell: that no row at all has a member that an option names. */
	headFaults(): HeadFault[] {
		if (!this.#ended) return [];
		return this.#names.unused().map(([flag, field]) => {
			const text = `${flag} names a member that no row has`;
			return { field, code: "NO_SUCH_COLUMN", text, line: 1, column: 1 };
		});
	}

	draft(raw: RawRow): Draft {
		try {
			return draftOf(parseMembers(raw.text), this.#names, this.#options);
		} catch (error) {
			if (!(error instanceof JsonFault)) throw error;
			const draft = emptyDraft();
			const { code, message, offset } = error;
			draft.isReadable = false;
			draft.faults.push({ field: this.fieldAt(raw, offset), code, text: message, offset });
			return draft;
		}
	}

	source(raw: RawRow): SourceRecord {
		return { kind: "json", text: raw.text };
	}

	offsetOf(raw: RawRow, field: string): number {
		const members = parseMembers(raw.text);
		for (const [name, member] of members) {
			if (this.#names.of(name) === field) return member.valueStart;
		}
		const outer = members.get("meta_fields");
		const inner = outer === undefined ? undefined : this.#inner(raw.text, outer, field);
		return inner ?? 0;
	}

	/** The outermost member before a fault: found by its name, because the text around it can't be parsed. */
	fieldAt(raw: RawRow, offset: number): string | null {
		const names = raw.text.slice(0, offset).matchAll(/"((?:[^"\\]|\\.)*)"\s*:/g);
		let field: string | null = null;
		for (const [, name = ""] of names) field = name;
		const here = /^"((?:[^"\\]|\\.)*)"\s*:/.exec(raw.text.slice(offset));
		return here?.[1] ?? field;
	}

	#inner(text: string, outer: Member, field: string): number | undefined {
		if (text.charAt(outer.valueStart) !== "{") return undefined;
		for (const [name, { valueStart }] of parseMembers(text.slice(outer.valueStart, outer.end))) {
			if (this.#names.of(name) === field) return outer.valueStart + valueStart;
		}
		return undefined;
	}
}

function rawRow({ text, line, column }: Element): RawRow {
	return { text, line, column, cells: undefined, fault: undefined };
}
