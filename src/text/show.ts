// Control characters, format characters (bidi among them), line and paragraph separators, lone surrogates.
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

// A joiner inside a word or an emoji of several. Between ASCII letters it is invisible, and makes two names look alike.
const JOINER =
	/[\u200c\u200d](?<=(?![\0-\x7f])[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}].)(?=(?![\0-\x7f])[\p{L}\p{M}\p{Extended_Pictographic}])/uy;

/**
 * A foreign text made safe to print on one line of a terminal, at most `max` characters long.
 *
 * Characters that could move the cursor, hide text or reverse it are written as `\x1b` or `\u{202e}`.
 * Joiners stay where an emoji or a word needs them.
 */
export function show(text: string, max = 200): string {
	let shown = "";
	let length = 0;
	// A character has at most two code units, so the beginning is enough, even of megabytes.
	let at = 0;
	for (const character of text.slice(0, 2 * max + 2)) {
		const piece = isJoiner(text, at) ? character : character.replace(unsafe, escape);
		at += character.length;
		if (length + piece.length > max) return `${shown}…`;
		shown += piece;
		length += piece.length;
	}
	return text.length > 2 * max + 2 ? `${shown}…` : shown;
}

function isJoiner(text: string, at: number): boolean {
	JOINER.lastIndex = at;
	return JOINER.test(text);
}

/** A document as people know it, with the id that commands take: `report.pdf (0a1b2c)`. Either may be missing. */
export function namedDocument(name: string | undefined, id: string, max?: number): string {
	if (name === undefined || name === "") return show(id, max);
	return id === "" ? show(name, max) : `${show(name, max)} (${show(id, max)})`;
}

/** As much of a foreign text as a message repeats that says what is wrong with it: at most 80 characters. */
export function excerpt(text: string): string {
	return show(text, 80);
}

/**
 * The colour codes of `io`, and characters that could move the cursor, hide text or reverse it. Line ends and tabs are safe.
 *
 * No other terminal codes are accepted: one of them hides text (`8`), and others give it the colour of its background.
 */
const unsafeInLines =
	/\p{Cc}\[(?:[12]|22|3[12369])m|[^\P{Cc}\n\t]|[\p{Zl}\p{Zp}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const ESCAPE = "\u001b";

/** Lines made safe to print on a terminal. They may contain foreign text, such as the name of a file. */
export function showLines(text: string, colored: boolean): string {
	return text.replaceAll(unsafeInLines, (piece) =>
		colored && piece.length > 1 && piece.startsWith(ESCAPE) ? piece : piece.replace(unsafe, escape),
	);
}

function escape(character: string): string {
	const code = character.codePointAt(0) ?? 0;
	return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}

/** The columns that a text takes on a terminal: wide characters take two, and combining ones none. */
export type WidthOf = (text: string) => number;

/** The beginning of a text that takes at most so many columns. No visible character is divided. */
export function cutToWidth(text: string, width: number, widthOf: WidthOf): string {
	if (widthOf(text) <= width) return text;
	let kept = "";
	let room = width;
	// One visible character, such as a flag or a letter with its accents, may be several code points.
	for (const { segment } of new Intl.Segmenter().segment(text)) {
		room -= widthOf(segment);
		if (room < 0) return kept;
		kept += segment;
	}
	return kept;
}

/**
 * A text whose parts GitHub's runner does not take for commands: it obeys `::name` at the beginning of a line, and `##[name`
 * anywhere in one (`TryParseV2` and `TryParse` in src/Runner.Common/ActionCommand.cs of actions/runner).
 */
export function withoutWorkflowCommands(text: string): string {
	return text.replaceAll("##[", String.raw`#\x23[`).replaceAll(/^([\s\u0085]*):(?=:)/gm, String.raw`$1\x3a`);
}
