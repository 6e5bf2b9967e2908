/** Capped at 300 years so that the value still fits a Date. */
const MOST_SECONDS = 9_999_999_999;
const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const clock = String.raw`(\d{2}):(\d{2}):(\d{2})`;
const imf = new RegExp(String.raw`^[a-z]{3}, (\d{2}) ([a-z]{3}) (\d{4}) ${clock} gmt$`, "i");
const rfc850 = new RegExp(String.raw`^[a-z]{6,9}, (\d{2})-([a-z]{3})-(\d{2}) ${clock} gmt$`, "i");
const asctime = new RegExp(String.raw`^[a-z]{3} ([a-z]{3}) ([ \d]\d) ${clock} (\d{4})$`, "i");

/**
 * How long an answer asks the client to wait, in milliseconds: the longest time of its `Retry-After` fields.
 *
 * A field has whole seconds or one of the three date forms of RFC 9110 (10.2.3, 5.6.7). A date counts from the answer's own
 * `Date`, because clocks differ. Undefined if no field is well-formed.
 *
 * @param now epoch milliseconds, for answers without a `Date`
 */
export function retryAfter(fields: readonly string[], date: string | undefined, now: number): number | undefined {
	const base = (date === undefined ? undefined : httpDate(date, now)) ?? now;
	let longest: number | undefined;
	for (const field of fields) {
		const wait = waitOf(field.trim(), base, now);
		if (wait !== undefined && (longest === undefined || wait > longest)) longest = wait;
	}
	return longest;
}

function waitOf(field: string, base: number, now: number): number | undefined {
	if (/^\d+$/.test(field)) return Math.min(MOST_SECONDS, Number(field)) * 1000;
	const date = httpDate(field, now);
	return date === undefined ? undefined : Math.max(0, date - base);
}

/** Epoch milliseconds of an HTTP date, or undefined. */
export function httpDate(text: string, now: number): number | undefined {
	const full = imf.exec(text);
	if (full !== null) return utc(full[3], full[2], full[1], full.slice(4));
	const short = rfc850.exec(text);
	if (short !== null) return utc(fullYear(Number(short[3]), now), short[2], short[1], short.slice(4));
	const c = asctime.exec(text);
	return c === null ? undefined : utc(c[6], c[1], c[2], c.slice(3, 6));
}

/** RFC 9110: a year of two digits that would be more than 50 years ahead is the last year that ended in them. */
function fullYear(digits: number, now: number): number {
	const current = new Date(now).getUTCFullYear();
	const year = current - (current % 100) + digits;
	return year > current + 50 ? year - 100 : year;
}

function utc(year: unknown, monthName: string | undefined, day: unknown, time: readonly string[]): number | undefined {
	const month = months.indexOf((monthName ?? "").toLowerCase());
	const [hours = 99, minutes = 99, seconds = 99] = time.map(Number);
	// 60 is a leap second.
	if (month === -1 || hours > 23 || minutes > 59 || seconds > 60) return undefined;
	const date = new Date(Date.UTC(Number(year), month, Number(day), hours, minutes, seconds));
	if (Number.isNaN(date.getTime())) return undefined;
	// Date.UTC turns 31 February into a day in March.
	const sameDay = new Date(Date.UTC(Number(year), month, Number(day))).getUTCDate() === Number(day);
	return sameDay ? date.getTime() : undefined;
}
