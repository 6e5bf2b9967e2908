import { isObject, rawItems } from "../json-text.ts";
import { pythonStr, pythonStrOfJson } from "../python.ts";
import { Code, Failure } from "./failure.ts";

/** A change of one key; `value` and `match` are undefined where the request has none. */
export type Entry = { readonly key: string; readonly value: unknown; readonly match: unknown };

export type MetadataChanges = { readonly updates: readonly Entry[]; readonly deletes: readonly Entry[] };

/** The changes that a request names, checked. */
export function changesOf(members: { readonly [name: string]: unknown }): MetadataChanges {
	const { updates, deletes } = members;
	return { updates: entriesOf(updates ?? [], "updates"), deletes: entriesOf(deletes ?? [], "deletes") };
}

function entriesOf(value: unknown, member: keyof MetadataChanges): Entry[] {
	if (!Array.isArray(value)) throw new Failure(Code.data, "updates and deletes must be lists.");
	return value.map((entry: unknown) => {
		const key = isObject(entry) ? entry["key"] : undefined;
		const whole = isObject(entry) && (member === "deletes" || Object.hasOwn(entry, "value"));
		if (whole && typeof key === "string" && key !== "") return { key, value: entry["value"], match: entry["match"] };
		const why = member === "updates" ? "Each update requires key and value." : "Each delete requires key.";
		throw new Failure(Code.data, why);
	});
}

/**
 * Metadata after changes, as raw JSON by key. `batch_update_metadata` in api/db/services/doc_metadata_service.py, v0.25.6 to
 * v0.27.0: values are added to a list, and a value to match or to remove is compared as text.
 */
export function changed(
	before: ReadonlyMap<string, string>,
	{ updates, deletes }: MetadataChanges,
): ReadonlyMap<string, string> {
	const members = new Map(before);
	for (const update of updates) {
		const raw = updated(members.get(update.key), update);
		if (raw !== undefined) members.set(update.key, raw);
	}
	for (const { key, value } of deletes) {
		const present = members.get(key);
		if (present === undefined) continue;
		const left = value === undefined || value === null ? [] : without(present, value);
		if (left === undefined) continue;
		if (left.length === 0) members.delete(key);
		else members.set(key, listText(left));
	}
	return members;
}

/** The new value of a key; undefined where it stays as it is. */
function updated(present: string | undefined, { value, match }: Entry): string | undefined {
	const raw = JSON.stringify(value);
	const isAnyMatched = match === undefined || match === null || match === "";
	if (present === undefined) return isAnyMatched ? raw : undefined;
	if (!present.startsWith("[")) return isAnyMatched || isText(present, match) ? raw : undefined;
	const items = rawItems(present);
	if (isAnyMatched) return listText([...items, ...(Array.isArray(value) ? rawItems(raw) : [raw])]);
	return items.some((item) => isText(item, match))
		? listText(items.map((item) => (isText(item, match) ? raw : item)))
		: undefined;
}

/** The items that are left of a value; undefined where it has nothing to remove. */
function without(present: string, value: unknown): readonly string[] | undefined {
	const items = present.startsWith("[") ? rawItems(present) : [present];
	const left = items.filter((item) => !isText(item, value));
	return left.length === items.length ? undefined : left;
}

function listText(items: readonly string[]): string {
	return `[${[...new Set(items)].join(",")}]`;
}

function isText(raw: string, value: unknown): boolean {
	return pythonStrOfJson(raw) === pythonStr(value);
}
