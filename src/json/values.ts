/** A JSON value as it came from a manifest or a service. Objects are data: never merged into a prototype. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [key: string]: JsonValue };

/** The metadata of one document: key to value, in the order in which the manifest or the service gave them. */
export type Metadata = ReadonlyMap<string, JsonValue>;

/**
 * The JSON text of a metadata object, keys in the order of the map.
 *
 * Written member by member because an object would reorder keys that look like numbers and swallow `__proto__`.
 *
 * @param exact the JSON texts of values that a `JsonValue` can't hold, by their keys
 */
export function metadataText(metadata: Metadata, exact?: ReadonlyMap<string, string>): string {
	const members: string[] = [];
	for (const [key, value] of metadata)
		members.push(`${JSON.stringify(key)}:${exact?.get(key) ?? JSON.stringify(value)}`);
	return `{${members.join(",")}}`;
}

/** The JSON text of an object. Maps become text by themselves, so that keys keep their order and `__proto__` is one of them. */
export function membersText(members: Readonly<Record<string, JsonValue | Metadata | undefined>>): string {
	const texts: string[] = [];
	for (const name in members) {
		const value = members[name];
		if (value === undefined) continue;
		texts.push(`"${name}":${value instanceof Map ? metadataText(value) : JSON.stringify(value)}`);
	}
	return `{${texts.join(",")}}`;
}

/** Whether a parsed value is a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The members of a parsed JSON object as metadata. */
export function metadataOf(object: JsonObject): Metadata {
	const metadata = new Map<string, JsonValue>();
	// Pairs of each name and value would take twice as long, and lists are long.
	for (const key of Object.keys(object)) metadata.set(key, object[key] ?? null);
	return metadata;
}

/** The members of a parsed value that are texts. None where it is no object. */
export function textsOf(value: JsonValue | undefined): ReadonlyMap<string, string> {
	const members = isJsonObject(value) ? Object.entries(value) : [];
	return new Map(members.filter((member): member is [string, string] => typeof member[1] === "string"));
}

/** Levels of objects and lists that metadata may have, itself included: what can be listed can be written, and the reverse. */
export const DEEPEST_METADATA = 64;

/** Whether objects and lists are nested deeper than so many levels. */
export function isDeeperThan(value: JsonValue, levels: number): boolean {
	if (typeof value !== "object" || value === null) return false;
	return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

/** Whether a text in a value, or a key, has half a surrogate pair: only JSON's escapes can write it down. */
export function hasHalfPair(value: JsonValue): boolean {
	if (typeof value === "string") return HALF_PAIR.test(value);
	if (isJsonArray(value)) return value.some(hasHalfPair);
	return isJsonObject(value) && Object.entries(value).some(([key, inner]) => HALF_PAIR.test(key) || hasHalfPair(inner));
}

const HALF_PAIR = /\p{Surrogate}/u;

/** Whether a JSON value is an array. `Array.isArray` narrows a readonly array to `any`. */
export function isJsonArray(value: JsonValue | undefined): value is readonly JsonValue[] {
	return Array.isArray(value);
}

/** The JSON text of a value with the members of objects sorted: equal for equal values, and different for others. */
export function canonicalText(value: JsonValue): string {
	if (isJsonArray(value)) return `[${value.map(canonicalText).join(",")}]`;
	return isJsonObject(value) ? canonicalObject(Object.entries(value)) : JSON.stringify(value);
}

/** The same of the members of an object, as those of metadata. */
export function canonicalObject(members: Iterable<readonly [string, JsonValue]>): string {
	const sorted = [...members].toSorted(([left], [right]) => compareUnits(left, right));
	return `{${sorted.map(([key, value]) => `${JSON.stringify(key)}:${canonicalText(value)}`).join(",")}}`;
}

/** The order of two texts by code units: the same in every locale. */
export function compareUnits(one: string, other: string): number {
	return one < other ? -1 : Number(one > other);
}

/** Whether two values are the same. The order of an object's members does not count, that of a list's items does. */
export function sameValue(left: JsonValue, right: JsonValue | undefined): boolean {
	// A service may hold NaN, which is equal to itself here.
	if (left === right || Object.is(left, right)) return true;
	if (isJsonArray(left)) {
		return isJsonArray(right) && left.length === right.length && left.every((item, at) => sameValue(item, right[at]));
	}
	if (!isJsonObject(left) || !isJsonObject(right)) return false;
	const keys = Object.keys(left);
	return (
		keys.length === Object.keys(right).length &&
		keys.every((key) => Object.hasOwn(right, key) && sameValue(left[key] ?? null, right[key]))
	);
}
