const GRAMMAR = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** Decimal digits that are different for any two doubles. */
const DIGITS = 17;

export function isJsonNumber(text: string): boolean {
	return GRAMMAR.test(text);
}

/**
 * Whether a number of JSON's grammar is the same number after it went through a double.
 *
 * `1.0` is (it comes back as 1). `12345678901234567890` and `1e400` are not: another number would be sent.
 */
export function survivesDouble(text: string): boolean {
	const value = Number(text);
	const back = String(value);
	if (back === text) return true;
	return Number.isFinite(value) && decimal(back) === decimal(text);
}

/**
 * Whether a number with a fraction is a double that was written in 17 digits, as some services write every double
 * (`0.10000000000000001` for 0.1). It comes back as the same double, so nothing of what such a service holds is lost.
 */
export function isDoubleInFull(text: string): boolean {
	const value = Number(text);
	return text.includes(".") && Number.isFinite(value) && decimal(value.toPrecision(DIGITS)) === decimal(text);
}

/**
 * One spelling for each decimal number: its digits without zeros at either end, and the power of ten after them.
 *
 * Zeros are counted by hand: a pattern for those at the end starts again at each zero of the text, which takes half a
 * minute for 200 kB.
 */
function decimal(text: string): string {
	const parts = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
	const [, whole = "", fraction = "", exponent = "0"] = parts ?? [];
	const digits = whole + fraction;
	let start = 0;
	while (digits[start] === "0") start += 1;
	let end = digits.length;
	while (end > start && digits[end - 1] === "0") end -= 1;
	if (start === end) return "0";
	const sign = text.startsWith("-") ? "-" : "";
	// An exponent too long for a double stands before no number that one keeps.
	return `${sign}${digits.slice(start, end)}e${Number(exponent) - fraction.length + (digits.length - end)}`;
}
