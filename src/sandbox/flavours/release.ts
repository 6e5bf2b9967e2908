import type { ConditionRules } from "../condition/operators.ts";

/**
 * The facts in which one release of RAGFlow differs from another; `ragflow/` has the code that uses them.
 *
 * They describe the server as deployed, with its dangerous parts: a client's guards are worth only what they were
 * tested against.
 */
export type Release = {
	/** Any other verb changes nothing and answers "405" with HTTP status 200. */
	readonly updateVerbs: readonly ("PUT" | "PATCH")[];
	/**
	 * How a body becomes JSON. `any-header`: under any header, and a body that is not valid is nothing. `or-form`: the
	 * same, but a body that is not valid is an empty form, so an update of it succeeds and changes nothing.
	 * `json-header`: only under `application/json`.
	 */
	readonly body: "any-header" | "or-form" | "json-header";
	/**
	 * A missing and a wrong key. `status-200`: code 0 with `data: false`, and code 109. `status-401`: code 401. `mixed`:
	 * the latter, but removals of documents and bulk updates answer the codes of the former with HTTP status 401.
	 */
	readonly refusedKey: "status-200" | "mixed" | "status-401";
	/** The message of an error of the database: its number, with its text as `data`, or the whole error printed. */
	readonly databaseError: "number" | "printed";
	/** A path below `/api` without a route: code 100 with HTTP status 200, or HTTP status 404. */
	readonly unknownPath: "status-200" | "status-404";
	/** Metadata may be any object, or only text, numbers, booleans and lists of them. */
	readonly values: "any" | "flat";
	/**
	 * Values that don't fit the search engine in which metadata is kept from v0.24 on: `NaN`, infinities, and those of
	 * another type than their key has. One engine has the metadata of all datasets, and one type for each key.
	 * `stored`: there is no engine, and lists show `NaN` as it stands. `refused`: the update fails, and the previous metadata
	 * is kept. `refused-and-lost`: the previous metadata was removed first, so the document has none then
	 * (`update_document_metadata` in api/db/services/doc_metadata_service.py).
	 */
	readonly unfitValues: "stored" | "refused" | "refused-and-lost";
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
	/** The `data` of the answer to an update. */
	readonly updateAnswer: "nothing" | "document" | "document-without-metadata";
	/** The effect of a removal that names no document, as after one wrong line of code or a forgotten header. */
	readonly emptyRemoval: "removes-all" | "removes-nothing" | "refused";
	readonly list: ListRules;
	readonly datasets: DatasetRules;
	/** The part that a download from a dataset that does not exist reports as missing. */
	readonly missingDownload: "names-dataset" | "names-document" | "not-found";
	/** The update of many documents at once; `all-unless-named` reads an empty selection as the whole dataset. */
	readonly bulkUpdate: "absent" | "broken" | "all-unless-named" | "named";
	/** The code for an upload to a dataset that does not exist. */
	readonly uploadMissingDatasetCode: 100 | 102;
	/** Whether refusals begin with a small letter and end without a full stop. */
	readonly lowerCaseMessages: boolean;
	/** Whether an upload that failed in part reports the files that it stored. */
	readonly reportsPartialUpload: boolean;
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
	/** Documents on a page at most; a larger size is an error. */
	readonly maxPageSize: number | undefined;
	/** By which columns lists can be sorted: those of a document, or three of them. */
	readonly orderBy: "any-column" | "three";
	/** Whether `suffix`, `run`, `create_time_from` and `create_time_to` are known. */
	readonly filters: boolean;
	/**
	 * The parameter `ids`, once for each document that is wanted; what the dataset does not have is left out
	 * (`_get_docs_with_request` in api/apps/restful_apis/document_api.py, v0.25.1 on; at most 100 of them from v0.27 on).
	 */
	readonly ids: "ignored" | "any-number" | "at-most-100";
	/** An unknown `run`: no document matches it, or it is refused. */
	readonly unknownRun: "matches-nothing" | "refused";
	/** The filter by metadata; `undefined` where a release has none. */
	readonly condition: ConditionRules | undefined;
};

/** How datasets differ. */
export type DatasetRules = {
	/** How parameters and bodies are checked: little (v0.18), or each member by its type. */
	readonly checks: "loose" | "strict";
	/** Which ids are valid, where they are checked. */
	readonly ids: "uuid1" | "uuid";
	/** Whether their list has a total. */
	readonly total: boolean;
	/** The code for a dataset that does not exist. */
	readonly missingCode: 102 | 108;
	/** A name that is taken: refused with one of two codes, or numbered as a file's name is. */
	readonly takenName: "refused-102" | "refused-103" | "numbered";
	/** The effect of a removal without ids: it removes all, or all only if the ids are null, or nothing. */
	readonly emptyRemoval: "removes-all" | "null-removes-all" | "removes-nothing";
	/** Whether a GET of one dataset has a route. */
	readonly hasShow: boolean;
};
