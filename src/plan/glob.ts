/** One part of a pattern: a star, a question mark, a set that is closed, or a character. A `]` at its start belongs to a set. */
const PART = /\*|\?|\[(?:[!^][^]|[^!^])[^\]]*\]|[^]/gu;

/** Whether a text holds anything that makes it a pattern. */
export function hasWildcard(text: string): boolean {
	return /[*?[]/.test(text);
}

/** The beginning of all names that match. */
export function literalStart(pattern: string): string {
	return /^[^*?[]*/.exec(pattern)?.[0] ?? "";
}

/**
 * The test of a pattern: `*`, `?`, and `[a-z]`, `[!a-z]` or `[^a-z]`, as in a shell, over whole characters, and the name as a
 * whole.
 *
 * Names are no paths: `*` matches slashes and leading dots too. There is no escape, as a backslash may stand in a name:
 * `[*]`, `[?]` and `[[]` are those characters. A bracket that is not closed is one itself.
 *
 * What is between two stars has no star, and is taken where it comes first. So no name takes more steps than its length times
 * that of the pattern; one regular expression with all stars takes years for some.
 */
export function globTest(pattern: string): (name: string) => boolean {
	const [start = "", ...others] = pattern.replaceAll(PART, sourceOf).split("*");
	const end = others.pop();
	if (end === undefined) return (name) => new RegExp(`^${start}$`, "u").test(name);
	const between = others.filter((source) => source !== "").map((source) => new RegExp(source, "gu"));
	const parts = [new RegExp(start, "uy"), ...between, new RegExp(`${end}$`, "gu")];
	return (name) => {
		let at = 0;
		return parts.every((part) => {
			part.lastIndex = at;
			const isFound = part.test(name);
			at = part.lastIndex;
			return isFound;
		});
	};
}

/** A part as the source of a regular expression. Only a star stays as it is. */
function sourceOf(part: string): string {
	if (part === "*") return part;
	if (part === "?") return "[^]";
	if (part.length < 3) return escaped(part);
	const isNegated = /^\[[!^]/.test(part);
	const items = part.slice(isNegated ? 2 : 1, -1).matchAll(/([^])-([^])|[^]/gu);
	const ranges = Array.from(items, ([item, from = item, to = item]) => {
		// A range that ends before it begins has no character.
		return pointOf(from) > pointOf(to) ? "" : `${escaped(from)}-${escaped(to)}`;
	});
	return `[${isNegated ? "^" : ""}${ranges.join("")}]`;
}

function escaped(character: string): string {
	return `\\u{${pointOf(character).toString(16)}}`;
}

function pointOf(character: string): number {
	return character.codePointAt(0) ?? 0;
}

/** A pattern that matches this name and no other. */
export function literalGlob(name: string): string {
	return name.replaceAll(/[*?[]/g, "[$&]");
}
