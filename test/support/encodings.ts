/** Ways in which a service, a proxy or a log may give a text back: each character, or the whole. */
export const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
	raw: (text) => text,
	base64: (text) => Buffer.from(text).toString("base64"),
	base64url: (text) => Buffer.from(text).toString("base64url"),
	hex: (text) => Buffer.from(text).toString("hex"),
	percent: (text) => each(text, (code) => `%${two(code)}`),
	url: (text) => encodeURIComponent(text),
	json: (text) => each(text, (code) => `\\u00${two(code)}`),
	decimal: (text) => each(text, (code) => `&#${code};`),
	hexadecimal: (text) => each(text, (code) => `&#x${two(code)};`),
	backwards: (text) => Array.from(text).toReversed().join(""),
	utf16: (text) => each(text, (code) => `${String.fromCodePoint(code)}\0`),
};

function each(text: string, of: (code: number) => string): string {
	return Array.from(text)
		.map((character) => of(character.codePointAt(0) ?? 0))
		.join("");
}

const two = (code: number): string => code.toString(16).padStart(2, "0");

/** Characters of the key's body in one piece that may not be seen. */
const PIECE = 6;

/**
 * Fails where a piece of a key's body is seen in any of these encodings. Of Base64, whose letters depend on their
 * neighbours, it is the middle of the key's own, at each of the three places that it can begin.
 */
export function withoutKeyInAnyForm(text: string, key: string, where: string): void {
	const body = key.slice(key.indexOf("-") + 1);
	const plain = body.match(/.{6}/gs) ?? [];
	for (const [name, encode] of Object.entries(ENCODINGS)) {
		const seen = name.startsWith("base64")
			? ["", "x", "xx"].map((before) => encode(`${before}${body}`).slice(4, -8))
			: plain.map((piece) => encode(piece));
		for (const form of seen) {
			if (form.length >= PIECE && text.toLowerCase().includes(form.toLowerCase())) {
				throw new Error(`a piece of the key is in ${where}, in the form ${name}`);
			}
		}
	}
}
