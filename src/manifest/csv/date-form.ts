/** A date as a spreadsheet shows it: a pattern of its text, and what each group of the pattern is. */
export type DateForm = { readonly pattern: RegExp; readonly parts: readonly DatePart[] };

type DatePart = "year" | "month" | "day" | "hour" | "minute" | "second";

/** What the letters of a form stand for. One digit or two are read where two letters stand: people write both. */
const LETTERS: ReadonlyMap<string, readonly [DatePart, string]> = new Map([
	["YYYY", ["year", "(\\d{4})"]],
	["MM", ["month", "(\\d{1,2})"]],
	["M", ["month", "(\\d{1,2})"]],
	["DD", ["day", "(\\d{1,2})"]],
	["D", ["day", "(\\d{1,2})"]],
	["HH", ["hour", "(\\d{1,2})"]],
	["hh", ["hour", "(\\d{1,2})"]],
	["mm", ["minute", "(\\d{2})"]],
	["ss", ["second", "(\\d{2})"]],
]);

/** A form such as `DD.MM.YYYY` or `M/D/YYYY hh:mm`, or the reason why a text is none. */
export function dateFormOf(text: string): DateForm | string {
	const parts: DatePart[] = [];
	let source = "";
	for (const [word] of text.matchAll(/([A-Za-z])\1*|[^]/g)) {
		const [part, digits] = LETTERS.get(word) ?? [];
		if (part === undefined && /[A-Za-z]/.test(word) && word !== "T") {
			const year = /^y+$/i.test(word) ? "a year has four letters: YYYY" : `${word} is no part of a date`;
			return `${year}; the parts are YYYY, MM, DD, hh, mm and ss`;
		}
		if (part !== undefined && parts.includes(part)) return `${word} is the ${part}, which stands there twice`;
		if (part !== undefined) parts.push(part);
		source += digits ?? word.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
	}
	const missing = (["year", "month", "day"] as const).find((part) => !parts.includes(part));
	if (missing !== undefined) return `the ${missing} is missing; the parts are YYYY, MM, DD, hh, mm and ss`;
	if (parts.includes("minute") !== parts.includes("hour") || (parts.includes("second") && !parts.includes("hour"))) {
		return "a time needs hours and minutes: hh:mm or hh:mm:ss";
	}
	return { pattern: new RegExp(`^${source}$`), parts };
}

/**
 * A date as ISO text. Undefined for a text that does not have the form as a whole.
 *
 * @returns null for a text of that form that is no date, such as 31.02.2024
 */
export function isoDate(text: string, { pattern, parts }: DateForm): string | null | undefined {
	const found = pattern.exec(text);
	if (found === null) return undefined;
	const of = (part: DatePart): string => found[parts.indexOf(part) + 1]?.padStart(2, "0") ?? "";
	const day = `${of("year")}-${of("month")}-${of("day")}`;
	const time = `T${of("hour")}:${of("minute")}:${parts.includes("second") ? of("second") : "00"}`;
	const date = parts.includes("hour") ? day + time : day;
	const parsed = new Date(parts.includes("hour") ? `${date}Z` : date);
	// One that does not exist is none, or becomes another: 31.02. is 02.03.
	const exists = !Number.isNaN(parsed.valueOf()) && parsed.toISOString().startsWith(date);
	return exists && of("year") !== "0000" ? date : null;
}
