import { rawItems, rawMembers } from "./json-text.ts";

/** Text, which may contain the words, or a word in the place of a value. */
const wordOrText = /"(?:[^"\\]|\\.)*"|(?<![\w.+-])(?:NaN|-?Infinity)(?![\w.+-])/gs;

/**
 * JSON as Python's `json` reads it: with `NaN`, `Infinity` and `-Infinity`, which become 0 in the returned value.
 *
 * So the value shows the structure alone. The numbers themselves stay in the text, which `rawMembers` takes apart.
 */
export function parsePythonJson(text: string): unknown {
	return JSON.parse(text.replace(wordOrText, (found) => (found.startsWith('"') ? found : "0")));
}

/** Whether JSON text contains `NaN` or an infinity, which JSON has no word for. */
export function hasNonFinite(text: string): boolean {
	return text.match(wordOrText)?.some((found) => !found.startsWith('"')) ?? false;
}

/**
 * A JSON value as Python's `str` prints it: the server prints values so in its messages, and compares some by it.
 *
 * Numbers are those of JavaScript: `1.0` prints as `1`.
 */
export function pythonStr(value: unknown): string {
	return typeof value === "string" ? value : pythonRepr(value);
}

/** A JSON value as Python's `repr` prints it: as `str`, with text in quotes. */
export function pythonRepr(value: unknown): string {
	if (value === null || value === undefined) return "None";
	if (value === true) return "True";
	if (value === false) return "False";
	if (typeof value === "number") return Number.isNaN(value) ? "nan" : String(value).replace("Infinity", "inf");
	if (typeof value === "string") return quoted(value);
	if (Array.isArray(value)) return `[${value.map(pythonRepr).join(", ")}]`;
	return `{${Object.entries(value)
		.map(([key, member]) => `${quoted(key)}: ${pythonRepr(member)}`)
		.join(", ")}}`;
}

/** JSON text as Python's `str` prints its value, with numbers as they are written in the text. */
export function pythonStrOfJson(raw: string, nested = false): string {
	if (raw.startsWith('"')) {
		const text: unknown = JSON.parse(raw);
		return nested ? quoted(String(text)) : String(text);
	}
	if (raw.startsWith("["))
		return `[${rawItems(raw)
			.map((item) => pythonStrOfJson(item, true))
			.join(", ")}]`;
	if (raw.startsWith("{")) {
		const members = [...rawMembers(raw)].map(([key, value]) => `${quoted(key)}: ${pythonStrOfJson(value, true)}`);
		return `{${members.join(", ")}}`;
	}
	return words.get(raw) ?? printedNumber(raw);
}

const words: ReadonlyMap<string, string> = new Map([
	["null", "None"],
	["true", "True"],
	["false", "False"],
	["NaN", "nan"],
	["Infinity", "inf"],
	["-Infinity", "-inf"],
]);

/** A whole number as it is written; others with a point, or with an exponent of at least two digits. */
function printedNumber(raw: string): string {
	if (/^-?\d+$/.test(raw)) return raw === "-0" ? "0" : raw;
	const number = Number(raw);
	if (!Number.isFinite(number)) return number > 0 ? "inf" : "-inf";
	const size = Math.abs(number);
	if (size !== 0 && (size >= 1e16 || size < 1e-4)) return number.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
	if (Number.isInteger(number)) return `${Object.is(number, -0) ? "-0" : number}.0`;
	return String(number);
}

/** The name of a value's type in Python. */
export function pythonType(value: unknown): string {
	if (value === null || value === undefined) return "NoneType";
	if (typeof value === "boolean") return "bool";
	if (typeof value === "number") return Number.isInteger(value) ? "int" : "float";
	if (typeof value === "string") return "str";
	return Array.isArray(value) ? "list" : "dict";
}

/** Whether a value is false in a condition of Python: 0, false, null, and any empty text, list or object. */
export function isFalsy(value: unknown): boolean {
	if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
	return value === undefined || value === null || value === "" || value === 0 || value === false;
}

/** A value of Python, read from text by `literalEval` or given by JSON. Whole numbers are exact. */
export type PythonValue =
	| string
	| number
	| bigint
	| boolean
	| null
	| readonly unknown[]
	| { readonly [key: string]: unknown };

/**
 * Text as Python's `ast.literal_eval` reads it: a number, True, False, None, or text in quotes. `undefined` is text
 * that it does not read. Lists, tuples and objects are not read here, because no filter compares them.
 */
export function literalEval(text: string): PythonValue | undefined {
	const trimmed = text.replace(/^[ \t]+/, "").trimEnd();
	if (trimmed === "True") return true;
	if (trimmed === "False") return false;
	if (trimmed === "None") return null;
	const inQuotes = /^(?:'([^'\\\n]*)'|"([^"\\\n]*)")$/.exec(trimmed);
	if (inQuotes !== null) return inQuotes[1] ?? inQuotes[2] ?? "";
	const [, sign = "", digits = ""] = /^([+-]?) *(.+)$/.exec(trimmed) ?? [];
	const plain = digits.replace(/(?<=[\da-f])_(?=[\da-f])/gi, "");
	if (/^(?:0+|[1-9]\d*|0x[\da-f]+|0o[0-7]+|0b[01]+)$/i.test(plain))
		return sign === "-" ? -BigInt(plain) : BigInt(plain);
	if (/^(?:\d+\.\d*|\.\d+|\d+(?=e))(?:e[+-]?\d+)?$/i.test(plain)) return Number(`${sign}${plain}`);
	return undefined;
}

/** Whether two values are equal in Python, where true is equal to 1. */
export function pythonEquals(left: PythonValue, right: unknown): boolean {
	const order = pythonCompare(left, right);
	return order === undefined ? left === null && right === null : order === 0;
}

/** Below 0, above 0 or 0; `undefined` for two values that have no order in Python. */
export function pythonCompare(left: unknown, right: unknown): number | undefined {
	if (typeof left === "string" && typeof right === "string")
		return Buffer.compare(Buffer.from(left), Buffer.from(right));
	const [one, other] = [numericValue(left), numericValue(right)];
	if (one === undefined || other === undefined) return undefined;
	if (one < other) return -1;
	if (one > other) return 1;
	return Number.isNaN(one) || Number.isNaN(other) ? undefined : 0;
}

function numericValue(value: unknown): number | bigint | undefined {
	if (typeof value === "boolean") return Number(value);
	return typeof value === "number" || typeof value === "bigint" ? value : undefined;
}

function quoted(text: string): string {
	const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
	const escaped = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\r", "\\r");
	return `${quote}${quote === "'" ? escaped.replaceAll("'", "\\'") : escaped}${quote}`;
}

/** What `str.isspace` is true for and `trim` leaves: the separators of files, groups, records, units and lines. */
const furtherSpaces = "\u001c\u001d\u001e\u001f\u0085";

/** `text.strip()` */
export function pythonStrip(text: string): string {
	// Only JavaScript takes a byte-order mark for a blank.
	const isSpace = (at: number): boolean => {
		const unit = text.charAt(at);
		return furtherSpaces.includes(unit) || (unit !== "\ufeff" && unit.trim() === "");
	};
	let end = text.length;
	while (end > 0 && isSpace(end - 1)) end--;
	let start = 0;
	while (start < end && isSpace(start)) start++;
	return text.slice(start, end);
}
