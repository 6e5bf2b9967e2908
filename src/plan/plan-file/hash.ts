import { createHash } from "node:crypto";
import { isJsonArray, isJsonObject, type JsonValue, type Metadata } from "../../json.ts";

/**
 * What tells metadata from other metadata: SHA-256 of its JSON text with the members sorted by key at every depth, in
 * hexadecimal. The order in which a service lists keys is no change.
 */
export function metadataHash(metadata: Metadata): string {
	return createHash("sha256").update(objectText(metadata)).digest("hex");
}

function objectText(members: Iterable<readonly [string, JsonValue]>): string {
	const sorted = [...members].toSorted(([left], [right]) => (left < right ? -1 : 1));
	return `{${sorted.map(([key, value]) => `${JSON.stringify(key)}:${canonicalText(value)}`).join(",")}}`;
}

function canonicalText(value: JsonValue): string {
	if (isJsonArray(value)) return `[${value.map(canonicalText).join(",")}]`;
	return isJsonObject(value) ? objectText(Object.entries(value)) : JSON.stringify(value);
}
