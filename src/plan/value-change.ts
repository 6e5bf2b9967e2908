import { canonicalText, isJsonArray, type JsonValue, type Metadata, sameValue } from "../json/values.ts";

/** What a value becomes: `to` is undefined where it is deleted. */
type NewValue = { readonly to: JsonValue | undefined; readonly line: number };

/** What becomes of the values of one key. It remembers which values some document had. */
export class ValueMap {
	readonly #changes = new Map<string, NewValue & { readonly from: JsonValue; isFound: boolean }>();

	/** @param line of the row that says so, from 1 */
	add(from: JsonValue, { to, line }: NewValue): void {
		this.#changes.set(canonicalText(from), { from, to, line, isFound: false });
	}

	/** The values that no document had so far. */
	get notFound(): readonly { readonly from: JsonValue; readonly line: number }[] {
		return [...this.#changes.values()].filter(({ isFound }) => !isFound);
	}

	/** What a document's value becomes; undefined where it stays. Of a list, each item is a value, unless the map has the list. */
	of(value: JsonValue): NewValue | undefined {
		const whole = this.#find(value);
		if (whole !== undefined || !isJsonArray(value)) return whole;
		const changes = value.map((item) => this.#find(item));
		const first = changes.find((change) => change !== undefined);
		if (first === undefined) return undefined;
		const kept = value.filter((_, at) => changes[at] === undefined);
		const there = new Set(kept.map(canonicalText));
		const items = value.flatMap((item, at) => {
			const change = changes[at];
			if (change === undefined) return [item];
			// A list takes the place of its item. An item that is there already is not added twice.
			const { to } = change;
			const added = (to === undefined ? [] : isJsonArray(to) ? to : [to]).filter(
				(each) => !there.has(canonicalText(each)),
			);
			for (const each of added) there.add(canonicalText(each));
			return added;
		});
		return { to: items, line: first.line };
	}

	#find(value: JsonValue): NewValue | undefined {
		const found = this.#changes.get(canonicalText(value));
		if (found === undefined) return undefined;
		found.isFound = true;
		return { to: found.to, line: found.line };
	}
}

/** Metadata in which one key has another value, in the same place; none where that is undefined. */
export function withValue(metadata: Metadata, key: string, value: JsonValue | undefined): Metadata {
	const changed = new Map(metadata);
	if (value === undefined) changed.delete(key);
	else changed.set(key, value);
	return changed;
}

/** Metadata with other names of its keys, or the first key whose new name another value has. */
export function renamedKeys(
	metadata: Metadata,
	names: ReadonlyMap<string, string>,
): { readonly metadata: Metadata } | { readonly taken: readonly [from: string, to: string] } {
	const renamed = new Map<string, JsonValue>();
	for (const [key, value] of metadata) {
		const to = names.get(key);
		if (to === undefined) renamed.set(key, value);
		else if (metadata.has(to) && !sameValue(value, metadata.get(to))) return { taken: [key, to] };
		else renamed.set(to, value);
	}
	return { metadata: renamed };
}
