/** The columns that a text takes on a terminal: wide characters take two, and combining ones none. */
export type WidthOf = (text: string) => number;

/** The beginning of a text that takes at most so many columns. No visible character is divided. */
export function cutToWidth(text: string, width: number, widthOf: WidthOf): string {
	if (widthOf(text) <= width) return text;
	let kept = "";
	let room = width;
	// One visible character, such as a flag or a letter with its accents, may be several code points.
	for (const { segment } of new Intl.Segmenter().segment(text)) {
		room -= widthOf(segment);
		if (room < 0) return kept;
		kept += segment;
	}
	return kept;
}
