import { isJsonArray, type JsonValue, type Metadata, sameValue } from "../json/values.ts";
import { DELETE_TOKEN, type ListStep, listSteps } from "../json/list-change.ts";
import { valueText } from "./condition.ts";
import { isNotJson } from "../json/not-json.ts";
import type { InexactValues } from "../rest/inexact.ts";
import type { Normalise } from "../rest/flavours.ts";

export type Mode = "replace" | "merge";

/**
 * How a row becomes what is sent. `replace` sends the row's metadata as it stands; `merge` lays it over what the document
 * has: a value equal to the token removes its key, and a list of `+item` and `-item` changes the present list. What a
 * document has already is neither: a manifest of present values changes nothing.
 */
export type Change = { readonly mode: "replace" } | { readonly mode: "merge"; readonly deleteToken: string };

/** The change that the options of a command stand for. */
export function changeOf(mode: Mode, deleteToken: string = DELETE_TOKEN): Change {
	return mode === "merge" ? { mode, deleteToken } : { mode };
}

/**
 * The metadata to send for a row.
 *
 * Both modes end in one whole object, because the service may replace what it has by what it gets: a merge is done here,
 * never left to the server.
 */
export function metadataToSend(change: Change, present: Metadata, wanted: Metadata): Metadata {
	if (change.mode === "replace") return wanted;
	const merged = new Map(present);
	for (const [key, value] of wanted) {
		// It may be a text that looks like the token, or a list that looks like a change: what is there already stays.
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

/** Whether what a document has under that key is part of what is sent for a row. */
export function keepsValue(change: Change, key: string, wanted: Metadata): boolean {
	if (change.mode === "replace") return false;
	const value = wanted.get(key);
	return value === undefined || (value !== change.deleteToken && listSteps(value) !== undefined);
}

/**
 * What becomes of a present value. One that the steps leave as it was is given back as it is: a plain value does not become
 * a list, nor an absent one an empty list, for nothing.
 */
function changedList(present: JsonValue | undefined, steps: readonly ListStep[]): JsonValue | undefined {
	const before = present === undefined || present === null ? [] : isJsonArray(present) ? present : [present];
	let items: readonly JsonValue[] = before;
	for (const { adds, item } of steps) {
		// By text, as `--where` compares: a manifest's items are text, and those of a document may be numbers.
		const isThere = items.some((each) => valueText(each) === item);
		if (adds && !isThere) items = [...items, item];
		if (!adds && isThere) items = items.filter((each) => valueText(each) !== item);
	}
	const isSame = items.length === before.length && items.every((item, at) => item === before[at]);
	return isSame ? present : items;
}

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
