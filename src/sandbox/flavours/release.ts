import type { ConditionRules } from "../condition/operators.ts";

/**
 * The facts in which one release of RAGFlow differs from another; `ragflow/` has the code that uses them.
 *
 * They describe the server as deployed, with its dangerous parts: a client's guards are worth only what they were
 * tested against.
 */
export type Release = {
	/** Any other verb changes nothing: it answers "405" with HTTP status 200, or as an unknown path. */
	readonly updateVerbs: readonly ("PUT" | "PATCH")[];
	/**
	 * How a body becomes JSON. `any-header`: under any header, and a body that is not valid is nothing. `or-form`: the
	 * same, but a body that is not valid is an empty form, so an update of it succeeds and changes nothing.
	 * `json-header`: only under `application/json`. `or-refused`: under any header, and a body that is not valid is an error,
	 * whatever document the path names.
	 */
	readonly body: "any-header" | "or-form" | "json-header" | "or-refused";
	/**
	 * Whose rules JSON and text follow. Python keeps numbers as they are written and takes `NaN`; in Go they are doubles, an
	 * unknown member is ignored, and a member of another type is an error in its words.
	 */
	readonly reads: "as-python" | "as-go";
	/**
	 * A missing and a wrong key. `status-200`: code 0 with `data: false`, and code 109. `status-401`: code 401. `mixed`:
	 * the latter, but removals of documents and bulk updates answer the codes of the former with HTTP status 401.
	 * `status-401-by-cause`: the missing key and the wrong one have words of their own.
	 */
	readonly refusedKey: "status-200" | "mixed" | "status-401" | "status-401-by-cause";
	/** The message of an error of the database: its number, with its text as `data`, or the whole error printed. */
	readonly databaseError: "number" | "printed";
	/** A path below `/api` without a route: code 100 with HTTP status 200, or HTTP status 404, or the latter for a wrong verb, too. */
	readonly unknownPath: "status-200" | "status-404" | "status-404-and-verbs";
	/**
	 * Two slashes in a row are redirected, and one at the end is no segment. Or two are taken for one, and a path with one at the
	 * end is redirected to that without it.
	 */
	readonly slashes: "two-redirected" | "last-redirected";
	/** Headers of every answer of the API itself. */
	readonly headers: Readonly<Record<string, string>>;
	/** The message of a success that says nothing: left out, or null. */
	readonly noMessage: undefined | null;
	/** The member that names how a document is parsed; lists have both where it is the later one. */
	readonly parserMember: "chunk_method" | "parser_id";
	/** Metadata may be any object, or only text, numbers, booleans and lists of them, or only text, numbers and lists of these. */
	readonly values: "any" | "flat" | "flat-without-booleans";
	/**
	 * Values that don't fit the search engine in which metadata is kept from v0.24 on: `NaN`, infinities, and those of
	 * another type than their key has. One engine has the metadata of all datasets, and one type for each key.
	 * `stored`: there is no engine, and lists show `NaN` as it stands. `refused`: the update fails, and the previous metadata
	 * is kept. `refused-and-lost`: the previous metadata was removed first, so the document has none then
	 * (`update_document_metadata` in api/db/services/doc_metadata_service.py). `accepted-and-lost`: the same, and it answers success.
	 */
	readonly unfitValues: "stored" | "refused" | "refused-and-lost" | "accepted-and-lost";
	/** Whether an id in other letters than the document's is taken for it, or metadata is written under that id, which no list shows. */
	readonly metadataId: "of-document" | "as-sent";
	/**
	 * Where metadata are. From v0.24 on in a search engine: a search that fails is taken for one that finds nothing, so that lists
	 * succeed and show no metadata (`get_metadata_for_documents` in api/db/services/doc_metadata_service.py, v0.24 to v0.27).
	 */
	readonly metadataIn: "database" | "engine";
	/** Whether text in lists is split at commas, semicolons, bars and enumeration marks, trimmed and made unique. */
	readonly splitsLists: boolean;
	/** When two items of such a list are equal: by value (1 equals true), or as they are printed (1 equals "1"). */
	readonly itemEquality: "value" | "printed";
	/** Whether an update is merged into the present metadata: `es.update(doc=...)` in the same function of v0.24.0. */
	readonly merges: boolean;
	/** The `data` of the answer to an update. `document-read-back`: with the metadata that the engine has then, or none. */
	readonly updateAnswer: "nothing" | "document" | "document-without-metadata" | "document-read-back";
	/** `enabled` in an update: unknown, or answered without the document up to v0.22.1, or with it. */
	readonly enabled: "ignored" | "without-document" | "with-document";
	/**
	 * A document that is given the method that it has loses its chunks up to v0.25.0, though not in v0.18 (`update_doc` in
	 * api/apps/sdk/doc.py, later `update_chunk_method` in api/apps/services/document_api_service.py).
	 */
	readonly sameMethod: "drops-chunks" | "keeps-chunks";
	/** The effect of a removal that names no document, as after one wrong line of code or a forgotten header. */
	readonly emptyRemoval: "removes-all" | "removes-nothing" | "refused";
	/** The message of a removal of documents that names them. */
	readonly removalMessage: "success" | undefined;
	/** Whether such a removal compares ids letter by letter, or finds a document by other letters, too. */
	readonly removedIds: "exact" | "any-letters";
	readonly list: ListRules;
	readonly datasets: DatasetRules;
	/** The part that a download from a dataset that does not exist reports as missing. */
	readonly missingDownload: "names-dataset" | "names-document" | "not-found";
	/** The Content-Type of a download: always the same, or by the ending of the name (v0.26 on, not v1.0). */
	readonly downloadType: "octet-stream" | "by-ending";
	/**
	 * The update of many documents at once; an empty selection is the whole dataset, an error, or none. `by-value` adds to lists,
	 * and counts the documents that differ then (v0.25.6 to v0.27.0).
	 */
	readonly bulkUpdate: "absent" | "broken" | "all-unless-named" | "named" | "none-unless-named" | "by-value";
	/**
	 * Whether the web page of the server uses the same routes, which brought some (v0.25.1 on: api/apps/restful_apis): `type` of
	 * lists and uploads, the dataset of an upload checked first, summaries of metadata, `documents/metadatas`.
	 */
	readonly servesWeb: boolean;
	/** The code for an upload to a dataset that does not exist. */
	readonly uploadMissingDatasetCode: 100 | 102;
	/** Which refusals begin with a small letter and end without a full stop: those of documents, or also those of names and datasets. */
	readonly lowerCaseMessages: "none" | "documents" | "all";
	/** Whether an upload that failed in part reports the files that it stored. */
	readonly reportsPartialUpload: boolean;
	/**
	 * The names of uploaded files. `numbered`: as sent, and counted up where the database finds an equal one, without its folders
	 * then; with them up to v0.19.0 (`duplicate_name` in api/db/services/__init__.py). `base-exact`: without their folders, and
	 * with a number before the ending where there is the very same name.
	 */
	readonly fileNames: "numbered" | "numbered-in-folders" | "base-exact";
};

/** How lists of documents differ. */
export type ListRules = {
	/** Its message; no other success has one. */
	readonly message: "success" | undefined;
	/** Whether `desc=false` is understood. All releases understand `desc=False`; any other text means descending. */
	readonly lowerCaseFalse: boolean;
	/** Whether pages and filters are checked before the id or name is looked up. */
	readonly checksPageFirst: boolean;
	/** A page or a size that is not a number, or negative: an error, or the default. */
	readonly badPage: "fails" | "default";
	/** Page 0, or a size of 0: taken literally, or a list of everything. */
	readonly zeroPage: "literal" | "everything";
	/** Documents on a page where the request names no size. */
	readonly defaultPageSize: number;
	/** Documents on a page at most; a larger size is an error, or the default. */
	readonly maxPageSize: number | undefined;
	readonly overMaxPageSize: "refused" | "default";
	/** By which columns lists can be sorted: those of a document, or three of them, which may be checked before the dataset. */
	readonly orderBy: "any-column" | "three" | "three-first";
	/** The parameter `keywords`: a part of the name, or a pattern in which `%` and `_` stand for letters. */
	readonly keywords: "part" | "pattern";
	/** Whether a refusal has an empty list as `data`. */
	readonly refusalHasList: boolean;
	/** Whether `suffix`, `run`, `create_time_from` and `create_time_to` are known. */
	readonly filters: boolean;
	/**
	 * The parameter `ids`, once for each document that is wanted; what the dataset does not have is left out
	 * (`_get_docs_with_request` in api/apps/restful_apis/document_api.py, v0.25.1 on; at most 100 of them from v0.27 on).
	 * `beside-filters`: any number of them, and other filters hold, too.
	 */
	readonly ids: "ignored" | "any-number" | "at-most-100" | "beside-filters";
	/**
	 * How `run` is read: as it is written, or in any letters, also as `run_status` (v0.25.6 on: `_parse_run_status_filter` in
	 * api/apps/restful_apis/document_api.py).
	 */
	readonly runs: "as-written" | "any-letters";
	/** Whether `types`, `metadata` and `return_empty_metadata` are known (v0.25.0 on). */
	readonly metadataFilters: boolean;
	/** An unknown `run`: no document matches it, or it is refused. */
	readonly unknownRun: "matches-nothing" | "refused";
	/** The filter by metadata; `undefined` where a release has none, `checked` where it is read, refused if not valid, and ignored. */
	readonly condition: ConditionRules | "checked" | undefined;
};

/** How datasets differ. */
export type DatasetRules = {
	/** How parameters and bodies are checked: little (v0.18), or each member by its type, or the first fault alone, in plain words. */
	readonly checks: "loose" | "strict" | "first-fault";
	/** Which ids are valid, where they are checked. */
	readonly ids: "uuid1" | "uuid";
	/** Whether their list has a total. */
	readonly total: boolean;
	/** The code for a dataset that does not exist. */
	readonly missingCode: 102 | 108;
	/** A name that is taken: refused with one of two codes, or numbered as a file's name is, or with a number after it. */
	readonly takenName: "refused-102" | "refused-103" | "numbered" | "appended";
	/** The effect of a removal without ids: it removes all, or all only if the ids are null, or nothing. */
	readonly emptyRemoval: "removes-all" | "null-removes-all" | "removes-nothing";
	/** Whether a GET of one dataset has a route. */
	readonly hasShow: boolean;
};
