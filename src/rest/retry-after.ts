/** Capped at 300 years so that the value still fits a Date. */
const MOST_SECONDS = 9_999_999_999;

/** The three forms of a date in RFC 9110 (5.6.7): only the last has no zone, and it is GMT as well. */
const DATE = /^[a-z]{3,9},? [\w -]+ \d\d:\d\d:\d\d (?:gmt|\d{4})$/i;

/**
 * How long an answer asks the client to wait, in milliseconds: the longest time of its `Retry-After` fields.
 *
 * A field has whole seconds or a date (RFC 9110, 10.2.3). A date counts from the answer's own `Date`, because clocks differ.
 * Undefined if no field is well-formed.
 *
 * @param now epoch milliseconds, for answers without a `Date`
 */
export function retryAfter(fields: readonly string[], date: string | undefined, now: number): number | undefined {
	const base = (date === undefined ? undefined : dateOf(date)) ?? now;
	const waits = fields.flatMap((field) => waitOf(field.trim(), base) ?? []);
	return waits.length === 0 ? undefined : Math.max(...waits);
}

function waitOf(field: string, base: number): number | undefined {
	if (/^\d+$/.test(field)) return Math.min(MOST_SECONDS, Number(field)) * 1000;
	const date = dateOf(field);
	return date === undefined ? undefined : Math.max(0, date - base);
}

/** Epoch milliseconds of an HTTP date, or undefined. */
function dateOf(text: string): number | undefined {
	const date = DATE.test(text) ? Date.parse(/gmt$/i.test(text) ? text : `${text} GMT`) : Number.NaN;
	return Number.isNaN(date) ? undefined : date;
}
