import { type JsonValue, type Metadata, sameValue } from "../json/values.ts";
import { isNotJson } from "../json/not-json.ts";
import type { InexactValues, Normalise } from "../rest/types.ts";

/** What a row would do to the keys of its document. */
export type Difference = {
	readonly add: Metadata;
	readonly change: ReadonlyMap<string, { readonly from: JsonValue; readonly to: JsonValue }>;
	readonly remove: Metadata;
};

/**
 * What differs between what a document has and what would be sent, by key.
 *
 * @param keeps what the service keeps of what it is sent: a list that it takes apart to what is there already is no change.
 * What is shown is what would be sent
 * @param inexact what the document has that can't be sent back: it is equal to nothing that is sent. What is no JSON is
 * shown as the text that the service gave
 */
export function differenceOf(
	present: Metadata,
	sent: Metadata,
	keeps: Normalise = (metadata) => metadata,
	inexact?: InexactValues,
): Difference {
	const [keptPresent, keptSent] = [keeps(present), keeps(sent)];
	const add = new Map<string, JsonValue>();
	const change = new Map<string, { from: JsonValue; to: JsonValue }>();
	const remove = new Map<string, JsonValue>();
	const shown = (key: string, value: JsonValue): JsonValue => {
		const text = inexact?.get(key);
		return text !== undefined && isNotJson(text) ? text : value;
	};
	for (const [key, to] of sent) {
		const from = present.get(key);
		if (from === undefined) add.set(key, to);
		else if (
			inexact?.has(key) === true ||
			(!sameValue(from, to) && !sameValue(keptPresent.get(key) ?? null, keptSent.get(key)))
		) {
			change.set(key, { from: shown(key, from), to });
		}
	}
	for (const [key, value] of present) if (!sent.has(key)) remove.set(key, shown(key, value));
	return { add, change, remove };
}
