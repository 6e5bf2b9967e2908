import { isJsonArray, type JsonValue, type Metadata } from "../json/values.ts";
import type { Meaning } from "./flavour.ts";
import { type ListRules, splitListsBy } from "./ragflow.ts";

/**
 * Errors of Go's network and of its MySQL driver, which the server gives on as they are. An error stands at the end, after those
 * around it; a file of a name such as `connection refused.pdf` is none.
 */
const AWAY =
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
	if (isFailure && (AWAY.test(message) || /^database operation failed$/i.test(message))) return "database_away";
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
