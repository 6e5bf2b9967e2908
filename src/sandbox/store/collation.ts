/** Letters that the collation treats as two, and that no Unicode decomposition splits. */
const twoLetters: ReadonlyMap<string, string> = new Map([
	["ß", "ss"],
	["æ", "ae"],
	["œ", "oe"],
]);

/**
 * The key of a text: texts with the same key are equal to the database. It has no case, no accents, no invisible
 * characters and no blanks at the end.
 *
 * RAGFlow's MySQL compares by utf8mb4_unicode_ci, which pads with blanks (`--collation-server` in
 * docker/docker-compose-base.yml, v0.18.0 to v0.27.0). This follows its rule for letters as people type them, not its
 * whole table.
 */
export function collationKey(text: string): string {
	return partKey(text).replace(/ +$/, "");
}

/** The key of a part of a text, which may end with blanks. */
export function partKey(text: string): string {
	return text
		.normalize("NFKD")
		.replace(/[\p{M}\p{Cc}\p{Cf}]/gu, "")
		.toLowerCase()
		.replace(/[ßæœ]/g, (letter) => twoLetters.get(letter) ?? letter);
}
