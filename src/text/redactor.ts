/** Characters: no message shows this many consecutive characters of a key. */
const PIECE = 6;

/** Characters: a value that shares 16 with a key contains it, and a document's own value may share 6 by chance. */
const RESULT_PIECE = 16;

/** Characters: a text that contains a shorter body of a key may do so by chance. */
const TELLING = 8;

/** Layers of escapes that are decoded: a text in JSON, in JSON, in a page. */
const LAYERS = 3;

/** Secret pieces of one length. Each of them contains one of the shorter anchors. */
type Pieces = { readonly length: number; readonly all: ReadonlySet<string>; readonly anchors: ReadonlySet<string> };

/**
 * A function that masks an API key in a message: the whole key, and any 6 consecutive characters of its body, which is the
 * part after the first dash. It also masks them escaped (percent signs, HTML, JSON, quoted-printable, UTF-16), in hexadecimal,
 * in Base64, or backwards.
 */
export function redactor(key: string): (text: string) => string {
	// The encoded forms have small alphabets, so their pieces are longer: identifiers must stay readable.
	return masking([pieces(key, key.length), ...piecesOfBody(bodyOf(key), PIECE, () => TELLING)]);
}

/**
 * The same for results, which must not lose text that only looks like a piece of the key. It masks the whole key, its body,
 * and any 16 consecutive characters of the body, in the same forms.
 */
export function resultRedactor(key: string): (text: string) => string {
	const body = bodyOf(key);
	const whole = pieces(key, key.length);
	if (body.length < TELLING) return masking([whole]);
	const length = Math.min(RESULT_PIECE, body.length);
	return masking([whole, ...piecesOfBody(body, length, (form) => Math.min(RESULT_PIECE, form.length))]);
}

function piecesOfBody(body: string, length: number, lengthInBase64: (form: string) => number): Pieces[] {
	const bytes = Buffer.from(body);
	return [
		pieces(body, length),
		pieces(Array.from(body).toReversed().join(""), length),
		pieces(bytes.toString("hex"), 2 * length),
		pieces(bytes.toString("hex").toUpperCase(), 2 * length),
		...base64Forms(bytes).map((form) => pieces(form, lengthInBase64(form))),
	];
}

/** Whether a text contains a key or its body, which is the part after the first dash. */
export function holdsKey(text: string, key: string): boolean {
	const body = bodyOf(key);
	return body.length >= TELLING && text.includes(body);
}

function bodyOf(key: string): string {
	return key.slice(key.indexOf("-") + 1);
}

function pieces(secret: string, length: number): Pieces {
	const all = new Set<string>();
	for (let at = 0; length > 0 && at + length <= secret.length; at++) all.add(secret.slice(at, at + length));
	// Each piece contains a whole block of half its length. So a text without a block contains no piece.
	const block = Math.max(1, Math.ceil(length / 2));
	const anchors = new Set<string>();
	for (let at = 0; all.size > 0 && at + block <= secret.length; at += block) anchors.add(secret.slice(at, at + block));
	return { length, all, anchors };
}

/** The characters of a Base64 text that depend on these bytes alone, for each of their three possible offsets. */
function base64Forms(bytes: Buffer): string[] {
	return [0, 1, 2].flatMap((offset) => {
		const whole = bytes.subarray((3 - offset) % 3);
		const inner = whole.subarray(0, whole.length - (whole.length % 3));
		return [inner.toString("base64"), inner.toString("base64url")];
	});
}

function masking(secrets: readonly Pieces[]): (text: string) => string {
	return (text) => {
		let hidden: Uint8Array | undefined;
		// For each character of the current layer: where it begins and ends in the original text.
		let place: { readonly from: readonly number[]; readonly to: readonly number[] } | undefined;
		let layer = text;
		for (let depth = 0; ; depth++) {
			for (const [begin, end] of found(layer, secrets)) {
				hidden ??= new Uint8Array(text.length);
				hidden.fill(1, place?.from[begin] ?? begin, place?.to[end - 1] ?? end);
			}
			const next = depth < LAYERS ? decoded(layer) : undefined;
			if (next === undefined) break;
			const before = place;
			const from = before === undefined ? next.from : next.from.map((at) => before.from[at] ?? at);
			const to = before === undefined ? next.to : next.to.map((at) => before.to[at - 1] ?? at);
			place = { from, to };
			layer = next.text;
		}
		return hidden === undefined ? text : masked(text, hidden);
	};
}

function* found(text: string, secrets: readonly Pieces[]): Generator<readonly [number, number]> {
	for (const { length, all, anchors } of secrets) {
		let isPossible = false;
		for (const anchor of anchors) isPossible ||= text.includes(anchor);
		if (!isPossible) continue;
		for (let at = 0; at + length <= text.length; at++) {
			if (all.has(text.slice(at, at + length))) yield [at, at + length];
		}
	}
}

function masked(text: string, hidden: Uint8Array): string {
	let shown = "";
	for (let at = 0; at < text.length; at++) {
		if (hidden[at] === 0) shown += text.charAt(at);
		else if (at === 0 || hidden[at - 1] === 0) shown += "***";
	}
	return shown;
}

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

/** A text with one layer of escapes decoded. Undefined if there is none. */
function decoded(text: string) {
	let plain = "";
	// For each character, where its escape begins in the text before, and where it ends.
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
