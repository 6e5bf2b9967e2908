/*
 * The changes that a spreadsheet makes to a cell when it opens and saves a file. LibreOffice's import was measured, with and without
 * its detection of special numbers: fixtures/spreadsheet holds what it wrote.
 */

/**
 * Shown as they were written, though they are taken for numbers and dates. Whole numbers of up to eleven digits: of
 * longer ones some spreadsheets show an exponent, and save what they show.
 */
const KEPT = /^(?:0|-?[1-9]\d{0,10}|\d{4}-\d\d-\d\d(?:T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)?)$/;

const MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*";

/** Most characters of a date in words, blanks included. The pattern takes minutes on a text much longer than that. */
const LONGEST_DATE = 200;

/** Texts that come back changed. */
const ALTERED: readonly RegExp[] = [
	// Formulas, which come back as their results.
	/^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/u,
	// Carriage returns, which become line feeds, tabs, which LibreOffice's own format drops, and what none can hold.
	// oxlint-disable-next-line no-control-regex
	/[\0-\t\x0B-\x1F]/,
	// Numbers, dates, times, amounts and shares: `007`, `1.10`, `1,000`, `1/2`, `02.01.2024`, `10:00`, `$5`, `5%`, `(5)`.
	/^(?=.*\d)[\s\d.,:;/()+\-%'#\p{Sc}]+$/su,
	/^\s*[\d.,]+e[+-]?\d+\s*$/i,
	/^\s*\d+-\d+-\d+t[\d:.,]*\s*$/i,
	/^\s*\d{1,2}[\d:.]*\s*[ap]m?\s*$/i,
	/^\s*(?:true|false|wahr|falsch|vrai|faux)\s*$/i,
	// Dates with the name of a month: `Jan 5`, `5 January 2024`, `MARCH1`, `Monday, January 1, 2024`.
	new RegExp(`^(?=.{1,${LONGEST_DATE}}$)(?=.*\\d)(?:[a-z]+day,?)?[\\s\\d.,/-]*${MONTH}[\\s\\d.,/-]*$`, "is"),
];

/** Whether a text in a cell comes back unchanged from a spreadsheet that opens the file with its default settings. */
export function textSurvives(text: string): boolean {
	return KEPT.test(text) || !ALTERED.some((altered) => altered.test(text));
}

/** Digits of a number that LibreOffice shows, and so writes. */
const DIGITS = 15;

/**
 * Whether a number comes back with its value. Of small ones LibreOffice shows twenty decimals at most, and a German one
 * takes the point before three digits for one between thousands.
 */
export function numberSurvives(value: number): boolean {
	const text = String(value);
	return Number(value.toPrecision(DIGITS)) === value && !text.includes("e-") && !/\.\d{3}$/.test(text);
}
