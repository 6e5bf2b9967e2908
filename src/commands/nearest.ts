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
