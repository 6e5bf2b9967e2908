import { parse } from "csv-parse/sync";
import type { CsvRecord } from "./split.ts";

/** Records that are handed to csv-parse at once: it takes ten microseconds to start. */
const BATCH = 128;

/**
 * The cells of each record; none for a record with a fault.
 *
 * A record without a quote is divided by the delimiter alone, which a property test holds against csv-parse; csv-parse
 * unquotes the rest.
 */
export function cellsOf(records: readonly CsvRecord[], delimiter: string): (readonly string[] | undefined)[] {
	const cells: (readonly string[] | undefined)[] = [];
	let waiting: number[] = [];
	const unquote = (): void => {
		const texts = waiting.map((index) => records[index]?.text ?? "");
		const parsed = parse(texts.join("\n"), OPTIONS(delimiter));
		for (const [order, index] of waiting.entries()) cells[index] = parsed[order];
		waiting = [];
	};
	for (const [index, record] of records.entries()) {
		cells.push(undefined);
		if (record.fault !== undefined) continue;
		if (!record.quoted) cells[index] = record.text.split(delimiter);
		else if (waiting.push(index) === BATCH) unquote();
	}
	if (waiting.length > 0) unquote();
	return cells;
}

function OPTIONS(delimiter: string): { delimiter: string; record_delimiter: string; relax_column_count: true } {
	return { delimiter, record_delimiter: "\n", relax_column_count: true };
}

/** Where each cell of a record begins, in UTF-16 units of its text. Only asked for where a problem is shown. */
export function cellStart(text: string, delimiter: string, index: number): number {
	let at = 0;
	for (let cell = 0; cell < index; cell++) {
		if (text.charCodeAt(at) === 0x22) {
			at = text.indexOf('"', at + 1);
			while (at !== -1 && text.charCodeAt(at + 1) === 0x22) at = text.indexOf('"', at + 2);
			if (at === -1) return text.length;
		}
		const next = text.indexOf(delimiter, at);
		if (next === -1) return text.length;
		at = next + 1;
	}
	return at;
}
