import { isOneLetterApart } from "../../text/names.ts";

/** The most words that are compared letter by letter, each with each. Case and blanks are compared among all words. */
const MOST_COMPARED = 2_000;

/** Characters: in a shorter word, one other letter is no likely misspelling. */
const SHORTEST_COMPARED = 4;

/**
 * Words that are probably misspellings of commoner ones: they differ by case, blanks or one letter. Words with other
 * digits are other words: `2024` is no misspelling of `2025`.
 *
 * @param words different ones, the commonest first
 * @returns for each misspelled word the commoner words that it is like
 */
export function spellings(words: readonly string[]): ReadonlyMap<string, readonly string[]> {
	const found = new Map<string, string[]>();
	const commonest = new Map<string, string>();
	for (const word of words) {
		const folded = fold(word);
		const same = commonest.get(folded);
		if (same === undefined) commonest.set(folded, word);
		else found.set(word, [same]);
	}
	if (commonest.size > MOST_COMPARED) return found;
	const firsts = [...commonest];
	for (const [at, [folded, word]] of firsts.entries()) {
		const like = firsts.slice(0, at).filter(([other]) => isSlip(folded, other));
		if (like.length > 0) found.set(word, [...(found.get(word) ?? []), ...like.map(([, other]) => other)]);
	}
	return found;
}

/**
 * The known word that a typed one probably means; undefined where none or several are as near.
 *
 * @param all the commonest first: of words that differ by case and blanks alone, the commonest is meant
 */
export function closest(typed: string, all: readonly string[]): string | undefined {
	for (const isNear of [
		(word: string) => fold(word) === fold(typed),
		(word: string) => isOneLetterApart(fold(word), fold(typed)),
	]) {
		const [first, ...others] = all.filter(isNear);
		if (first !== undefined) return others.every((other) => fold(other) === fold(first)) ? first : undefined;
	}
	return undefined;
}

/** Without case and Unicode form, and with blanks, dashes and underscores as one. */
function fold(word: string): string {
	return word
		.normalize("NFKC")
		.trim()
		.toLowerCase()
		.replaceAll(/[\s_-]+/gu, " ");
}

function isSlip(one: string, other: string): boolean {
	if (Math.min(one.length, other.length) < SHORTEST_COMPARED) return false;
	return isOneLetterApart(one, other) && digitsOf(one) === digitsOf(other);
}

function digitsOf(word: string): string {
	return word.replaceAll(/\P{Number}/gu, "");
}
