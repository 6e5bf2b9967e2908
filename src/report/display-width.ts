import stringWidth from "string-width";

/** The width of a text on a terminal, in columns: wide characters (CJK, emoji) take two, combining marks none. */
export function displayWidth(text: string): number {
	return stringWidth(text);
}

/** A text cut to a width in columns, with an ellipsis where something is left out. No character is divided. */
export function cutToWidth(text: string, width: number, ellipsis: string): string {
	if (displayWidth(text) <= width) return text;
	const room = width - displayWidth(ellipsis);
	let shown = "";
	let used = 0;
	// One visible character, such as a flag or a letter with its accents, may be several code points.
	for (const { segment } of new Intl.Segmenter().segment(text)) {
		used += displayWidth(segment);
		if (used > room) break;
		shown += segment;
	}
	return `${shown}${ellipsis}`;
}
