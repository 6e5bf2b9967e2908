/** Marks that a collation without accents ignores: of Latin, Cyrillic and Greek, Hebrew and Arabic points, kana. */
const MARKS =
	/[\u0300-\u036f]|[\u0483-\u0487]|[\u0591-\u05bd]|[\u064b-\u0652]|\u0670|[\u1ab0-\u1aff]|[\u1dc0-\u1dff]|[\u20d0-\u20f0]|\u3099|\u309a|[\ufe20-\ufe2f]/g;

/** Characters without weight: soft hyphens, joiners, directions, variants. */
const IGNORED = /\u00ad|[\u200b-\u200f]|[\u202a-\u202e]|[\u2060-\u2064]|[\ufe00-\ufe0f]|\ufeff/g;
const SMALL_KANA = /[ァィゥェォッャュョヮ]/g;
const HIRAGANA = /[\u3041-\u3096]/g;

/**
 * A name as MySQL's `utf8mb4_unicode_ci` compares it: names of one folded form are one name. RAGFlow runs its database
 * with that collation (docker/docker-compose-base.yml, v0.18.0 to v0.27.0; with helm, with `utf8mb4_general_ci`, which
 * differs in letters of rare scripts). Case, accents, widths and blanks at the end do not count, and all characters above
 * U+FFFF are equal.
 *
 * It only approximates the collation. Before a document is written or a file is left out because of it, the service is asked.
 */
export function foldedName(name: string): string {
	return name
		.replaceAll(/[\u{10000}-\u{10ffff}]/gu, "\ufffd")
		.normalize("NFKD")
		.replaceAll(MARKS, "")
		.replaceAll(IGNORED, "")
		.replaceAll(HIRAGANA, (kana) => String.fromCodePoint(kana.charCodeAt(0) + 0x60))
		.replaceAll(SMALL_KANA, (kana) => String.fromCodePoint(kana.charCodeAt(0) + 1))
		.toLowerCase()
		.toUpperCase()
		.replace(/ +$/, "");
}

/** A name without differences that a person overlooks: letter case, composition of letters, blanks at the end. */
export function caselessName(name: string): string {
	return name.normalize("NFC").toLowerCase().toUpperCase().trimEnd();
}

/** Whether two texts are the same but for letter case. */
export function differsByCase(left: string, right: string): boolean {
	return left !== right && left.toLowerCase() === right.toLowerCase();
}

/** Whether two words differ by at most one letter: one changed, missing, added, or two neighbours swapped. */
export function isOneLetterApart(left: string, right: string): boolean {
	const [short, long] = left.length <= right.length ? [left, right] : [right, left];
	if (long.length - short.length > 1) return false;
	let at = 0;
	while (at < short.length && short[at] === long[at]) at++;
	if (short.length !== long.length) return short.slice(at) === long.slice(at + 1);
	if (short.slice(at + 1) === long.slice(at + 1)) return true;
	return short[at] === long[at + 1] && short[at + 1] === long[at] && short.slice(at + 2) === long.slice(at + 2);
}

/**
 * The same text for ids of one document. RAGFlow's ids are 32 hexadecimal digits, and its database compares them without
 * letter case; other ids are taken as they are.
 */
export function idKey(id: string): string {
	return /^[0-9a-f]{32}$/i.test(id) ? id.toLowerCase() : id;
}

/**
 * Whether a document may be stored under a name: a plain file name, or several with slashes between them. It has no character
 * that a terminal or a header would interpret, and no `..`, which stores of objects refuse.
 */
export function isStoredName(name: string): boolean {
	return name.split("/").every(isPlainName);
}

function isPlainName(name: string): boolean {
	return !/[\\\p{Cc}\p{Surrogate}]/u.test(name) && name.trim() !== "" && name !== "." && name !== "..";
}

/** A path as a name without folders: `hr__a.pdf`. */
export function flatName(path: string): string {
	return path.replaceAll("/", "__");
}
