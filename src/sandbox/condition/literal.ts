/** A value of Python: what text is read as where it is written like one, and what JSON gives. Whole numbers are exact. */
export type Value =
	| string
	| number
	| bigint
	| boolean
	| null
	| readonly unknown[]
	| { readonly [key: string]: unknown };

/**
 * Text as Python's `ast.literal_eval` reads it: a number, True, False, None, or text in quotes. `undefined` is what it
 * would not read. Its lists, tuples and objects are not read either: nothing that a filter compares is one.
 */
export function literal(text: string): Value | undefined {
	const trimmed = text.replace(/^[ \t]+/, "").trimEnd();
	if (trimmed === "True") return true;
	if (trimmed === "False") return false;
	if (trimmed === "None") return null;
	const quoted = /^(?:'([^'\\\n]*)'|"([^"\\\n]*)")$/.exec(trimmed);
	if (quoted !== null) return quoted[1] ?? quoted[2] ?? "";
	const [, sign = "", digits = ""] = /^([+-]?) *(.+)$/.exec(trimmed) ?? [];
	const plain = digits.replace(/(?<=[\da-f])_(?=[\da-f])/gi, "");
	if (/^(?:0+|[1-9]\d*|0x[\da-f]+|0o[0-7]+|0b[01]+)$/i.test(plain))
		return sign === "-" ? -BigInt(plain) : BigInt(plain);
	if (/^(?:\d+\.\d*|\.\d+|\d+(?=e))(?:e[+-]?\d+)?$/i.test(plain)) return Number(`${sign}${plain}`);
	return undefined;
}

/** Whether two values are the same in Python: numbers by what they are worth, true being 1. */
export function same(left: Value, right: unknown): boolean {
	const order = compare(left, right);
	return order === undefined ? left === null && right === null : order === 0;
}

/** Below, above or 0; `undefined` for two that have no order, of which Python would not say either. */
export function compare(left: unknown, right: unknown): number | undefined {
	if (typeof left === "string" && typeof right === "string")
		return Buffer.compare(Buffer.from(left), Buffer.from(right));
	const [one, other] = [worth(left), worth(right)];
	if (one === undefined || other === undefined) return undefined;
	if (one < other) return -1;
	if (one > other) return 1;
	return Number.isNaN(one) || Number.isNaN(other) ? undefined : 0;
}

function worth(value: unknown): number | bigint | undefined {
	if (typeof value === "boolean") return Number(value);
	return typeof value === "number" || typeof value === "bigint" ? value : undefined;
}
