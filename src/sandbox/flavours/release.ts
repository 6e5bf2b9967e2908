import type { ConditionRule } from "../condition/rule.ts";

/**
 * What sets one release of RAGFlow apart from another, as facts and nothing else: what is done with them is in
 * `ragflow/`. They are of the server as deployed, its dangerous parts included, because a client's guards are worth what
 * they were tested against.
 */
export type Release = {
	/** Any other verb changes nothing and answers "405" with HTTP status 200. */
	readonly updateVerbs: readonly ("PUT" | "PATCH")[];
	/**
	 * How a body becomes JSON. `any-header`: whatever the header says, and what can't be read is nothing. `or-form`: the
	 * same, but what can't be read is an empty form, so an update of it succeeds and changes nothing. `json-header`: only
	 * under `application/json`.
	 */
	readonly body: "any-header" | "or-form" | "json-header";
	/**
	 * A missing and a wrong key. `status-200`: code 0 with `data: false`, and code 109. `status-401`: code 401. `mixed`:
	 * the latter, but removals of documents and bulk updates answer the codes of the former with HTTP status 401.
	 */
	readonly refusedKey: "status-200" | "mixed" | "status-401";
	/** The message of an error of the database: its number, with its text as `data`, or the whole error printed. */
	readonly databaseError: "number" | "printed";
	/** A path below `/api` that there is nothing at: code 100 with HTTP status 200, or HTTP status 404. */
	readonly unknownPath: "status-200" | "status-404";
	/** Metadata may be any object, or only text, numbers, booleans and lists of them. */
	readonly values: "any" | "flat";
	/**
	 * `NaN` and infinities. `stored`: and listed as these bare words. From v0.24 on metadata are in Elasticsearch, which
	 * refuses them: the update fails, and what was there is kept, or lost where it was removed first.
	 */
	readonly noNumber: "stored" | "refused" | "refused-and-lost";
	/** Whether text in lists is split at commas, semicolons, bars and enumeration marks, trimmed and made unique. */
	readonly splitsLists: boolean;
	/** By what the items of such a list are the same: by value (1 is true), or by how they print (1 is "1"). */
	readonly sameItems: "value" | "print";
	/**
	 * Whether an update is laid over what is there where metadata are in Elasticsearch, the engine that v0.24 comes with:
	 * `es.update(doc=...)` in api/db/services/doc_metadata_service.py. `--update merge` has the sandbox do so.
	 */
	readonly mayMerge: boolean;
	/** What an update answers as `data`. */
	readonly updateAnswer: "nothing" | "document" | "document-without-metadata";
	/** What a removal does that names no document: the mistake of one line of code, or a forgotten header. */
	readonly emptyRemoval: "removes-all" | "removes-nothing" | "refused";
	readonly list: ListRules;
	readonly datasets: DatasetRules;
	/** What a download from a dataset that is not there is told: that, or of the document alone. */
	readonly download: "names-dataset" | "names-document" | "not-found";
	/** The update of many documents at once; `all-unless-named` takes an empty selection for the whole dataset. */
	readonly bulkUpdate: "absent" | "broken" | "all-unless-named" | "named";
	/** The code for an upload to a dataset that is not there. */
	readonly uploadNowhereCode: 100 | 102;
	/** Whether refusals begin with a small letter and end without a full stop. */
	readonly smallWords: boolean;
	/** Whether an upload that failed in part says what it stored. */
	readonly partialUploadTold: boolean;
};

/** What sets the list of documents apart. */
export type ListRules = {
	/** Its message; all else that succeeds has none. */
	readonly message: "success" | undefined;
	/** Whether `desc=false` is understood; `desc=False` is by all. Anything else is descending. */
	readonly lowerCaseFalse: boolean;
	/** Whether pages and filters are read before it is asked whether there is such an id or name. */
	readonly pagesFirst: boolean;
	/** A page or a size that is no number, or below 0: an error, or as if it had not been asked for. */
	readonly badPage: "fails" | "first";
	/** Page 0, or a size of 0: they are taken at their word, or everything is listed. */
	readonly pageOfNothing: "as-asked" | "everything";
	/** Documents on a page at most; more is an error. */
	readonly largestPage: number | undefined;
	/** By which columns lists are sorted: those of a document, or three of them. */
	readonly orderBy: "any-column" | "three";
	/** Whether `suffix`, `run`, `create_time_from` and `create_time_to` are known. */
	readonly filters: boolean;
	/** A `run` that is none: no document has it, or it is refused. */
	readonly unknownRun: "found-nowhere" | "refused";
	/** The filter by metadata, where there is one. */
	readonly condition: ConditionRule | undefined;
};

/** What sets datasets apart. */
export type DatasetRules = {
	/** What is checked of parameters and bodies: little (v0.18), or every member by its kind. */
	readonly checks: "loose" | "strict";
	/** Which ids are taken for ids at all, where they are checked. */
	readonly ids: "uuid1" | "uuid";
	/** Whether their list says how many there are. */
	readonly total: boolean;
	/** The code for a dataset that is named and not there. */
	readonly absentCode: 102 | 108;
	/** A name that is taken: refused with one of two codes, or given a number as a file is. */
	readonly takenName: "refused-102" | "refused-103" | "numbered";
	/** What a removal does that names none: it removes all, or all where the ids are null, or nothing. */
	readonly emptyRemoval: "removes-all" | "null-removes-all" | "removes-nothing";
	/** Whether there is a GET for one of them. */
	readonly shownAlone: boolean;
};
