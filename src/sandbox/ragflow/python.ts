/**
 * A JSON value as Python's `str` shows it: the server puts values into its messages so, and compares some by it.
 *
 * Numbers are those of JavaScript: `1.0` shows as `1`.
 */
export function pythonText(value: unknown): string {
	return typeof value === "string" ? value : pythonRepr(value);
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
