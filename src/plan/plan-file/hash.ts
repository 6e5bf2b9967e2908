import { createHash } from "node:crypto";
import { isJsonArray, isJsonObject, type JsonValue, type Metadata } from "../../json/values.ts";
import type { InexactValues } from "../../rest/types.ts";

/**
 * What tells metadata from other metadata: SHA-256 of its JSON text with the members sorted by key at every depth, in
 * hexadecimal. The order in which a service lists keys is no change.
 *
 * @param inexact what of it came rounded, as the service gave it: it is something else than the rounded number
 */
export function metadataHash(metadata: Metadata, inexact?: InexactValues): string {
	const hash = createHash("sha256").update(objectText(metadata));
	if (inexact !== undefined) hash.update(objectText(inexact));
	return hash.digest("hex");
}

function objectText(members: Iterable<readonly [string, JsonValue]>): string {
	const sorted = [...members].toSorted(([left], [right]) => (left < right ? -1 : 1));
	return `{${sorted.map(([key, value]) => `${JSON.stringify(key)}:${canonicalText(value)}`).join(",")}}`;
}

function canonicalText(value: JsonValue): string {
	if (isJsonArray(value)) return `[${value.map(canonicalText).join(",")}]`;
	return isJsonObject(value) ? objectText(Object.entries(value)) : JSON.stringify(value);
}
