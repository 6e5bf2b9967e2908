import { isJsonObject, metadataText, type JsonValue, type Metadata } from "../../json.ts";

/** A text that is equal for equal metadata, whatever the order of its keys. */
export function payloadText(metadata: Metadata): string {
	// Nearly every value is a text or a number, and a manifest's keys mostly come in one order.
	let isFlat = true;
	for (const value of metadata.values()) if (typeof value === "object" && value !== null) isFlat = false;
	const sorted = new Map<string, JsonValue>();
	for (const key of Array.from(metadata.keys()).toSorted()) {
		const value = metadata.get(key) ?? null;
		sorted.set(key, isFlat ? value : canonical(value));
	}
	return metadataText(sorted);
}

function canonical(value: JsonValue): JsonValue {
	if (Array.isArray(value)) return value.map(canonical);
	if (!isJsonObject(value)) return value;
	return Object.keys(value)
		.toSorted()
		.map((key) => ["member", key, canonical(value[key] ?? null)]);
}
