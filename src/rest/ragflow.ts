import { isJsonArray, type JsonValue, type Metadata } from "../json/values.ts";
import type { Meaning } from "./flavour.ts";

/**
 * Error numbers of a MySQL database that is away, overloaded or starting. Of the server: 1040 (too many connections), 1053
 * (shutting down), 1205 (lock wait timeout), 1213 (deadlock). Of the client: 2003 (can't connect), 2006 (gone away), 2013
 * and 2055 (lost during a query), and 0, which RAGFlow's driver gives for a closed connection. Other numbers are permanent:
 * 1267 refuses a name in letters that the connection can't carry.
 */
const AWAY: ReadonlySet<string> = new Set(["0", "1040", "1053", "1205", "1213", "2003", "2006", "2013", "2055"]);

/** Up to v0.23.1: the number alone, with the words in `data`. */
const NUMBER_ALONE = /^(\d{1,4})$/;

/** From v0.24 on: the whole error as Python prints it. The database library may print its own error around the driver's. */
const PRINTED_ERROR = /^(?:(?:pymysql\.err\.)?(?:Operational|Interface|Internal)Error\(){1,2}["']?\(?(\d{1,4}),/;

/** The same for a file of an upload, after its name (upload_document in api/db/services/file_service.py, v0.18 to v0.27). */
const FILE_ERROR = /: \((\d{1,4}), ['"][^\n]*$/;

/** Errors of a database without numbers, by the words after which RAGFlow itself tries again (api/db/db_models.py). */
const AWAY_IN_WORDS =
	/^(?:Operational|Interface)Error\(.*\b(?:connection (?:refused|timed out|already closed|is closed|to server)|could not connect|server closed the connection|no connection to the server|terminating connection|starting up|shutting down)\b/is;

/**
 * Whether a RAGFlow server says that its database is away. The same request may succeed a little later.
 *
 * Every exception becomes code 100 (server_error_response in api/utils/api_utils.py, v0.15 to v0.27), before the request was
 * processed or after its write. Some routes have a sentence for it: "Database operation failed" (api/apps/sdk/doc.py from
 * v0.19, api/apps/restful_apis/document_api.py). In an update it comes after the write.
 */
export function isDatabaseAway(code: number, message: string): boolean {
	if (code === 102) return message === "Database operation failed";
	const text = message.trim();
	// The document may be stored already: its file is recorded after it.
	if (code === 500) return AWAY.has(FILE_ERROR.exec(text)?.[1] ?? "");
	if (code !== 100) return false;
	const number = (NUMBER_ALONE.exec(text) ?? PRINTED_ERROR.exec(text))?.[1];
	return number === undefined ? AWAY_IN_WORDS.test(text) : AWAY.has(number);
}

/** The rules by which a release keeps the items of a list. */
type ListRules = {
	/** characters that are blank to the server, and not to `trim` of JavaScript */
	readonly blanks: string;
	/** of two items with the same text the first is kept */
	readonly textOf: (item: JsonValue) => string;
};

/**
 * Python's `str.strip` also removes separators of files, groups, records, units and lines. Items that Python prints alike are
 * one: the number 1 and the text "1", true and the text "True" (`str(item)` in dedupe_list of common/metadata_utils.py, v0.25).
 */
const IN_PYTHON: ListRules = {
	blanks: "\u001c\u001d\u001e\u001f\u0085",
	textOf: (item) =>
		typeof item === "boolean" ? (item ? "True" : "False") : typeof item === "string" ? item : JSON.stringify(item),
};

/** The metadata that RAGFlow keeps from v0.24 on. */
export function splitLists(metadata: Metadata): Metadata {
	return splitListsBy(IN_PYTHON, metadata);
}

/**
 * Splits text items of a list at commas, semicolons, bars and their CJK forms, trims them, and drops items with the same
 * text. It keeps an item of separators alone, and text outside lists.
 *
 * @returns the same object if it has no list
 */
function splitListsBy(rules: ListRules, metadata: Metadata): Metadata {
	if (!hasList(metadata)) return metadata;
	return new Map(Array.from(metadata, ([key, value]) => [key, isJsonArray(value) ? splitItems(value, rules) : value]));
}

function hasList(metadata: Metadata): boolean {
	for (const value of metadata.values()) if (isJsonArray(value)) return true;
	return false;
}

/** The items of a list after that, of those with the same text the first. */
function splitItems(list: readonly JsonValue[], rules: ListRules): readonly JsonValue[] {
	const items = new Map<string, JsonValue>();
	for (const item of list.flatMap((each) => split(each, rules))) {
		const text = rules.textOf(item);
		if (!items.has(text)) items.set(text, item);
	}
	return [...items.values()];
}

function split(item: JsonValue, { blanks }: ListRules): readonly JsonValue[] {
	if (typeof item !== "string") return [item];
	const parts = item.split(/[、,，;；|]/).map((part) => strip(part, blanks));
	const kept = parts.filter((part) => part !== "");
	return kept.length === 0 ? [item] : kept;
}

/** Blank to `trim` alone: the byte-order mark. */
const NO_BLANK = "\ufeff";

function strip(text: string, blanks: string): string {
	const isBlank = (character: string): boolean =>
		blanks.includes(character) || (character.trim() === "" && character !== NO_BLANK);
	let [from, to] = [0, text.length];
	while (from < to && isBlank(text.charAt(from))) from += 1;
	while (to > from && isBlank(text.charAt(to - 1))) to -= 1;
	return text.slice(from, to);
}

/**
 * Whether RAGFlow accepts a value from v0.25 on: text, a number, a boolean, or a list of them
 * (`validate_document_meta_fields` in api/utils/validation_utils.py, v0.25.0 to v0.27.0).
 */
export function isPlainValue(value: JsonValue): boolean {
	return isJsonArray(value) ? value.every(isScalar) : isScalar(value);
}

function isScalar(value: JsonValue): boolean {
	return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/**
 * Errors of Go's network and of its MySQL driver, which the server gives on as they are. An error stands at the end, after those
 * around it; a file of a name such as `connection refused.pdf` is none.
 */
const AWAY_IN_GO =
	/(?:^|: )(?:dial tcp |Error (?:1040|1053|1205|1213|2006|2013)\b)|\b(?:connection refused|connection reset by peer|broken pipe|bad connection|invalid connection|i\/o timeout|unexpected EOF)$/i;

/**
 * The meaning of a code of RAGFlow v1.0 where it differs from the Python releases.
 *
 * An update removes all metadata of the document, makes the metadata's index where there is none, and then writes the new
 * (replaceDocumentMetadata and SetDocumentMetadata in internal/service/document/document_metadata.go). Each step has its words.
 */
export function meaningInGo(code: number, message: string): Meaning | undefined {
	if (code === 102 && /^failed to delete document metadata\b/i.test(message)) return "passing";
	if (code === 102 && /^failed to (?:update metadata|ensure metadata store|get tenant ID)\b/i.test(message)) {
		return "metadata_refused";
	}
	// Errors of its database, in words of its own or of the driver (UpdateDatasetDocument, ListDatasets, ListDocuments).
	const isFailure = code === 1 || code === 100 || code === 102 || code === 500;
	if (isFailure && (AWAY_IN_GO.test(message) || /^database operation failed$/i.test(message))) return "database_away";
	if (code === 1 || (code === 102 && /^can't find this dataset$/i.test(message))) return "passing";
	// A dataset of another user. A refused key is status 401 (UploadDocuments; AuthMiddleware in internal/handler/auth.go).
	return code === 109 && /^no authorization\b/i.test(message) ? "not_allowed" : undefined;
}

/**
 * Whether v1.0 accepts a value: text, a number, or a list of them. A boolean is none, unlike in Python, where it is a number
 * (validateMetaFields in internal/service/document/document_dataset_update.go).
 */
export function isTextOrNumber(value: JsonValue): boolean {
	const isOne = (item: JsonValue): boolean => typeof item === "string" || typeof item === "number";
	return isJsonArray(value) ? value.every(isOne) : isOne(value);
}

/**
 * Items are equal with the same type and text, and blanks are those of Go's `strings.TrimSpace`
 * (splitCombinedDocumentMetadataList and dedupeDocumentMetadataList in internal/service/document/document_metadata.go).
 */
const IN_GO: ListRules = { blanks: "\u0085", textOf: (item) => JSON.stringify(item) };

/** The metadata that v1.0 keeps. */
export function splitListsInGo(metadata: Metadata): Metadata {
	return splitListsBy(IN_GO, metadata);
}
