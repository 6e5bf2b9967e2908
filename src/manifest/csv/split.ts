import { type Fault, ReadingStop, lineFeeds, positionIn } from "../fault.ts";
import { MAX_CELL, MAX_RECORD } from "../limits.ts";

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

type Scan = { end: number; fault: Fault | undefined };

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
	#feed = -1;
	/** whether the text holds anything that each record must be searched for */
	#odd = false;

	constructor(delimiter: string, line: number) {
		this.#delimiter = delimiter;
		this.#line = line;
	}

	/** The text that is not divided yet, and its line. */
	get tail(): { readonly text: string; readonly line: number } {
		return { text: this.#text.slice(this.#at), line: this.#line };
	}

	/** A cell or record that is longer than allowed ends the reading. */
	push(text: string): CsvRecord[] {
		this.#text = this.#at < this.#text.length ? this.#text.slice(this.#at) + text : text;
		this.#at = 0;
		this.#feed = -1;
		this.#odd = this.#text.includes("\r") || this.#text.includes("\0");
		return this.#records(false);
	}

	/** The record that no line end follows. A quote that is never closed ends the reading. */
	end(): CsvRecord[] {
		return this.#records(true);
	}

	#records(last: boolean): CsvRecord[] {
		const records: CsvRecord[] = [];
		try {
			this.#cut(records, last);
		} catch (error) {
			if (!(error instanceof ReadingStop)) throw error;
			this.stop = error;
		}
		return records;
	}

	/** @throws Stop */
	#cut(records: CsvRecord[], last: boolean): void {
		const text = this.#text;
		let quote = text.indexOf('"', this.#at);
		while (this.#at < text.length) {
			const start = this.#at;
			if (quote !== -1 && quote < start) quote = text.indexOf('"', start);
			const feed = text.indexOf("\n", start);
			if (quote !== -1 && (feed === -1 || quote < feed)) {
				const scan = this.#scan(start, last);
				if (scan === undefined) break;
				this.#take(records, scan, true);
			} else {
				if (feed === -1 && !last) break;
				this.#take(records, { end: feed === -1 ? text.length : feed, fault: undefined }, false);
			}
		}
		if (text.length - this.#at > MAX_RECORD) throw this.#tooLong(this.#at, "a row", MAX_RECORD);
	}

	/** @param scan `end` is the line feed that ends the record, or the end of the text */
	#take(records: CsvRecord[], scan: Scan, quoted: boolean): void {
		const start = this.#at;
		const line = this.#line;
		const { end } = scan;
		const cut = end > start && this.#text.charCodeAt(end - 1) === 0x0d ? end - 1 : end;
		this.#at = end + 1;
		this.#line += quoted ? lineFeeds(this.#text, start, end) + 1 : 1;
		if (cut === start) return;
		const text = this.#text.slice(start, cut);
		if (text.length > MAX_RECORD) throw this.#tooLong(start, "a row", MAX_RECORD, line);
		records.push({ text, line, quoted, fault: scan.fault ?? (this.#odd ? oddFault(text, quoted) : undefined) });
	}

	/** Follows the quotes of a record; undefined when its end has not come yet. */
	#scan(start: number, last: boolean): Scan | undefined {
		const text = this.#text;
		let at = start;
		let fault: Fault | undefined;
		for (;;) {
			if (text.charCodeAt(at) === 0x22) {
				const close = closingQuote(text, at);
				if (close === undefined) return this.#unclosed(at, last);
				if (close - at > MAX_CELL) throw this.#tooLong(at, "a cell", MAX_CELL);
				at = close + 1;
				if (at >= text.length && !last) return undefined;
				const follows = this.#afterQuote(at, start);
				if (follows !== undefined) {
					// The quotes of this line can't be trusted any more, so the next line starts a new record.
					const feed = text.indexOf("\n", at);
					if (feed === -1 && !last) return undefined;
					return { end: feed === -1 ? text.length : feed, fault: fault ?? follows };
				}
			} else {
				const stop = this.#bareEnd(at);
				if (stop >= text.length && !last) return undefined;
				fault ??= bareFault(text, at, stop, start);
				at = stop;
			}
			if (at >= text.length) return { end: text.length, fault };
			if (text.charCodeAt(at) === 0x0d) at++;
			// The line feed of this carriage return may come with the next piece.
			if (at >= text.length && !last) return undefined;
			if (at >= text.length || text.charCodeAt(at) === 0x0a) return { end: at, fault };
			at++;
			if (at >= text.length && !last) return undefined;
			if (at >= text.length) return { end: text.length, fault };
		}
	}

	#unclosed(at: number, last: boolean): undefined {
		const where = positionIn(this.#text.slice(this.#at), at - this.#at, this.#line);
		if (last) throw new ReadingStop("UNCLOSED_QUOTE", "the quote that opens here is never closed", where);
		if (this.#text.length - at > MAX_CELL) {
			throw new ReadingStop(
				"UNCLOSED_QUOTE",
				`the quote that opens here is not closed within ${MAX_CELL} characters`,
				where,
			);
		}
		return undefined;
	}

	/** The fault of the character after a closing quote, if it has one. */
	#afterQuote(at: number, start: number): Fault | undefined {
		const next = this.#text.charAt(at);
		if (next === "" || next === "\n" || next === this.#delimiter) return undefined;
		if (next === "\r") {
			const after = this.#text.charAt(at + 1);
			return after === "\n" || after === "" ? undefined : loneReturn(at - start);
		}
		const text = "text follows a closing quote; a quote inside a quoted cell is written twice";
		return { field: null, code: "TEXT_AFTER_QUOTE", text, offset: at - start };
	}

	/** The end of a cell without quotes: its delimiter, its line end or the end of the text. */
	#bareEnd(at: number): number {
		const text = this.#text;
		const delimiter = text.indexOf(this.#delimiter, at);
		const feed = this.#feedFrom(at);
		const end = feed === -1 ? text.length : feed > at && text.charCodeAt(feed - 1) === 0x0d ? feed - 1 : feed;
		return delimiter === -1 || delimiter > end ? end : delimiter;
	}

	/** The next line feed. It is kept, as a row may have a million cells. */
	#feedFrom(at: number): number {
		if (this.#feed < at) {
			const feed = this.#text.indexOf("\n", at);
			this.#feed = feed === -1 ? Number.POSITIVE_INFINITY : feed;
		}
		return Number.isFinite(this.#feed) ? this.#feed : -1;
	}

	#tooLong(at: number, what: string, limit: number, line = this.#line): ReadingStop {
		const where = positionIn(this.#text.slice(this.#at), Math.max(at - this.#at, 0), line);
		return new ReadingStop("TOO_LONG", `${what} of more than ${limit} characters`, where);
	}
}

function closingQuote(text: string, open: number): number | undefined {
	let at = text.indexOf('"', open + 1);
	while (at !== -1 && text.charCodeAt(at + 1) === 0x22) at = text.indexOf('"', at + 2);
	return at === -1 ? undefined : at;
}

function bareFault(text: string, at: number, end: number, start: number): Fault | undefined {
	const cell = text.slice(at, end);
	const quote = cell.indexOf('"');
	const carriage = cell.indexOf("\r");
	if (carriage !== -1 && (quote === -1 || carriage < quote)) return loneReturn(at - start + carriage);
	if (quote === -1) return undefined;
	const why = "a quote stands in a cell that is not quoted; quote the cell and write the quote twice";
	return { field: null, code: "BARE_QUOTE", text: why, offset: at - start + quote };
}

function oddFault(text: string, quoted: boolean): Fault | undefined {
	const nul = text.indexOf("\0");
	if (nul !== -1) return { field: null, code: "NUL", text: "a NUL character, which no value can hold", offset: nul };
	// Inside quotes a carriage return belongs to the value; outside them it was seen while the quotes were followed.
	const carriage = quoted ? -1 : text.indexOf("\r");
	return carriage === -1 ? undefined : loneReturn(carriage);
}

function loneReturn(offset: number): Fault {
	const text = "a carriage return without a line feed; save the file with LF or CRLF line ends";
	return { field: null, code: "LONE_CR", text, offset };
}
