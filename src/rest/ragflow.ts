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

/**
 * Errors of a database that is away, overrun or starting: the server's 1040 (too many connections), 1053 (shutting down),
 * 1205 (lock wait timeout), 1213 (deadlock), and the client's 2003 (can't connect), 2006 (gone away), 2013 and 2055 (lost
 * while it was asked). 0 is what RAGFlow's driver says of a connection that was closed. No other belongs here: 1267 is a
 * name in letters that the connection can't carry, and is refused for ever.
 */
const passing: ReadonlySet<string> = new Set(["0", "1040", "1053", "1205", "1213", "2003", "2006", "2013", "2055"]);

/** Up to v0.23.1 the number alone, with the words in `data`. */
const bare = /^(\d{1,4})$/;

/** From v0.24 on the whole error as Python prints it; its library may print it around the driver's own. */
const printed = /^(?:(?:pymysql\.err\.)?(?:Operational|Interface|Internal)Error\(){1,2}["']?\(?(\d{1,4}),/;

/** The same of a database that has no numbers, by the words that RAGFlow itself tries again for (api/db/db_models.py). */
const worded =
	/^(?:Operational|Interface)Error\(.*\b(?:connection (?:refused|timed out|already closed|is closed|to server)|could not connect|server closed the connection|no connection to the server|terminating connection|starting up|shutting down)\b/is;

/**
 * Whether a RAGFlow server says that the database behind it is away: the same request may be answered well a little later.
 *
 * Whatever is thrown becomes code 100 (server_error_response in api/utils/api_utils.py, v0.15 to v0.27), before the
 * request was worked on or after it was written. Some routes have a sentence for it: "Database operation failed"
 * (api/apps/sdk/doc.py from v0.19, api/apps/restful_apis/document_api.py), in an update behind the write.
 */
export function isDatabaseAway(code: number, message: string): boolean {
	if (code === 102) return message === "Database operation failed";
	if (code !== 100) return false;
	const text = message.trim();
	const number = (bare.exec(text) ?? printed.exec(text))?.[1];
	return number === undefined ? worded.test(text) : passing.has(number);
}
