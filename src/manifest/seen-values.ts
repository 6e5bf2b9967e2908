import { brokenChange, listSteps } from "../json/list-change.ts";
import { typeOf, type ValueType } from "../json/value-types.ts";
import { isJsonArray, type Metadata } from "../json/values.ts";
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

/** Notes of a manifest at most: more of them would hide each other. */
const MOST_NOTES = 5;

/** A number that a person may have written with a point between thousands. */
const GROUPED = /^-?[1-9]\d{0,2}\.\d{3}$/;

/** The first value of its kind, and where it stands. */
type Place = { readonly text: string; readonly line: number | undefined };

/** What was seen of the values of a key that are valid, and that probably mean something else. */
type Odd = {
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

/**
 * What a first reading sees of the values of a manifest: the keys with the types of their values, and what is odd in them
 * and no problem. Memory grows with the number of different keys.
 */
export class SeenValues {
	readonly keys = new Map<string, Map<ValueType, number | undefined>>();
	readonly #odd = new Map<string, Odd>();
	readonly #options: Options;

	constructor(options: Options) {
		this.#options = options;
		for (const { key, type, cell } of options.setCells ?? []) this.#addOdd(key, type, cell, undefined);
		this.row(options.set, undefined);
	}

	/** What is odd, as sentences. Each kind is named once for each key. */
	get notes(): readonly string[] {
		const texts = Array.from(this.#odd, ([key, odd]) => textsOf(odd).map((text) => `${excerpt(key)}: ${text}`));
		return texts.flat().slice(0, MOST_NOTES);
	}

	/** The cells of a CSV row. */
	cells(columns: readonly KeyColumn[], cells: readonly string[], line: number): void {
		for (const column of columns) {
			const text = cells[column.cell] ?? "";
			if (text !== "" && !this.#options.set.has(column.key)) this.#cell(column, text, line);
		}
	}

	/** The metadata of a JSON row. */
	row(metadata: Metadata, line: number | undefined): void {
		const { deleteToken } = this.#options;
		for (const [key, value] of metadata) {
			// A value that only a merge with a document gives a type has none here.
			const isChange = deleteToken !== undefined && (value === deleteToken || listSteps(value) !== undefined);
			this.#see(key, isChange ? undefined : typeOf(value), line);
			if (isChange || deleteToken === undefined || line === undefined || !isJsonArray(value)) continue;
			// A list in JSON is a value; in a merge it may have been meant as a change.
			const texts = value.filter((item) => typeof item === "string");
			if (brokenChange(texts, deleteToken) === undefined) continue;
			this.#oddOf(key).firstReplacing ??= { text: JSON.stringify(value), line };
		}
	}

	#cell({ key, type }: KeyColumn, text: string, line: number): void {
		const { deleteToken, cells } = this.#options;
		const isChange = type === "list" && deleteToken !== undefined && /^[+-]/.test(text);
		if (text === deleteToken || isChange) this.#see(key, undefined, line);
		else {
			this.#see(key, type === "json" ? (BY_FIRST.get(text.trimStart().charAt(0)) ?? "number") : type, line);
			// With options for cells, an odd value may be meant.
			if (cells === undefined) this.#addOdd(key, type, text, line);
		}
	}

	#see(key: string, type: ValueType | undefined, line: number | undefined): void {
		let types = this.keys.get(key);
		if (types === undefined) this.keys.set(key, (types = new Map<ValueType, number | undefined>()));
		if (type !== undefined && !types.has(type)) types.set(type, line);
	}

	#oddOf(key: string): Odd {
		let odd = this.#odd.get(key);
		if (odd === undefined) this.#odd.set(key, (odd = { lists: 0, undivided: 0, isPlain: false }));
		return odd;
	}

	/** A cell of a column, or the value of a setting. */
	#addOdd(key: string, type: CellType, text: string, line: number | undefined): void {
		if (type !== "list" && type !== "number") return;
		const odd = this.#oddOf(key);
		if (type === "number") {
			if (GROUPED.test(text)) odd.firstGrouped ??= { text, line };
			else if (text.includes(".") || /^-?\d{4}/.test(text)) odd.isPlain = true;
			return;
		}
		odd.lists += 1;
		if (text.includes("|")) odd.isPlain = true;
		else if (/, |;/.test(text)) {
			odd.undivided += 1;
			odd.firstUndivided ??= { text, line };
		}
		// Half a change of a list is stored as it stands.
		const isLiteral = this.#options.mergeOnly?.lists === true && brokenChange(splitList(text)) !== undefined;
		if (isLiteral) odd.firstLiteral ??= { text, line };
	}
}

function textsOf({ lists, undivided, isPlain, ...first }: Odd): string[] {
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
