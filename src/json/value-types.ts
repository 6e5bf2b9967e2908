import { compareUnits, isJsonObject, type JsonValue, isJsonArray, type Metadata } from "./values.ts";

/**
 * The types that a search engine gives to a key, one bit each. RAGFlow keeps metadata in Elasticsearch 8.11 from v0.24 on,
 * with dynamic mapping (conf/doc_meta_es_mapping.json): date detection on, numeric detection off.
 */
export const TYPE = { whole: 1, number: 2, boolean: 4, date: 8, slashed: 16, text: 32, object: 64 } as const;

const NUMBERS = TYPE.whole | TYPE.number;
const DATES = TYPE.date | TYPE.slashed;

export type ValueTypes = {
	/** the type that the value gives to a key without one */
	readonly makes: number;
	/** the types of a key that take the value: a number takes "7", a date takes milliseconds, a text takes everything */
	readonly fits: number;
};

const PLAIN_TEXT: ValueTypes = { makes: TYPE.text, fits: TYPE.text };
const EMPTY_TEXT: ValueTypes = { makes: TYPE.text, fits: TYPE.text | NUMBERS | TYPE.boolean };
const BOOLEAN: ValueTypes = { makes: TYPE.boolean, fits: TYPE.boolean | TYPE.text };
const BOOLEAN_TEXT: ValueTypes = { makes: TYPE.text, fits: TYPE.boolean | TYPE.text };
const OBJECT: ValueTypes = { makes: TYPE.object, fits: TYPE.object };

/** What one value is to a search engine. Neither null nor a list is a value of its own. */
export function typesOf(value: Exclude<JsonValue, null | readonly JsonValue[]>): ValueTypes {
	if (typeof value === "string") return typesOfText(value);
	if (typeof value === "boolean") return BOOLEAN;
	if (isJsonObject(value)) return OBJECT;
	const text = String(value);
	const makes = /^-?\d+$/.test(text) ? TYPE.whole : TYPE.number;
	return { makes, fits: TYPE.text | numbersThatTake(value) | datesThatTake(text) };
}

/** Characters of the longest text that may be a number or a date: most texts are longer, or begin otherwise. */
const LONGEST = 40;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const MAY_BE_MORE = /^[\d.+-]/;

function typesOfText(text: string): ValueTypes {
	if (text === "") return EMPTY_TEXT;
	if (text === "true" || text === "false") return BOOLEAN_TEXT;
	if (text.length > LONGEST || !MAY_BE_MORE.test(text)) return PLAIN_TEXT;
	const numbers = NUMBER.test(text) ? numbersThatTake(Number(text)) : 0;
	const dates = datesThatTake(text);
	// A text that is a number, such as a year, makes no date.
	const isDate = dates !== 0 && dates !== DATES && !NUMBER.test(text);
	return { makes: isDate ? dates : TYPE.text, fits: TYPE.text | numbers | dates };
}

function numbersThatTake(value: number): number {
	return (Math.abs(value) < 2 ** 63 ? TYPE.whole : 0) | (Number.isFinite(Math.fround(value)) ? TYPE.number : 0);
}

const MILLISECONDS = /^-?\d{1,18}(?:\.\d+)?$/;
const ISO =
	/^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(?:([01]\d|2[0-3])(?::[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?)?)?$/;
const SLASHED = /^(\d{4})\/(\d\d)\/(\d\d)(?: (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)?$/;

function datesThatTake(text: string): number {
	if (MILLISECONDS.test(text)) return DATES;
	if (isDayIn(ISO.exec(text))) return TYPE.date;
	return isDayIn(SLASHED.exec(text)) ? TYPE.slashed : 0;
}

function isDayIn(found: RegExpExecArray | null): boolean {
	if (found === null) return false;
	const [, year, month = "01", day = "01"] = found;
	return isDay(Number(year), Number(month), Number(day));
}

/** Whether a day is on the calendar: 2024-02-30 is not, and engines refuse it. */
export function isDay(year: number, month: number, day: number): boolean {
	if (month < 1 || month > 12) return false;
	const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
	return day >= 1 && day <= (month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31);
}

const WORDS: readonly (readonly [bits: number, plural: string, singular: string])[] = [
	[TYPE.object, "objects", "an object"],
	[NUMBERS, "numbers", "a number"],
	[TYPE.boolean, "booleans", "a boolean"],
	[TYPE.date, "dates", "a date"],
	[TYPE.slashed, "dates with slashes", "a date with slashes"],
	[TYPE.text, "texts", "text"],
];

/** `numbers`, `dates or texts`: the types of a key, in words. */
export function typeWords(types: number): string {
	return WORDS.flatMap(([bits, plural]) => ((types & bits) === 0 ? [] : [plural])).join(" or ");
}

/** `text`, `a number`: what a value is. */
export function kindWord({ makes }: ValueTypes): string {
	return WORDS.find(([bits]) => (makes & bits) !== 0)?.[2] ?? "of another type";
}

export type ValueType = "text" | "number" | "boolean" | "null" | "list" | "object";

export function typeOf(value: JsonValue): ValueType {
	if (value === null) return "null";
	if (typeof value === "string") return "text";
	if (typeof value === "number") return "number";
	if (typeof value === "boolean") return "boolean";
	return isJsonArray(value) ? "list" : "object";
}

/** The keys of documents, and how many of them have which type of value. Memory grows with the number of different keys. */
export class KeyTypes {
	readonly #keys = new Map<string, Map<ValueType, number>>();

	add(metadata: Metadata): void {
		for (const [key, value] of metadata) {
			let types = this.#keys.get(key);
			if (types === undefined) this.#keys.set(key, (types = new Map<ValueType, number>()));
			const type = typeOf(value);
			types.set(type, (types.get(type) ?? 0) + 1);
		}
	}

	/** The types of a key, the commonest first; undefined where no document has the key. */
	of(key: string): readonly (readonly [ValueType, number])[] | undefined {
		const types = this.#keys.get(key);
		return types && [...types].toSorted(([, one], [, other]) => other - one);
	}

	/** The number of documents that have each key, the commonest first. */
	counts(): readonly (readonly [key: string, documents: number])[] {
		const counted = Array.from(this.#keys, ([key, types]) => {
			return [key, [...types.values()].reduce((sum, count) => sum + count, 0)] as const;
		});
		return counted.toSorted(([one, count], [other, another]) => another - count || compareUnits(one, other));
	}
}
