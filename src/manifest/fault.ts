import { excerpt } from "../text/show.ts";
import type { Problem } from "./types.ts";

/** What one option would read: as `{ what: "a decimal comma", option: "--decimal-comma" }`. */
export type Mend = { readonly what: string; readonly option: string };

/** One thing wrong with a record, before it is known where in the file the record stands. */
export type Fault = {
	/** column or member, as it is called after `--map`; null where the fault is in none */
	readonly field: string | null;
	/** stable name for scripts: `BAD_DATE`, `DUPLICATE`, `RAGGED` ... */
	readonly code: string;
	/** what is wrong, without the field's name */
	readonly text: string;
	/** where in the record's text, in UTF-16 units; when absent, where the field begins */
	readonly offset?: number;
	/** the metadata key whose value is at fault, where nothing else is: a document may have that value already */
	readonly ofValue?: string;
	/** the option that would read the value, where it certainly would */
	readonly mend?: Mend | undefined;
};

/** A fault as one sentence, with its field named. */
export function faultText({ field, text }: Pick<Fault, "field" | "text">): string {
	return field === null ? text : `${excerpt(field)}: ${text}`;
}

/** A fault with the file and the place that it is found in. */
export function problemOf(file: string, fault: Fault, { line, column } = { line: 1, column: 1 }): Problem {
	const { field, code, mend } = fault;
	return { file, line, column, field, code, text: faultText(fault), mend };
}

/**
 * Ends the reading of a manifest: no row after it can be trusted.
 *
 * It never leaves this folder: the first reading reports it as a problem, the second as a changed manifest.
 */
export class ReadingStop extends Error {
	override readonly name = "Stop";
	readonly code: string;
	/** line and column, both from 1, or undefined for the end of what was decoded so far */
	readonly at: { readonly line: number; readonly column: number } | undefined;

	constructor(code: string, message: string, at?: { readonly line: number; readonly column: number }) {
		super(message);
		this.code = code;
		this.at = at;
	}
}

/** Characters in a text: a pair of surrogates is one. */
function characters(text: string): number {
	return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

/** The number of line feeds in a text. A CRLF is one line end, as in an editor. */
export function lineFeeds(text: string, from = 0, to = text.length): number {
	// Cut out first: a search in the whole text goes on to the next line feed, however far away it is.
	const part = from === 0 && to === text.length ? text : text.slice(from, to);
	let count = 0;
	for (let at = part.indexOf("\n"); at !== -1; at = part.indexOf("\n", at + 1)) count++;
	return count;
}

/** The line and column of an offset, if the text begins at the given line and column (both from 1). */
export function positionIn(text: string, offset: number, line: number, column = 1): { line: number; column: number } {
	const lineStart = offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
	const before = characters(text.slice(lineStart, offset));
	return {
		line: line + lineFeeds(text, 0, offset),
		column: lineStart === 0 ? column + before : before + 1,
	};
}

/** The lines and columns of several offsets, in the given order. The text is read once. */
export function positionsIn(
	text: string,
	offsets: readonly number[],
	line: number,
	column = 1,
): readonly { readonly line: number; readonly column: number }[] {
	const places: { line: number; column: number }[] = offsets.map(() => ({ line, column }));
	const order = Array.from(offsets.keys()).toSorted((left, right) => (offsets[left] ?? 0) - (offsets[right] ?? 0));
	let place = { line, column };
	let from = 0;
	for (const index of order) {
		const to = offsets[index] ?? 0;
		place = positionIn(text.slice(from, to), to - from, place.line, place.column);
		places[index] = place;
		from = to;
	}
	return places;
}
