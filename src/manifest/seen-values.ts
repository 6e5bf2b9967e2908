import { brokenChange, listSteps } from "../json/list-change.ts";
import { typeOf, type ValueType } from "../json/key-types.ts";
import { isJsonArray, type JsonValue, type Metadata } from "../json/values.ts";
import { OddValues } from "./odd-values.ts";
import type { CellType } from "./rows/typed.ts";
import type { ManifestOptions } from "./types.ts";

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

type Options = Pick<ManifestOptions, "set" | "setCells" | "mergeOnly" | "deleteToken">;

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
		this.#odd.add(key, type, text, line);
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
