const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = "\\".charCodeAt(0);
const OPENING: ReadonlySet<number> = new Set(["{", "["].map((character) => character.charCodeAt(0)));
const CLOSING: ReadonlySet<number> = new Set(["}", "]"].map((character) => character.charCodeAt(0)));
const COMMA = ",".charCodeAt(0);
const COLON = ":".charCodeAt(0);

/**
 * The members of a JSON object in the order of its text, each value as its text: `JSON.parse` puts keys that look like
 * numbers first.
 *
 * @param text an object that `JSON.parse` takes
 */
export function membersOf(text: string): ReadonlyMap<string, string> {
	const members = new Map<string, string>();
	let depth = 0;
	let start = 0;
	let key: string | undefined;
	for (let at = 0; at < text.length; at++) {
		const character = text.charCodeAt(at);
		if (character === QUOTE) at = endOfText(text, at);
		else if (OPENING.has(character)) {
			depth += 1;
			if (depth === 1) start = at + 1;
		} else if (character === COLON && depth === 1) {
			key = String(JSON.parse(text.slice(start, at)));
			start = at + 1;
		} else if (CLOSING.has(character) || (character === COMMA && depth === 1)) {
			if (character !== COMMA) depth -= 1;
			if (character !== COMMA && depth > 0) continue;
			if (key !== undefined) members.set(key, text.slice(start, at));
			key = undefined;
			start = at + 1;
		}
	}
	return members;
}

/** Where the closing quote is of the text that begins at `start`. */
function endOfText(text: string, start: number): number {
	let end = text.indexOf('"', start + 1);
	while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
	return end === -1 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
	let first = at;
	while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
	return (at - first) % 2 === 1;
}
