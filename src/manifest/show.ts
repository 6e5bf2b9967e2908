/** Longest piece of a manifest that a message repeats, in characters. */
const SHOWN = 80;

/** A value of the manifest as a message may show it: on one line, nothing in it that moves a cursor, and cut. */
export function show(value: string): string {
	const start = Array.from(value.slice(0, SHOWN * 2 + 2));
	const cut = start.length > SHOWN || value.length > SHOWN * 2 + 2;
	const text = cut ? `${start.slice(0, SHOWN).join("")}…` : value;
	// Control characters, the directional marks that reorder a line, and lone surrogates.
	return text.replaceAll(
		/[\p{Cc}\p{Surrogate}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
		(character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
	);
}
