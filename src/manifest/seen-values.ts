import { brokenChange, listSteps, mayHoldStep } from "../json/list-change.ts";
import { typeOf, type ValueType } from "../json/value-types.ts";
import { isJsonArray, type JsonValue, type Metadata } from "../json/values.ts";
import { type CellType, splitList } from "./rows/typed.ts";
import type { ManifestOptions } from "./types.ts";
import { excerpt } from "../text/show.ts";

/** A column whose cells are the values of a key. */
export type KeyColumn = { readonly cell: number; readonly key: string; readonly type: CellType };

/** The first characters of the JSON texts that a cell may hold. */
const BY_FIRST: ReadonlyMap<string, ValueType> = new Map<string, ValueType>([
	["{", "object"],
	["[", "list"],
	['"', "text"],
	["t", "boolean"],
	["f", "boolean"],
	["n", "null"],
]);

type Options = Pick<ManifestOptions, "set" | "setCells" | "mergeOnly" | "deleteToken" | "cells">;

/**
 * What a first reading sees of the values of a manifest: the keys with the types of their values, and what is odd in them
 * and no problem. Memory grows with the number of different keys.
 */
export class SeenValues {
	readonly keys = new Map<string, Map<ValueType, number | undefined>>();
	readonly #odd: OddValues;
	readonly #options: Options;
	/** the columns of which more is to be seen */
	#columns: KeyColumn[] | undefined;

	constructor(options: Options) {
		this.#options = options;
		this.#odd = new OddValues(options.mergeOnly?.lists === true);
		for (const { key, type, cell } of options.setCells ?? []) this.#odd.add(key, type, cell);
		this.row(options.set, undefined);
	}

	/** What is odd, as sentences. */
	get notes(): readonly string[] {
		return this.#odd.texts();
	}

	/** The cells of a CSV row. A column is left out once no further cell can show anything new. */
	cells(columns: readonly KeyColumn[], cells: readonly string[], line: number): void {
		this.#columns ??= columns.filter(({ key }) => !this.#options.set.has(key));
		let isDone = false;
		for (const column of this.#columns) {
			const text = cells[column.cell] ?? "";
			if (text !== "") isDone = this.#cell(column, text, line) || isDone;
		}
		if (isDone) this.#columns = this.#columns.filter((column) => !this.#isDone(column));
	}

	/** The metadata of a JSON row. */
	row(metadata: Metadata, line: number | undefined): void {
		for (const [key, value] of metadata) {
			this.#see(key, this.#typeOf(value), line);
			if (line !== undefined && isJsonArray(value) && value.length > 0) this.#list(key, value, line);
		}
	}

	/** @returns whether its column is left out from now on */
	#cell(column: KeyColumn, text: string, line: number): boolean {
		const { key, type } = column;
		const { deleteToken } = this.#options;
		const isChange = type === "list" && deleteToken !== undefined && /^[+-]/.test(text);
		if (text === deleteToken || isChange) {
			this.#see(key, undefined, line);
			return false;
		}
		if (type === "json") this.#see(key, BY_FIRST.get(text.trimStart().charAt(0)) ?? "number", line);
		else if (this.keys.get(key)?.has(type) !== true) this.#see(key, type, line);
		// What is odd by the usual forms may be meant by these.
		if (this.#options.cells === undefined) this.#odd.add(key, type, text, line);
		return this.#isDone(column);
	}

	#isDone({ key, type }: KeyColumn): boolean {
		return type !== "json" && this.keys.get(key)?.has(type) === true && this.#odd.isDone(key, type);
	}

	/** A list in JSON is a value; in a merge it may have been meant as a change. */
	#list(key: string, items: readonly JsonValue[], line: number): void {
		const { deleteToken } = this.#options;
		if (deleteToken === undefined || listSteps(items) !== undefined) return;
		const texts = items.filter((item) => typeof item === "string");
		if (brokenChange(texts, deleteToken) !== undefined) this.#odd.addReplacing(key, items, line);
	}

	/** The type of a value; undefined for one that only a merge with a document gives a type. */
	#typeOf(value: JsonValue): ValueType | undefined {
		const { deleteToken } = this.#options;
		if (deleteToken !== undefined && (value === deleteToken || listSteps(value) !== undefined)) return undefined;
		return typeOf(value);
	}

	#see(key: string, type: ValueType | undefined, line: number | undefined): void {
		let types = this.keys.get(key);
		if (types === undefined) this.keys.set(key, (types = new Map<ValueType, number | undefined>()));
		if (type !== undefined && !types.has(type)) types.set(type, line);
	}
}

/** Notes of a manifest at most: more of them would hide each other. */
const MOST_NOTES = 5;

/** A number that a person may have written with a point between thousands. */
const GROUPED = /^-?[1-9]\d{0,2}\.\d{3}$/;

/** The first value of its kind, and where it stands. */
type Place = { readonly text: string; readonly line: number | undefined };

/** What was seen of the values of a key. */
type Seen = {
	lists: number;
	/** lists of one item that holds what divides items elsewhere */
	undivided: number;
	firstUndivided?: Place;
	/** a list of several items, or a number that no one groups so */
	isPlain: boolean;
	firstGrouped?: Place;
	/** half a change, in a run that replaces */
	firstLiteral?: Place;
	/** half a change, in JSON for a merge */
	firstReplacing?: Place;
};

/** Values that are valid, and that probably mean something else. Each kind is named once for each key. */
export class OddValues {
	readonly #keys = new Map<string, Seen>();
	readonly #namesChanges: boolean;

	/** @param namesChanges whether half a change of a list is named: it is stored as it stands */
	constructor(namesChanges: boolean) {
		this.#namesChanges = namesChanges;
	}

	/** A cell of a column, or the value of a setting. */
	add(key: string, type: CellType, cell: string, line?: number): void {
		if (type === "list") this.#addList(this.#seen(key), cell, line);
		else if (type === "number") addNumber(this.#seen(key), cell, line);
	}

	/** A JSON list that replaces the present one, though some of its items look like steps of a change. */
	addReplacing(key: string, items: readonly JsonValue[], line: number): void {
		this.#seen(key).firstReplacing ??= { text: JSON.stringify(items), line };
	}

	/** Whether no further value of the key can be odd. */
	isDone(key: string, type: CellType): boolean {
		if (type !== "list" && type !== "number") return true;
		const seen = this.#keys.get(key);
		if (seen?.isPlain !== true) return false;
		return type === "number" || !this.#namesChanges || seen.firstLiteral !== undefined;
	}

	texts(): readonly string[] {
		const texts = Array.from(this.#keys, ([key, seen]) =>
			textsOf(seen).map((text) => `${excerpt(key)}: ${text}`),
		).flat();
		return texts.slice(0, MOST_NOTES);
	}

	#seen(key: string): Seen {
		let seen = this.#keys.get(key);
		if (seen === undefined) this.#keys.set(key, (seen = { lists: 0, undivided: 0, isPlain: false }));
		return seen;
	}

	#addList(seen: Seen, cell: string, line: number | undefined): void {
		seen.lists += 1;
		if (cell.includes("|")) seen.isPlain = true;
		else if (/, |;/.test(cell)) {
			seen.undivided += 1;
			seen.firstUndivided ??= { text: cell, line };
		}
		if (!this.#namesChanges || seen.firstLiteral !== undefined || !mayHoldStep(cell)) return;
		if (brokenChange(splitList(cell)) !== undefined) seen.firstLiteral = { text: cell, line };
	}
}

function addNumber(seen: Seen, cell: string, line: number | undefined): void {
	if (GROUPED.test(cell)) seen.firstGrouped ??= { text: cell, line };
	else if (cell.includes(".") || /^-?\d{4}/.test(cell)) seen.isPlain = true;
}

function textsOf({ lists, undivided, isPlain, ...first }: Seen): string[] {
	const { firstUndivided, firstGrouped, firstLiteral, firstReplacing } = first;
	const texts: string[] = [];
	if (firstUndivided !== undefined && !isPlain && undivided > lists / 2) {
		texts.push(`${placed(firstUndivided)} is a list of one item; items are divided by |`);
	}
	if (firstGrouped !== undefined && !isPlain) {
		const { text } = firstGrouped;
		texts.push(`${placed(firstGrouped)} is read as ${Number(text)}; if it means ${text.replace(".", "")}, write that`);
	}
	if (firstLiteral !== undefined) {
		texts.push(`${placed(firstLiteral)} is stored as it stands; +item and -item change a list only with --mode merge`);
	}
	if (firstReplacing !== undefined) {
		texts.push(`${placed(firstReplacing)} replaces the whole list, as not each of its items has a sign`);
	}
	return texts;
}

function placed({ text, line }: Place): string {
	return `"${excerpt(text)}"${line === undefined ? "" : ` on line ${line}`}`;
}
