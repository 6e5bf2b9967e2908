import { isJsonArray, type JsonValue, type Metadata } from "../json/values.ts";

/** A service that keeps what it is sent. */
export function asSent(metadata: Metadata): Metadata {
	return metadata;
}

/**
 * What RAGFlow keeps from v0.24 on: text items of a list are split at commas, semicolons, bars and their CJK forms,
 * trimmed and made unique by their text. An item of nothing but separators stays, and so does text outside lists.
 */
export function splitLists(metadata: Metadata): Metadata {
	const kept = new Map<string, JsonValue>();
	for (const [key, value] of metadata) kept.set(key, isJsonArray(value) ? unique(value.flatMap(split)) : value);
	return kept;
}

function split(item: JsonValue): readonly JsonValue[] {
	if (typeof item !== "string") return [item];
	const parts = item.split(/[、,，;；|]/).map((part) => part.trim());
	const kept = parts.filter((part) => part !== "");
	return kept.length === 0 ? [item] : kept;
}

/** The first of items that print alike, in the order they came: the number 1 and the text "1" are one. */
function unique(items: readonly JsonValue[]): readonly JsonValue[] {
	const seen = new Set<string>();
	return items.filter((item) => {
		const text = typeof item === "string" ? item : JSON.stringify(item);
		if (seen.has(text)) return false;
		seen.add(text);
		return true;
	});
}

/** A service that takes whatever is JSON. */
export function anyValue(): boolean {
	return true;
}

/**
 * What RAGFlow takes from v0.25 on: text, numbers, booleans, and lists of them (`validate_document_meta_fields` in
 * api/utils/validation_utils.py, v0.25.0 to v0.27.0).
 */
export function plainValue(value: JsonValue): boolean {
	return isJsonArray(value) ? value.every(isPlain) : isPlain(value);
}

function isPlain(value: JsonValue): boolean {
	return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
