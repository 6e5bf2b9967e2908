/** Letters that the collation takes for two, and that no Unicode decomposition divides. */
const pairs: ReadonlyMap<string, string> = new Map([
	["ß", "ss"],
	["æ", "ae"],
	["œ", "oe"],
]);

/**
 * What is the same of two texts that the database finds equal: without case, accents, blanks at the end, and characters
 * that do not show.
 *
 * RAGFlow's MySQL compares by utf8mb4_unicode_ci, which pads with blanks (`--collation-server` in
 * docker/docker-compose-base.yml, v0.18.0 to v0.27.0). This is its rule for letters as people type them, and not the table.
 */
export function alike(text: string): string {
	return letters(text).replace(/ +$/, "");
}

/** The same for a piece of a text, whose blanks count wherever they are. */
export function letters(text: string): string {
	return text
		.normalize("NFKD")
		.replace(/[\p{M}\p{Cc}\p{Cf}]/gu, "")
		.toLowerCase()
		.replace(/[ßæœ]/g, (letter) => pairs.get(letter) ?? letter);
}
