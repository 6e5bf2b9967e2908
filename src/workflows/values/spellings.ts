import { isOneLetterApart } from "../../text/names.ts";

/** The most words that are compared letter by letter, each with each. Case and blanks are compared among all words. */
const MOST_COMPARED = 2_000;

/** Characters: in a shorter word, one other letter is no likely misspelling. */
const SHORTEST_COMPARED = 4;

/**
 * Words that are probably misspellings of commoner ones: they differ by case, blanks, one letter, or the order of their
 * parts. Words with other digits are other words: `2024` is no misspelling of `2025`.
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
	const firsts = [...commonest];
	const ofPrint = new Map<string, string>();
	for (const [, word] of firsts) {
		const print = fingerprint(word);
		if (print === undefined) continue;
		const same = ofPrint.get(print);
		if (same === undefined) ofPrint.set(print, word);
		else found.set(word, [same]);
	}
	if (firsts.length > MOST_COMPARED) return found;
	for (const [at, [folded, word]] of firsts.entries()) {
		const like = firsts.slice(0, at).filter(([other]) => isSlip(folded, other));
		if (like.length === 0) continue;
		found.set(word, [...new Set([...(found.get(word) ?? []), ...like.map(([, other]) => other)])]);
	}
	return found;
}

/** The known word that a typed one probably means; undefined where none or several are as near. */
export function closest(typed: string, all: readonly string[]): string | undefined {
	const [first = "", ...others] = nearest(typed, all);
	// Of words that differ by case and blanks alone, the first is meant: the commonest.
	return others.every((other) => letters(other) === letters(first)) ? first || undefined : undefined;
}

/** Without case and Unicode form, and with blanks, dashes and underscores as one. */
function fold(word: string): string {
	return word
		.normalize("NFKC")
		.trim()
		.toLowerCase()
		.replaceAll(/[\s_-]+/gu, " ");
}

/**
 * The parts of a text without accents, each once, in the order of the alphabet: one text for `Department, Legal` and
 * `Legal Department`, as the key collision of OpenRefine makes it. Digits keep their order: two dates are two values.
 * Undefined where few letters are left, as of `C++` and `C#`.
 */
function fingerprint(word: string): string | undefined {
	const bare = word.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
	const parts = [...new Set(bare.match(/[\p{L}\p{N}]+/gu))].toSorted();
	const letters = parts.join("").replaceAll(/\P{L}/gu, "");
	return letters.length < SHORTEST_COMPARED ? undefined : `${parts.join(" ")}\0${digitsOf(bare)}`;
}

function isSlip(one: string, other: string): boolean {
	if (Math.min(one.length, other.length) < SHORTEST_COMPARED) return false;
	return isOneLetterApart(one, other) && digitsOf(one) === digitsOf(other);
}

function digitsOf(word: string): string {
	return word.replaceAll(/\P{Number}/gu, "");
}

/** Edits at most by which a word may differ from what was meant: a third of its letters. */
function mostEdits(word: string): number {
	return Math.min(3, Math.max(1, Math.floor(word.length / 3)));
}

/** Letters of a prefix that is taken for the whole word. */
const SHORTEST_PREFIX = 3;

/** The words that a mistyped one most likely means, all equally near: none, or a few. Case, dashes and `_` don't count. */
export function nearest(word: string, candidates: Iterable<string>): readonly string[] {
	const typed = letters(word);
	const words = [...new Set(candidates)];
	const same = words.filter((each) => letters(each) === typed);
	if (same.length > 0 || typed === "") return same;
	let least = mostEdits(typed);
	let near: string[] = [];
	for (const each of words) {
		const edits = editsBetween(typed, letters(each));
		if (edits < least) near = [];
		if (edits <= least) near.push(each);
		least = Math.min(least, edits);
	}
	if (near.length > 0) return near;
	const begins = words.filter((each) => typed.length >= SHORTEST_PREFIX && letters(each).startsWith(typed));
	return begins.length > 0 ? begins : words.filter((each) => isPart(letters(each), typed));
}

/** `ls` is no part of `false`: a word counts only where it is most of what was typed. */
function isPart(word: string, typed: string): boolean {
	return word.length * 2 > typed.length && word.length >= SHORTEST_PREFIX && typed.startsWith(word);
}

function letters(word: string): string {
	return word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}

/** Letters changed, missing, added, or swapped with their neighbours. */
function editsBetween(left: string, right: string): number {
	let before: number[] = [];
	let above = Array.from({ length: right.length + 1 }, (_, at) => at);
	for (let row = 1; row <= left.length; row++) {
		const line = [row];
		for (let at = 1; at <= right.length; at++) {
			const isSame = left[row - 1] === right[at - 1];
			const isSwapped = row > 1 && at > 1 && left[row - 1] === right[at - 2] && left[row - 2] === right[at - 1];
			line.push(
				Math.min(
					(above[at] ?? 0) + 1,
					(line[at - 1] ?? 0) + 1,
					(above[at - 1] ?? 0) + (isSame ? 0 : 1),
					isSwapped ? (before[at - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
				),
			);
		}
		[before, above] = [above, line];
	}
	return above[right.length] ?? 0;
}
