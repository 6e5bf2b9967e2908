import { show } from "../text/show.ts";

/** Most characters of a foreign text: a line of a table can't be wrapped. */
const LONGEST = 500;

/**
 * Foreign text as code, outside of a table. Nothing in code becomes a link, a picture or a mention, and code ends only at as
 * many backticks as it began with.
 */
export function markdownCode(text: string, longest = LONGEST): string {
	return inFence(show(text, longest));
}

/**
 * The same in a cell of a table, which a bar would end even in code.
 *
 * A parser takes the backslashes before a bar in pairs and drops the last one alone, so an even number of them is made odd.
 * See `escaped_char` and `unescape_pipes` in github/cmark-gfm, extensions/table.c.
 */
export function markdownCell(text: string, longest = LONGEST): string {
	const escaped = show(text, longest).replaceAll(/(\\*)\|/g, (_, slashes: string) => {
		return `${slashes}${slashes.length % 2 === 0 ? "\\" : "\\\\"}|`;
	});
	return inFence(escaped);
}

function inFence(shown: string): string {
	const longestRun = Math.max(0, ...Array.from(shown.matchAll(/`+/g), ([run]) => run.length));
	const fence = "`".repeat(longestRun + 1);
	// Code of blanks alone would be none; a blank at both ends is taken off.
	const space = longestRun > 0 || shown.trim() === "" || /^ .* $/.test(shown) ? " " : "";
	return `${fence}${space}${shown}${space}${fence}`;
}
