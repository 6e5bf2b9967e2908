import { rawItems, rawMembers } from "./members.ts";

/**
 * A JSON value as Python's `str` shows it: the server puts values into its messages so, and compares some by it.
 *
 * Numbers are those of JavaScript: `1.0` shows as `1`.
 */
export function pythonText(value: unknown): string {
	return typeof value === "string" ? value : pythonRepr(value);
}

/** JSON text as Python's `str` shows its value, numbers as they are written there. */
export function rawPython(raw: string, inside = false): string {
	if (raw.startsWith('"')) {
		const text: unknown = JSON.parse(raw);
		return inside ? quoted(String(text)) : String(text);
	}
	if (raw.startsWith("["))
		return `[${rawItems(raw)
			.map((item) => rawPython(item, true))
			.join(", ")}]`;
	if (raw.startsWith("{")) {
		const members = [...rawMembers(raw)].map(([key, value]) => `${quoted(key)}: ${rawPython(value, true)}`);
		return `{${members.join(", ")}}`;
	}
	return words.get(raw) ?? pythonNumber(raw);
}

const words: ReadonlyMap<string, string> = new Map([
	["null", "None"],
	["true", "True"],
	["false", "False"],
	["NaN", "nan"],
	["Infinity", "inf"],
	["-Infinity", "-inf"],
]);

/** A whole number as it stands; others with a point or an exponent of two digits at least. */
function pythonNumber(raw: string): string {
	if (/^-?\d+$/.test(raw)) return raw === "-0" ? "0" : raw;
	const number = Number(raw);
	if (!Number.isFinite(number)) return number > 0 ? "inf" : "-inf";
	const size = Math.abs(number);
	if (size !== 0 && (size >= 1e16 || size < 1e-4)) return number.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
	if (Number.isInteger(number)) return `${Object.is(number, -0) ? "-0" : number}.0`;
	return String(number);
}

/** The same by `repr`: text in quotes. */
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

/** The name of a value's type. */
export function pythonType(value: unknown): string {
	if (value === null || value === undefined) return "NoneType";
	if (typeof value === "boolean") return "bool";
	if (typeof value === "number") return Number.isInteger(value) ? "int" : "float";
	if (typeof value === "string") return "str";
	return Array.isArray(value) ? "list" : "dict";
}

/** What counts as nothing where truth is what is not empty. */
export function isFalsy(value: unknown): boolean {
	if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
	return value === undefined || value === null || value === "" || value === 0 || value === false;
}

function quoted(text: string): string {
	const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
	const escaped = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\r", "\\r");
	return `${quote}${quote === "'" ? escaped.replaceAll("'", "\\'") : escaped}${quote}`;
}
