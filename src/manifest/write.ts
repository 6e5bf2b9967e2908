import { usageError } from "../errors.ts";
import { hasHalfPair, type JsonValue, type Metadata } from "../json/values.ts";
import { DELETE_TOKEN, isLikeStep } from "../json/list-change.ts";
import { csvLine } from "./csv/cells.ts";
import { isReserved, meantReserved } from "./purposes.ts";
import { joinList, splitType, type CellType } from "./rows/typed.ts";
import { excerpt } from "../text/show.ts";

/**
 * Decides the columns of a CSV manifest from all documents, then writes them.
 *
 * Two passes over the documents: `see` each one, then `head` and `row`. Each key gets the plainest type that every
 * one of its values reads back from exactly, also after a spreadsheet opened and saved the file; a key that a document does
 * not have is an empty cell.
 */
export class ColumnPlan {
	readonly #types = new Map<string, CellType>();
	readonly #columns: readonly string[];

	/** @param columns before those of the metadata. A key of the same name gets an explicit type */
	constructor(columns: readonly string[]) {
		this.#columns = columns;
	}

	/** @param exact JSON texts of values with a number that no manifest can hold: such a cell is refused when it is read back */
	include(metadata: Metadata, exact?: ReadonlyMap<string, string>): void {
		for (const [key, value] of metadata) {
			const type = exact?.has(key) === true ? "json" : plainestType(value);
			const known = this.#types.get(key);
			this.#types.set(key, known === undefined || known === type ? type : "json");
		}
	}

	/** @throws CliError exit 2 when a key can't stand in a CSV header */
	head(): string {
		const names = Array.from(this.#types, ([key, type]) => columnName(key, type, this.#columns));
		return csvLine([...this.#columns, ...names]);
	}

	/** One document as a line, with the cells of the columns before its metadata. Its values must have been seen. */
	row(first: readonly string[], metadata: Metadata, exact?: ReadonlyMap<string, string>): string {
		const cells = Array.from(this.#types, ([key, type]) => {
			const value = metadata.get(key);
			const text = exact?.get(key);
			if (text !== undefined) return /^[-\d]/.test(text) ? asText(text) : text;
			return value === undefined ? "" : cellText(value, type);
		});
		return csvLine([...first, ...cells]);
	}
}

/** The header of a map of values, then a line for each. Both columns have the plainest type that holds every value. */
export function* mapLines(
	values: readonly { readonly value: JsonValue; readonly documents: number }[],
): Iterable<string> {
	const [first = "text", ...others] = new Set(values.map(({ value }) => plainestType(value)));
	const type = others.length === 0 ? first : "json";
	yield csvLine([columnName("old", type, []), columnName("new", type, []), "documents"]);
	for (const { value, documents } of values) yield csvLine([cellText(value, type), "", String(documents)]);
}

function plainestType(value: JsonValue): CellType {
	if (typeof value === "number") return numberSurvives(value) ? "number" : "json";
	if (typeof value === "boolean") return "boolean";
	if (hasHalfPair(value)) return "json";
	// An empty cell means that the key is absent, no cell can hold NUL, and the token is refused where it is a cell.
	if (typeof value === "string") return value !== "" && value !== DELETE_TOKEN && textSurvives(value) ? "text" : "json";
	if (Array.isArray(value) && isPlainList(value)) return textSurvives(joinList(value)) ? "list" : "json";
	return "json";
}

function isPlainList(items: readonly JsonValue[]): items is readonly string[] {
	if (items.length === 0 || (items.length === 1 && items[0] === "")) return false;
	// An item that begins with a sign would be read as a change of a list.
	return items.every((item) => typeof item === "string" && !isLikeStep(item));
}

function cellText(value: JsonValue, type: CellType): string {
	if (type === "text" && typeof value === "string") return value;
	if (type === "list" && Array.isArray(value)) return joinList(value.map(String));
	const text = JSON.stringify(value);
	return type === "json" && isBare(value) ? asText(text) : text;
}

/** White space after JSON does not change its value, and makes a spreadsheet keep it as text. */
function asText(json: string): string {
	return `${json}\t`;
}

/** JSON that a spreadsheet would take for its own number or truth value. */
function isBare(value: JsonValue): boolean {
	return typeof value === "boolean" || (typeof value === "number" && !numberSurvives(value));
}

/** The header of a key. Text needs no type, unless the key by itself would be read as something else. */
function columnName(key: string, type: CellType, columns: readonly string[]): string {
	const isHalf = hasHalfPair(key);
	if (isHalf || key.includes("\0")) {
		throw usageError(
			`the key "${excerpt(key)}" holds ${isHalf ? "half a surrogate pair" : "a NUL character"}, which CSV cannot`,
			"Use --format json.",
		);
	}
	const alone = splitType(key);
	const isTaken = key === "" || columns.includes(key) || isReserved(key) || meantReserved(key) !== undefined;
	const isPlain = !alone.explicit && alone.meant === undefined && !isTaken && textSurvives(key);
	return type === "text" && isPlain ? key : `${key}:${type}`;
}

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
function numberSurvives(value: number): boolean {
	const text = String(value);
	return Number(value.toPrecision(DIGITS)) === value && !text.includes("e-") && !/\.\d{3}$/.test(text);
}
