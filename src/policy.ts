import type { JsonValue } from "./json/values.ts";

/** How many documents one run may change: a number, or a share of its rows. */
export type MaxChanges = { readonly unit: "documents" | "percent"; readonly value: number };

/** What no run may do to documents, as a profile says it. A part that is empty or undefined forbids nothing. */
export type Policy = {
	/** keys that no run may add, change or remove */
	readonly protectedKeys: ReadonlySet<string>;
	/** the values that a key may be given; of a list, the values of each item */
	readonly allowed: ReadonlyMap<string, readonly JsonValue[]>;
	/** keys that each document that is written must have afterwards, with a value other than null */
	readonly required: ReadonlySet<string>;
	readonly maxChanges: MaxChanges | undefined;
	/** whether a document that has metadata must keep some */
	readonly noClearing: boolean;
};
