/** Text, which may hold the words, or a word that stands where a value does. */
const wordOrText = /"(?:[^"\\]|\\.)*"|(?<![\w.+-])(?:NaN|-?Infinity)(?![\w.+-])/gs;

/**
 * JSON as Python's `json` reads it: with `NaN`, `Infinity` and `-Infinity`, which are 0 in the value that comes out.
 *
 * So the value tells what is where. What the numbers are is kept in the text, which `rawMembers` takes apart.
 */
export function parsePythonJson(text: string): unknown {
	return JSON.parse(text.replace(wordOrText, (found) => (found.startsWith('"') ? found : "0")));
}

/** Whether JSON text holds a number that JSON has no word for. */
export function holdsNoNumber(text: string): boolean {
	return text.match(wordOrText)?.some((found) => !found.startsWith('"')) ?? false;
}
