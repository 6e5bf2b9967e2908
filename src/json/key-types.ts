import { isJsonArray, type JsonValue, type Metadata } from "./values.ts";

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

/** The order of two texts by code units: the same in every locale. */
export function compareUnits(one: string, other: string): number {
	return one < other ? -1 : one > other ? 1 : 0;
}
