/** A text with one layer of escapes decoded, and the position of each character in the text before. */
export type Decoded = {
	readonly text: string;
	/** for each character, where its escape begins in the text before, and where it ends */
	readonly from: readonly number[];
	readonly to: readonly number[];
};

/** Characters of keys that have names in HTML. */
const NAMED: ReadonlyMap<string, string> = new Map([
	["amp", "&"],
	["lt", "<"],
	["gt", ">"],
	["quot", '"'],
	["apos", "'"],
	["num", "#"],
	["percnt", "%"],
	["plus", "+"],
	["sol", "/"],
	["equals", "="],
	["period", "."],
	["lowbar", "_"],
	["hyphen", "-"],
	["dash", "-"],
	["bsol", "\\"],
]);

/** Percent signs, entities of HTML, escapes of JSON and JavaScript, quoted-printable, and the NULs of UTF-16. */
const ESCAPE =
	/%([\da-f]{2})|&#x0*([\da-f]{1,6});?|&#0*(\d{1,7});?|&([a-z]{2,6});|\\u([\da-f]{4})|\\u\{0*([\da-f]{1,6})\}|\\x([\da-f]{2})|\\(["'/\\])|=([\dA-F]{2})|\0/gi;

/** Decodes one layer of escapes. Undefined if there is none. */
export function decoded(text: string): Decoded | undefined {
	let plain = "";
	const from: number[] = [];
	const to: number[] = [];
	let at = 0;
	const keep = (end: number): void => {
		plain += text.slice(at, end);
		for (; at < end; at++) {
			from.push(at);
			to.push(at + 1);
		}
	};
	for (const match of text.matchAll(ESCAPE)) {
		const character = decodedCharacter(match);
		if (character === undefined) continue;
		keep(match.index);
		at = match.index + match[0].length;
		// UTF-16 has a NUL after each ASCII letter. It is left out, so that the letters are consecutive.
		if (character === "\0") continue;
		for (const _ of character) {
			from.push(match.index);
			to.push(at);
		}
		plain += character;
	}
	if (at === 0) return undefined;
	keep(text.length);
	return { text: plain, from, to };
}

/** The character of an escape; undefined if no key can contain it. */
function decodedCharacter(match: RegExpMatchArray): string | undefined {
	const [whole, percent, hexEntity, entity, name, unicode, codePoint, hex, quoted, printable] = match;
	if (whole === "\0") return whole;
	if (name !== undefined) return NAMED.get(name.toLowerCase());
	if (quoted !== undefined) return quoted;
	const digits = percent ?? hexEntity ?? unicode ?? codePoint ?? hex ?? printable;
	const code = entity === undefined ? Number.parseInt(digits ?? "", 16) : Number.parseInt(entity, 10);
	return code < 0x80 ? String.fromCharCode(code) : undefined;
}
