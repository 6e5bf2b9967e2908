import { isJsonArray, type JsonValue, type Metadata, sameValue } from "../json/values.ts";
import { DELETE_TOKEN, type ListStep, listSteps } from "../json/list-change.ts";
import { valueText } from "./condition.ts";
import { isNotJson } from "../json/parse-json.ts";
import type { InexactValues } from "../rest/inexact.ts";
import type { Normalise } from "../rest/flavours.ts";

export type Mode = "replace" | "merge";

/**
 * How the metadata to send is made from a row. `replace` sends the row's metadata as it is. `merge` adds it to what the
 * document has: a value equal to the token removes its key, and a list of only `+item` and `-item` changes the present
 * list. A value that the document already has is taken as it is, so a manifest of present values changes nothing.
 */
export type Change = { readonly mode: "replace" } | { readonly mode: "merge"; readonly deleteToken: string };

/** The change that the options of a command describe. */
export function changeOf(mode: Mode, deleteToken: string = DELETE_TOKEN): Change {
	return mode === "merge" ? { mode, deleteToken } : { mode };
}

/**
 * The metadata to send for a row.
 *
 * Both modes give one whole object, because the service may replace all that a document has: a merge is done here, never by
 * the server.
 */
export function metadataToSend(change: Change, present: Metadata, wanted: Metadata): Metadata {
	if (change.mode === "replace") return wanted;
	const merged = new Map(present);
	for (const [key, value] of wanted) {
		// A present value stays, even if it looks like the token or like a change of a list.
		if (sameValue(value, present.get(key))) continue;
		if (value === change.deleteToken) {
			merged.delete(key);
			continue;
		}
		const steps = listSteps(value);
		const next = steps === undefined ? value : changedList(present.get(key), steps);
		if (next !== undefined) merged.set(key, next);
	}
	return merged;
}

/** Whether the document's present value of that key is sent for a row. */
export function keepsValue(change: Change, key: string, wanted: Metadata): boolean {
	if (change.mode === "replace") return false;
	const value = wanted.get(key);
	return value === undefined || (value !== change.deleteToken && listSteps(value) !== undefined);
}

/**
 * The present value after the steps. Where they change nothing it is returned as it is: a plain value does not become a list,
 * and an absent one no empty list.
 */
function changedList(present: JsonValue | undefined, steps: readonly ListStep[]): JsonValue | undefined {
	const before = present === undefined || present === null ? [] : isJsonArray(present) ? present : [present];
	let items: readonly JsonValue[] = before;
	for (const { adds, item } of steps) {
		// Compared as text, like `--where`: items of a manifest are text, and items of a document may be numbers.
		const isThere = items.some((each) => valueText(each) === item);
		if (adds && !isThere) items = [...items, item];
		if (!adds && isThere) items = items.filter((each) => valueText(each) !== item);
	}
	const isSame = items.length === before.length && items.every((item, at) => item === before[at]);
	return isSame ? present : items;
}

/** The changes of a document, by key. */
export type Difference = {
	readonly add: Metadata;
	readonly change: ReadonlyMap<string, { readonly from: JsonValue; readonly to: JsonValue }>;
	readonly remove: Metadata;
};

/**
 * The difference between what a document has and what would be sent. It shows values as they would be sent.
 *
 * @param normalise gives what the service stores of sent metadata: values that are equal after it are no change
 * @param inexact values that came rounded or are no JSON, as texts. They differ from everything that is sent, and
 * values that are no JSON are shown as these texts
 */
export function differenceOf(
	present: Metadata,
	sent: Metadata,
	normalise: Normalise = (metadata) => metadata,
	inexact?: InexactValues,
): Difference {
	const [keptPresent, keptSent] = [normalise(present), normalise(sent)];
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
