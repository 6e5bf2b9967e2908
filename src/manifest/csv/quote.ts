/** A cell as RFC 4180 writes it. Other delimiters are quoted too, so that no reader takes them for the file's own. */
export function quote(cell: string, delimiter = ","): string {
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
