import { hasHalfPair, isJsonObject, type JsonValue, type Metadata } from "../../json/values.ts";

/**
 * A text that is equal for equal metadata and different for different.
 *
 * @param inOrder whether equal rows have their keys in the same order anyway, as the columns of CSV do
 */
export function payloadText(metadata: Metadata, inOrder: boolean): string {
	let text = "";
	if (inOrder) for (const [key, value] of metadata) text += part(key, value);
	else for (const key of Array.from(metadata.keys()).toSorted()) text += part(key, metadata.get(key) ?? null);
	return text;
}

/** Lengths go before what they measure, so that no value can look like the next key. */
function part(key: string, value: JsonValue): string {
	// Hashed, half a surrogate pair would be the same as any other half.
	if (hasHalfPair(key)) return part(JSON.stringify(key), value);
	if (typeof value === "string" && !hasHalfPair(value)) return `${key.length}:${key}t${value.length}:${value}`;
	const text = valueText(value);
	return `${key.length}:${key}j${text.length}:${text}`;
}

/** A text that is equal for equal values and different for different, whatever the order of members. */
export function valueText(value: JsonValue): string {
	return JSON.stringify(canonical(value));
}

function canonical(value: JsonValue): JsonValue {
	if (Array.isArray(value)) return value.map(canonical);
	if (!isJsonObject(value)) return value;
	const members = Object.keys(value).toSorted();
	return { members: members.map((key) => [key, canonical(value[key] ?? null)]) };
}
