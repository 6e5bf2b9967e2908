import * as v from "valibot";
import type { JsonValue, Metadata } from "../../json/values.ts";
import type { Difference } from "../change.ts";

/** The version of the format. It is raised when the meaning of a member changes. */
export const PLAN_VERSION = 1;

const TEXT = v.string();
const COUNT = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
/** SHA-256 in hexadecimal */
const HASH = v.pipe(TEXT, v.regex(/^[0-9a-f]{64}$/));
const METADATA = v.custom<Metadata>((value) => value instanceof Map);
const VALUE = v.custom<JsonValue>((value) => value !== undefined);

/** What a sync is about. */
const SYNC = v.pipe(
	v.strictObject({
		/** absolute path of the folder */
		root: TEXT,
		/** its device: another file system may be mounted there the next time */
		device: v.number(),
		dataset_id: TEXT,
		/** absolute path of the state file */
		state: TEXT,
		/** SHA-256 of the state that the plan was made from; empty where there was none */
		was: TEXT,
		/** no list of the dataset has shown metadata so far: then one that shows none is believed */
		untagged: v.boolean(),
	}),
	v.transform(({ dataset_id: datasetId, untagged: isUntagged, ...of }) => ({ ...of, datasetId, isUntagged })),
);

/** The first line of a plan. It holds no API key. */
export const HEADER = v.pipe(
	v.strictObject({
		ragtag_plan: v.literal(PLAN_VERSION),
		/** version of the program that wrote it */
		ragtag: TEXT,
		/** the only target that it may be sent to, as `normaliseBaseUrl` gives it */
		base_url: TEXT,
		mode: v.picklist(["replace", "merge"]),
		/** the manifest that the line numbers refer to: its name as it was given, and the hash of its bytes */
		manifest: v.strictObject({ name: TEXT, sha256: HASH, rows: COUNT }),
		/** ISO 8601 */
		created: TEXT,
		/** the plan of a sync: the folder, and the state that knows what a sync has put into the dataset */
		sync: v.optional(SYNC),
	}),
	v.transform((read) => {
		const { ragtag_plan: _, base_url: baseUrl, ...header } = read;
		return { ...header, baseUrl };
	}),
);

/** The last line: rows of the manifest by result, and a checksum. Only rows that would change are in the plan. */
export const FOOTER = v.strictObject({ changes: COUNT, unchanged: COUNT, failed: COUNT, sha256: HASH });

const PLANNED = {
	/** line of the row in the manifest, from 1 */
	line: COUNT,
	dataset_id: TEXT,
	document_id: TEXT,
	/** the document's name when the plan was made, where it was known; only shown */
	name: v.optional(TEXT),
};

/** `metadataHash` of what the document had when the plan was made */
const WAS = HASH;

/** A document whose metadata is to be written. */
const UPDATE = v.strictObject({
	...PLANNED,
	action: v.literal("update"),
	was: WAS,
	/** the same of what else the run that is taken back may have left */
	or_was: v.optional(v.pipe(v.array(HASH), v.readonly())),
	/** the whole object to send */
	meta_fields: METADATA,
	add: METADATA,
	change: v.map(TEXT, v.strictObject({ from: VALUE, to: VALUE })),
	remove: METADATA,
});

/** A document that is to be removed. */
const REMOVAL = v.strictObject({
	...PLANNED,
	action: v.literal("remove"),
	was: WAS,
	/** the path of its file from the root of a sync, which must still be missing */
	path: v.optional(TEXT),
});

/** A file of a folder, as it was when the plan was made. */
const SOURCE_FILE = {
	/** its path from the root, with `/` */
	path: TEXT,
	/** bytes */
	size: COUNT,
	/** milliseconds since 1970 */
	mtime: v.number(),
	ino: v.number(),
	sha256: HASH,
	/** absolute path of its bytes, where they are not under the root */
	at: v.optional(TEXT),
};

/**
 * A file that a sync uploads, or whose document it replaces or renames. `keep` sends nothing: the state takes the document
 * for the file. `name` is the name to store under.
 */
const FILE = v.strictObject({
	...PLANNED,
	action: v.picklist(["upload", "replace", "rename", "keep"]),
	name: TEXT,
	...SOURCE_FILE,
	/** `upload` and `replace`: the keys that the file gives; empty otherwise */
	meta_fields: METADATA,
	/** `rename`: the name that the document has now, and the path of its file before, where that was another */
	from: v.optional(TEXT),
	from_path: v.optional(TEXT),
	/** `replace` of an undo: the `metadataHash` of what the run left. The metadata is then all that the new document has */
	was: v.optional(HASH),
});

/** A file of a sync of which nothing can be sent: its row fails, and nothing is removed. `path` is from the root. */
const FAILURE = v.strictObject({ ...PLANNED, action: v.literal("fail"), path: TEXT, code: TEXT, text: TEXT });

/** Any other line. Its objects are maps. */
export const CHANGE = v.pipe(v.variant("action", [REMOVAL, FAILURE, FILE, UPDATE]), v.transform(plannedOf));

function plannedOf({
	line,
	dataset_id: datasetId,
	document_id: documentId,
	...read
}: v.InferOutput<typeof REMOVAL | typeof FAILURE | typeof FILE | typeof UPDATE>) {
	const ids = { line, datasetId, documentId };
	switch (read.action) {
		case "remove":
		case "fail":
			return { ...ids, ...read };
		case "update": {
			const { name, action, was, or_was: orWas, meta_fields: metadata, ...changes } = read;
			const difference: Difference = changes;
			return { ...ids, action, was, metadata, difference, ...optional({ name, orWas }) };
		}
		case "upload":
		case "replace":
		case "rename":
		case "keep": {
			const { name, action, from, from_path: fromPath, was, meta_fields: metadata, ...file } = read;
			return { ...ids, name, action, file, metadata, ...optional({ from, fromPath, was }) };
		}
	}
}

/** The same members, which may be left out. */
function optional<Members extends object>(members: Members): Partial<Members> {
	return members;
}

export type PlanHeader = Readonly<v.InferOutput<typeof HEADER>>;
export type SyncTarget = Readonly<v.InferOutput<typeof SYNC>>;
export type PlanCounts = Readonly<Omit<v.InferOutput<typeof FOOTER>, "sha256">>;
export type PlannedChange = Readonly<v.InferOutput<typeof CHANGE>>;
export type PlannedUpdate = Extract<PlannedChange, { readonly action: "update" }>;
export type PlannedRemoval = Extract<PlannedChange, { readonly action: "remove" }>;
export type PlannedFile = Extract<PlannedChange, { readonly file: object }>;
export type PlannedFailure = Extract<PlannedChange, { readonly action: "fail" }>;
export type SourceFile = Readonly<PlannedFile["file"]>;
