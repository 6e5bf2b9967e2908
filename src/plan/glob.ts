/** One part of a pattern: any run of characters, any one character, one of a set, or a character itself. */
type GlobPart =
	| { readonly kind: "any" }
	| { readonly kind: "one" }
	| { readonly kind: "set"; readonly negated: boolean; readonly ranges: readonly Range[] }
	| { readonly kind: "character"; readonly point: number };

type Range = { readonly from: number; readonly to: number };

/** A parsed pattern. */
export type Glob = {
	readonly parts: readonly GlobPart[];
	/** least number of characters of a name that matches */
	readonly least: number;
};

const ANY = 0x2a;
const ONE = 0x3f;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const DASH = 0x2d;

/** Whether a text holds anything that makes it a pattern. */
export function hasWildcard(text: string): boolean {
	return /[*?[]/.test(text);
}

/**
 * Parses a pattern: `*`, `?`, and `[a-z]`, `[!a-z]` or `[^a-z]`, as in a shell, over whole characters.
 *
 * Names are no paths: `*` matches slashes and leading dots too. There is no escape, as a backslash may stand in a name:
 * `[*]`, `[?]` and `[[]` are those characters. A bracket that is not closed is one itself.
 */
export function parseGlob(pattern: string): Glob {
	const points = Array.from(pattern, (character) => character.codePointAt(0) ?? 0);
	const parts: GlobPart[] = [];
	let least = 0;
	for (let at = 0; at < points.length; at++) {
		const point = points[at] ?? 0;
		if (point === ANY) {
			// Several in a row mean the same as one.
			if (parts.at(-1)?.kind !== "any") parts.push({ kind: "any" });
			continue;
		}
		least += 1;
		const set = point === OPEN ? setAt(points, at) : undefined;
		if (set !== undefined) {
			parts.push(set.part);
			at = set.end;
		} else parts.push(point === ONE ? { kind: "one" } : { kind: "character", point });
	}
	return { parts, least };
}

/**
 * Whether a name matches as a whole.
 *
 * Only the last star ever needs another try, and a pattern of more characters than the name has is not tried at all. So the
 * steps are at most the square of the name's length, whatever the pattern.
 */
export function matchesGlob({ parts, least }: Glob, name: string): boolean {
	if (least > name.length) return false;
	let part = 0;
	let at = 0;
	let star = -1;
	let starAt = 0;
	while (at < name.length) {
		const wanted = parts[part];
		if (wanted?.kind === "any") {
			star = part++;
			starAt = at;
		} else if (wanted !== undefined && fits(wanted, name.codePointAt(at) ?? 0)) {
			part++;
			at += width(name, at);
		} else if (star === -1) return false;
		else {
			part = star + 1;
			starAt += width(name, starAt);
			at = starAt;
		}
	}
	while (parts[part]?.kind === "any") part++;
	return part === parts.length;
}

/** UTF-16 units of the character at a place: a surrogate pair is one character. */
function width(text: string, at: number): number {
	return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** A pattern that matches this name and no other. */
export function literalGlob(name: string): string {
	return name.replaceAll(/[*?[]/g, "[$&]");
}

function fits(part: Exclude<GlobPart, { kind: "any" }>, point: number): boolean {
	switch (part.kind) {
		case "one":
			return true;
		case "character":
			return part.point === point;
		case "set":
			return part.ranges.some(({ from, to }) => from <= point && point <= to) !== part.negated;
	}
}

/** The set that opens here; undefined where no bracket closes it. */
function setAt(points: readonly number[], open: number): { part: GlobPart; end: number } | undefined {
	const negated = points[open + 1] === 0x21 || points[open + 1] === 0x5e;
	const start = open + (negated ? 2 : 1);
	// A closing bracket at the start belongs to the set, as in a shell.
	const end = points.indexOf(CLOSE, start + 1);
	if (end === -1) return undefined;
	const ranges: Range[] = [];
	for (let at = start; at < end; at++) {
		const from = points[at] ?? 0;
		const isRange = points[at + 1] === DASH && at + 2 < end;
		ranges.push({ from, to: isRange ? (points[at + 2] ?? 0) : from });
		if (isRange) at += 2;
	}
	return { part: { kind: "set", negated, ranges }, end };
}
