import type { CsvRecord } from "./split.ts";

/** The cells of a record; undefined for a record with a fault. */
export function cellsOf({ text, quoted, fault }: CsvRecord, delimiter: string): readonly string[] | undefined {
	if (fault !== undefined) return undefined;
	if (!quoted) return text.split(delimiter);
	const cells: string[] = [];
	for (let at = 0, end = 0; end !== -1; at = end + 1) {
		end = cellEnd(text, at, delimiter);
		const cell = text.slice(at, end === -1 ? undefined : end);
		cells.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
	}
	return cells;
}

/** The delimiter after the cell that begins at an offset; -1 after the last cell. */
function cellEnd(text: string, start: number, delimiter: string): number {
	const end = text.charCodeAt(start) === 0x22 ? closingQuote(text, start) : start;
	return end === undefined ? -1 : text.indexOf(delimiter, end);
}

/** The quote that closes the one at an offset; undefined where none does. */
export function closingQuote(text: string, open: number): number | undefined {
	let at = text.indexOf('"', open + 1);
	while (at !== -1 && text.charCodeAt(at + 1) === 0x22) at = text.indexOf('"', at + 2);
	return at === -1 ? undefined : at;
}

/** The beginnings of the cells of a record, in UTF-16 units of its text. They are kept, as a row may have many faults. */
export class CellStarts {
	readonly text: string;
	readonly #delimiter: string;
	readonly #starts: number[] = [0];
	#isWhole = false;

	constructor(text: string, delimiter: string) {
		this.text = text;
		this.#delimiter = delimiter;
	}

	/** The end of the text for a cell that the record does not have. */
	of(cell: number): number {
		while (!this.#isWhole && cell >= this.#starts.length) this.#next();
		return this.#starts[cell] ?? this.text.length;
	}

	/** The cell that holds an offset. */
	at(offset: number): number {
		while (!this.#isWhole && (this.#starts.at(-1) ?? 0) <= offset) this.#next();
		return this.#starts.findLastIndex((start) => start <= offset);
	}

	#next(): void {
		const next = cellEnd(this.text, this.#starts.at(-1) ?? 0, this.#delimiter);
		if (next === -1) this.#isWhole = true;
		else this.#starts.push(next + 1);
	}
}

/** A cell as RFC 4180 writes it. Other delimiters are quoted too, so that no reader takes them for the file's own. */
function quote(cell: string, delimiter = ","): string {
	// A record of one empty or blank cell would be a blank line.
	if (!/[",;\t|\r\n]/.test(cell) && !cell.includes(delimiter)) return cell;
	return `"${cell.replaceAll('"', '""')}"`;
}

/** A record with its line end. */
export function csvLine(cells: readonly string[], delimiter = ","): string {
	// One blank cell alone would be read as a blank line.
	if (cells.length === 1 && cells[0]?.trim() === "") return `"${cells[0]}"\n`;
	return `${cells.map((cell) => quote(cell, delimiter)).join(delimiter)}\n`;
}
