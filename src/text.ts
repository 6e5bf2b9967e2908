// Control characters, format characters (bidi among them), line and paragraph separators, lone surrogates.
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * A foreign text made safe to print on one line of a terminal, at most `max` characters long.
 *
 * Whatever could move the cursor, hide text or turn it around is written out as `\x1b` or `\u{202e}`.
 */
export function show(text: string, max = 200): string {
	let shown = "";
	let length = 0;
	// A character is at most two code units: no need to walk a text of megabytes to keep its beginning.
	for (const character of text.slice(0, 2 * max + 2)) {
		const piece = character.replace(unsafe, escape);
		if (length + piece.length > max) return `${shown}…`;
		shown += piece;
		length += piece.length;
	}
	return text.length > 2 * max + 2 ? `${shown}…` : shown;
}

/** Our own colours among them, what could move the cursor or turn text around; not line ends and tabs. */
const unsafeInLines = /\p{Cc}\[[\d;]*m|[^\P{Cc}\n\t]|[\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu;

/** Lines made safe to print on a terminal, whatever was put into them: the name of a file may hold anything. */
export function showLines(text: string, colored: boolean): string {
	return text.replaceAll(unsafeInLines, (piece) =>
		colored && piece.length > 1 ? piece : piece.replace(unsafe, escape),
	);
}

function escape(character: string): string {
	const code = character.codePointAt(0) ?? 0;
	return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}

/** Whether two texts are the same but for letter case. */
export function differsByCase(left: string, right: string): boolean {
	return left !== right && left.toLowerCase() === right.toLowerCase();
}

/** Consecutive characters of a key that may not be seen together. */
const piece = 6;

/**
 * A function that masks an API key in any text: the whole key, and any 6 consecutive characters of its body (what
 * follows the first dash), also where a server gives them back percent-encoded, in hexadecimal or in Base64.
 */
export function redactor(key: string): (text: string) => string {
	if (key === "") return (text) => text;
	const body = key.slice(key.indexOf("-") + 1);
	const windows = new Map<number, Set<string>>();
	const hide = (secret: string, length: number): void => {
		const seen = windows.get(length) ?? new Set();
		for (let at = 0; at + length <= secret.length; at++) seen.add(secret.slice(at, at + length));
		windows.set(length, seen);
	};
	hide(key, key.length);
	hide(body, piece);
	hide(encodeURIComponent(body), piece);
	// Longer windows for the encoded forms, whose alphabets are small: identifiers must stay readable.
	const bytes = Buffer.from(body);
	hide(bytes.toString("hex"), 2 * piece);
	hide(bytes.toString("hex").toUpperCase(), 2 * piece);
	for (const form of base64Forms(bytes)) hide(form, 8);
	return (text) => mask(text, windows);
}

/** Characters of a key's body from which on it stands in a text by no chance. */
const telling = 8;

/** Whether a text holds a key, or the body of one: what follows the first dash. */
export function holdsKey(text: string, key: string): boolean {
	const body = key.slice(key.indexOf("-") + 1);
	return body.length >= telling && text.includes(body);
}

/** The characters of a Base64 text that depend on these bytes alone, for each of the three places they can start at. */
function base64Forms(bytes: Buffer): string[] {
	return [0, 1, 2].flatMap((offset) => {
		const whole = bytes.subarray((3 - offset) % 3);
		const inner = whole.subarray(0, whole.length - (whole.length % 3));
		return [inner.toString("base64"), inner.toString("base64url")];
	});
}

function mask(text: string, windows: ReadonlyMap<number, ReadonlySet<string>>): string {
	const secret = new Uint8Array(text.length);
	let found = false;
	for (const [length, pieces] of windows) {
		for (let at = 0; at + length <= text.length; at++) {
			if (!pieces.has(text.slice(at, at + length))) continue;
			secret.fill(1, at, at + length);
			found = true;
		}
	}
	if (!found) return text;
	let masked = "";
	for (let at = 0; at < text.length; at++) {
		if (secret[at] === 0) masked += text.charAt(at);
		else if (at === 0 || secret[at - 1] === 0) masked += "***";
	}
	return masked;
}
