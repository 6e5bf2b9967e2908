import { isJsonArray, type JsonValue, type Metadata } from "../json.ts";

/** A service that keeps what it is sent. */
export function asSent(metadata: Metadata): Metadata {
	return metadata;
}

/**
 * What RAGFlow keeps from v0.24 on: text items of a list are split at commas, semicolons, bars and their CJK forms,
 * trimmed and made unique, and what is empty then is dropped. Text outside lists stays as it is.
 */
export function splitLists(metadata: Metadata): Metadata {
	const kept = new Map<string, JsonValue>();
	for (const [key, value] of metadata) kept.set(key, isJsonArray(value) ? unique(value.flatMap(split)) : value);
	return kept;
}

function split(item: JsonValue): readonly JsonValue[] {
	if (typeof item !== "string") return [item];
	return item
		.split(/[、,，;；|]/)
		.map((part) => part.trim())
		.filter((part) => part !== "");
}

/** The first of equal items, in the order they came. */
function unique(items: readonly JsonValue[]): readonly JsonValue[] {
	const seen = new Set<string>();
	return items.filter((item) => {
		const text = JSON.stringify(item);
		if (seen.has(text)) return false;
		seen.add(text);
		return true;
	});
}
