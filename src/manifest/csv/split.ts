import { type Fault, ReadingStop, lineFeeds, positionIn } from "../fault.ts";
import { MAX_RECORD } from "../limits.ts";
import { cellStarts, closingQuote } from "./cells.ts";

/** A record as it stands in the file, without its line end. */
export type CsvRecord = {
	readonly text: string;
	/** the line it begins on, from 1 */
	readonly line: number;
	/** whether any cell is quoted; if not, the delimiter alone divides it */
	readonly quoted: boolean;
	/** what makes the record unreadable */
	readonly fault: Fault | undefined;
};

/**
 * Divides CSV text into records and counts lines as an editor does.
 *
 * It is strict where csv-parse is silent or stops: a bad record is reported, and the next line is read as usual.
 */
export class RecordSplitter {
	/** the fault that ends the reading after the last records */
	stop: ReadingStop | undefined;
	readonly #delimiter: string;
	#text = "";
	#at = 0;
	#line: number;

	constructor(delimiter: string, line: number) {
		this.#delimiter = delimiter;
		this.#line = line;
	}

	/** The records that this piece completes. One that is longer than allowed ends the reading. */
	push(text: string): CsvRecord[] {
		this.#text = this.#at < this.#text.length ? this.#text.slice(this.#at) + text : text;
		this.#at = 0;
		return this.#records(false);
	}

	/** The record that no line end follows. A quote that is never closed ends the reading. */
	end(): CsvRecord[] {
		return this.#records(true);
	}

	#records(isLast: boolean): CsvRecord[] {
		const text = this.#text;
		const records: CsvRecord[] = [];
		// Nearly no text has anything that each record must be searched for.
		const isOdd = text.includes("\r") || text.includes("\0");
		let quote = text.indexOf('"');
		while (this.#at < text.length) {
			const start = this.#at;
			if (quote !== -1 && quote < start) quote = text.indexOf('"', start);
			const feed = text.indexOf("\n", start);
			const quoted = quote !== -1 && (feed === -1 || quote < feed);
			const found = quoted ? this.#quoted(start, isLast) : { end: feed, fault: undefined };
			if (found === undefined || (found.end === -1 && !isLast)) break;
			const end = found.end === -1 ? text.length : found.end;
			const record = withoutReturn(text.slice(start, end));
			if (record.length > MAX_RECORD) break;
			const line = this.#line;
			this.#at = end + 1;
			this.#line += quoted ? lineFeeds(text, start, end) + 1 : 1;
			if (record === "") continue;
			const fault = found.fault ?? (isOdd ? oddFault(record, quoted) : undefined);
			records.push({ text: record, line, quoted, fault });
		}
		if (text.length - this.#at > MAX_RECORD) this.#stop("TOO_LONG", `a row of more than ${MAX_RECORD} characters`);
		return records;
	}

	/**
	 * The line feed that ends a record with quotes, or -1, and what is wrong with its quotes. After a fault none of them can be
	 * trusted, so the next line begins another record. Undefined where more text must come, or the reading ends.
	 */
	#quoted(start: number, isLast: boolean): (Pick<CsvRecord, "fault"> & { readonly end: number }) | undefined {
		const text = this.#text;
		const end = recordEnd(text, start);
		if (end === -1 && !isLast && text.length - start <= MAX_RECORD) return undefined;
		const fault = quoteFault(withoutReturn(text.slice(start, end === -1 ? undefined : end)), this.#delimiter);
		if (fault === undefined) return { end, fault };
		if (fault.code !== "UNCLOSED_QUOTE") return { end: text.indexOf("\n", start + fault.offset), fault };
		const within = isLast ? "never closed" : `not closed within ${MAX_RECORD} characters`;
		this.#stop(fault.code, `the quote that opens here is ${within}`, fault.offset);
		return undefined;
	}

	/** @param offset from where the text is not divided yet */
	#stop(code: string, text: string, offset = 0): void {
		this.stop ??= new ReadingStop(code, text, positionIn(this.#text.slice(this.#at), offset, this.#line));
	}
}

/** The first line feed outside quotes, which ends a record; -1 where there is none yet. */
export function recordEnd(text: string, start: number): number {
	let feed = text.indexOf("\n", start);
	let open = text.indexOf('"', start);
	while (open !== -1 && open < feed) {
		// A quote that is written twice closes and opens again.
		const close = text.indexOf('"', open + 1);
		if (close === -1) return -1;
		if (feed < close) feed = text.indexOf("\n", close);
		open = text.indexOf('"', close + 1);
	}
	return feed;
}

/** A carriage return at the end belongs to the line end. */
function withoutReturn(record: string): string {
	return record.endsWith("\r") ? record.slice(0, -1) : record;
}

const FAULTS = {
	NUL: "a NUL character, which no value can hold",
	LONE_CR: "a carriage return without a line feed; save the file with LF or CRLF line ends",
	BARE_QUOTE: "a quote stands in a cell that is not quoted; quote the cell and write the quote twice",
	TEXT_AFTER_QUOTE: "text follows a closing quote; a quote inside a quoted cell is written twice",
	UNCLOSED_QUOTE: "the quote that opens here is not closed",
} as const;

type FaultAt = Fault & { readonly offset: number };

function faultAt(code: keyof typeof FAULTS, offset: number): FaultAt {
	return { field: null, code, text: FAULTS[code], offset };
}

/** The first fault of the quotes of a record, and of carriage returns outside them. */
function quoteFault(text: string, delimiter: string): FaultAt | undefined {
	const starts = cellStarts(text, delimiter);
	for (const [index, start] of starts.entries()) {
		const cell = text.slice(start, (starts[index + 1] ?? text.length + 1) - 1);
		const isQuoted = cell.startsWith('"');
		const close = isQuoted ? closingQuote(cell, 0) : -1;
		if (isQuoted && close === -1) return faultAt("UNCLOSED_QUOTE", start);
		const odd = isQuoted ? close + 1 : cell.search(/["\r]/);
		if (odd === -1 || odd === cell.length) continue;
		if (cell[odd] === "\r") return faultAt("LONE_CR", start + odd);
		return faultAt(isQuoted ? "TEXT_AFTER_QUOTE" : "BARE_QUOTE", start + odd);
	}
	return undefined;
}

function oddFault(text: string, quoted: boolean): Fault | undefined {
	const nul = text.indexOf("\0");
	if (nul !== -1) return faultAt("NUL", nul);
	// Inside quotes a carriage return belongs to the value; outside them it was seen with the quotes.
	const carriage = quoted ? -1 : text.indexOf("\r");
	return carriage === -1 ? undefined : faultAt("LONE_CR", carriage);
}
