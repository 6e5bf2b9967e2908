import { CliError, Exit, usageError } from "../../errors.ts";
import { KeyTypes, typeOf, type ValueType } from "../../json/value-types.ts";
import { compareUnits, isJsonArray, type JsonValue, type Metadata } from "../../json/values.ts";
import { valueText } from "../../plan/condition.ts";
import { show } from "../../text/show.ts";
import { spellings, closest } from "./spellings.ts";

/** A metadata key of a dataset. */
export type KeyCount = {
	readonly key: string;
	/** documents that have it */
	readonly documents: number;
	/** how many of them have which type, the commonest first */
	readonly types: readonly (readonly [ValueType, number])[];
	/** commoner keys of which it may be a misspelling */
	readonly like: readonly string[];
};

/** A value of one key. The items of a list count one by one. */
export type ValueCount = ReturnType<ReturnType<typeof valueCounts>["entries"]>[number];

/** Keys that a message lists. */
const MOST_LISTED = 10;

/** Counts the keys of documents. Memory grows with the number of different keys. */
export class KeyCounts {
	readonly #types = new KeyTypes();
	documents = 0;
	/** documents of which a list shows metadata, be it empty */
	#withMetadata = 0;

	/** @param metadata undefined where the list does not show it */
	add(metadata: Metadata | undefined): void {
		this.documents += 1;
		if (metadata === undefined) return;
		this.#withMetadata += 1;
		this.#types.add(metadata);
	}

	/** Whether there is a document, and none was listed with metadata. */
	get showNone(): boolean {
		return this.documents > 0 && this.#withMetadata === 0;
	}

	/** The types of a key, the commonest first. */
	typesOf(key: string): KeyCount["types"] {
		return this.#types.of(key) ?? [];
	}

	/** The commonest first. */
	entries(): readonly KeyCount[] {
		const counts = this.#types.counts();
		const like = spellings(counts.map(([key]) => key));
		return counts.map(([key, documents]) => {
			return { key, documents, types: this.typesOf(key), like: like.get(key) ?? [] };
		});
	}

	/** The first of these keys that no document has. */
	firstUnknown<Named extends { readonly key: string }>(named: readonly Named[]): Named | undefined {
		return named.find(({ key }) => this.#types.of(key) === undefined);
	}

	/** The error for a key that no document has. @param words before and after that, and at the end of the hint */
	unknown(key: string, dataset: string, { before = "", end = "", advice = "" } = {}): CliError {
		const known = this.#types.counts().map(([each]) => each);
		const near = closest(key, known);
		const listed = known.slice(0, MOST_LISTED).map((each) => show(each));
		const more = known.length > listed.length ? ", …" : "";
		const all = `The commonest keys: ${listed.join(", ")}${more}.`;
		const there = known.length === 0 ? "No document has any metadata." : all;
		return usageError(
			`${before}no document of dataset ${show(dataset)} has the key ${show(key)}${end}`,
			`${near === undefined ? there : `Did you mean ${show(near)}?`}${advice}`,
		);
	}
}

/** Whether values of a key have several types. A null says that there is no value. */
export function isMixed(types: KeyCount["types"]): boolean {
	return types.filter(([type]) => type !== "null").length > 1;
}

/** Types with their counts: `text 197, number 3`. */
export function typesText(types: KeyCount["types"]): string {
	return types.map(([type, count]) => (types.length === 1 ? type : `${type} ${count}`)).join(", ");
}

/** Counts the values of one key. Memory grows with the number of different values. */
export function valueCounts(key: string) {
	const values = new Map<string, Counted & { readonly isItem: boolean }>();
	const count = (value: JsonValue, isItem: boolean): void => {
		const name = `${isItem ? "item" : "value"} ${JSON.stringify(value)}`;
		const { documents = 0 } = values.get(name) ?? {};
		values.set(name, { value, isItem, documents: documents + 1 });
	};
	return {
		/** The number of different values. */
		get different() {
			return values.size;
		},
		add(metadata: Metadata): void {
			const value = metadata.get(key);
			if (value === undefined) return;
			// A document counts once for an item that its list repeats.
			const items = isJsonArray(value) ? new Map(value.map((item) => [JSON.stringify(item), item])) : undefined;
			if (items === undefined || items.size === 0) count(value, false);
			else for (const item of items.values()) count(item, true);
		},
		/** The values for a map, the commonest first: there an item of a list is the same as a value by itself. */
		merged(): readonly Counted[] {
			const merged = new Map<string, Counted>();
			for (const { value, documents } of values.values()) {
				const name = JSON.stringify(value);
				merged.set(name, { value, documents: documents + (merged.get(name)?.documents ?? 0) });
			}
			return [...merged.values()].toSorted(commonestFirst);
		},
		/** The commonest first. */
		entries() {
			const sorted = [...values.values()].toSorted(commonestFirst);
			const texts = new Set(sorted.flatMap(({ value }) => (typeof value === "string" ? [value] : [])));
			const like = spellings([...texts]);
			return sorted.map(({ value, isItem, documents }) => ({
				value,
				type: typeOf(value),
				isItem,
				documents,
				/** commoner values of which it may be a misspelling */
				like: (typeof value === "string" ? like.get(value) : undefined) ?? [],
			}));
		},
	};
}

type Counted = { readonly value: JsonValue; readonly documents: number };

function commonestFirst(one: Counted, other: Counted): number {
	return other.documents - one.documents || compareUnits(valueText(one.value), valueText(other.value));
}

/** Refuses a key that no document has, and a list that shows no metadata. @throws CliError exit 2, or 1 */
export function refuseMissing(keys: readonly string[], counted: KeyCounts, dataset: string): void {
	if (counted.showNone) {
		throw new CliError(`the list of dataset ${show(dataset)} shows no metadata, so there is nothing to count`, {
			exit: Exit.failedRows,
			hint: "ragtag doctor says what this service is.",
		});
	}
	const missing = counted.firstUnknown(keys.map((key) => ({ key })));
	if (missing !== undefined) throw counted.unknown(missing.key, dataset);
}
