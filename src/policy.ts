import type { JsonValue } from "./json/values.ts";

/** The most documents that one run may change: a number, or a share of its rows. */
export type MaxChanges = { readonly unit: "documents" | "percent"; readonly value: number };

/** The rules of a profile for every run. An empty or undefined rule forbids nothing. */
export type Policy = {
	/** keys that no run may add, change or remove */
	readonly protectedKeys: ReadonlySet<string>;
	/** the values that a key may get; for a list, the values of each item */
	readonly allowed: ReadonlyMap<string, readonly JsonValue[]>;
	/** keys that each written document must have afterwards, with a value other than null */
	readonly required: ReadonlySet<string>;
	readonly maxChanges: MaxChanges | undefined;
	/** whether a document with metadata must keep some of it */
	readonly noClearing: boolean;
};
