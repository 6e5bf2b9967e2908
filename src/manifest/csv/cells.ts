/** The beginnings of the cells of a record, in UTF-16 units of its text. */
export function cellStarts(text: string, delimiter: string): readonly number[] {
	const starts = [0];
	for (let at = 0; ;) {
		if (text.charCodeAt(at) === 0x22) at = closingQuote(text, at);
		const next = at === -1 ? -1 : text.indexOf(delimiter, at);
		if (next === -1) return starts;
		starts.push((at = next + 1));
	}
}

/** The quote that closes a cell; -1 where none does. One inside the cell is written twice. */
export function closingQuote(text: string, open: number): number {
	let at = text.indexOf('"', open + 1);
	while (at !== -1 && text.charCodeAt(at + 1) === 0x22) at = text.indexOf('"', at + 2);
	return at;
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
