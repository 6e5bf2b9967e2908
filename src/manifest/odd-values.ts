import { brokenChange, mayHoldStep } from "../json/list-change.ts";
import type { JsonValue } from "../json/values.ts";
import { excerpt } from "../text/show.ts";
import { type CellType, splitList } from "./rows/typed.ts";

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
