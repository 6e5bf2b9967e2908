import { basename } from "node:path";
import { canonicalText } from "../json/values.ts";
import type { Fault } from "./fault.ts";
import { idKey, isOneLetterApart } from "../text/names.ts";
import type { ParsedRow } from "./rows/row-reader.ts";
import { idFault } from "./rows/values.ts";

/** The roles of a column or member, apart from metadata, with the members of a row that they fill. */
export const ROLES = { document_id: "documentId", dataset_id: "datasetId", file: "file", name: "name" } as const;

export type Role = keyof typeof ROLES;

type RowTexts = Readonly<Pick<ParsedRow, "documentId" | "file" | "name" | "metadata">>;

/** The way in which the rows of a manifest name their documents. */
export type SubjectRules = {
	/** the reserved columns that are read, each with the code of a JSON value that is no text; others are left out */
	readonly roles: Readonly<Partial<Record<Role, string>>>;
	/** the required column */
	readonly required: Role | "old";
	/** the only other columns, where those are not metadata; `others` may stand there and are left out */
	readonly columns?: { readonly read: readonly string[]; readonly others: readonly string[] } | undefined;
	/** whether each row names a file, which must be there */
	readonly hasFile: boolean;
	/** whether a row may ask for its document by name */
	readonly isNamed: boolean;
	/** what is wrong with how a row names its document; undefined where nothing is */
	fault(row: RowTexts): Fault | undefined;
	/** equal for rows of one dataset that are about the same document, and different for others */
	key(row: RowTexts): string;
	/** what rows about the same document must have in common, besides their metadata */
	rest(row: RowTexts): string;
	/** what a message calls two rows about the same document */
	readonly same: string;
	/** what to do about such rows with different values */
	readonly differing: string;
};

const SEE_DUPLICATE = "see --on-duplicate";

const BY_ID: SubjectRules = {
	roles: { document_id: "BAD_ID", dataset_id: "BAD_ID" },
	required: "document_id",
	hasFile: false,
	isNamed: false,
	fault: ({ documentId }) => idFault("document_id", documentId),
	key: ({ documentId }) => idKey(documentId),
	rest: () => "",
	same: "the same document",
	differing: SEE_DUPLICATE,
};

const BY_ID_OR_NAME: SubjectRules = {
	...BY_ID,
	roles: { ...BY_ID.roles, name: "BAD_NAME" },
	required: "name",
	isNamed: true,
	fault(row) {
		if (row.documentId !== "") return BY_ID.fault(row);
		if (row.name !== "") return undefined;
		return { field: "name", code: "NO_NAME", text: "is empty; it names the document to find" };
	},
	key: (row) => (row.documentId === "" ? `name\0${row.name}` : BY_ID.key(row)),
};

const NEW_DOCUMENT: SubjectRules = {
	roles: { file: "BAD_FILE", name: "BAD_FILE", dataset_id: "BAD_ID" },
	required: "file",
	hasFile: true,
	isNamed: false,
	// The file itself is checked later, on the disk.
	fault: () => undefined,
	// Two files of one name would become two documents, the second under a name that the service chooses.
	key: ({ file, name }) => (name === "" ? basename(file) : name),
	rest: ({ file }) => file,
	same: "the same name to store under",
	differing: SEE_DUPLICATE,
};

/** A row of a map says what becomes of one value. */
const VALUE: SubjectRules = {
	roles: {},
	required: "old",
	columns: { read: ["old", "new"], others: ["documents"] },
	hasFile: false,
	isNamed: false,
	fault({ metadata }) {
		if (metadata.has("old")) return undefined;
		return { field: "old", code: "NO_VALUE", text: 'is empty; an empty text is "" in a column old:json' };
	},
	key: ({ metadata }) => canonicalText(metadata.get("old") ?? null),
	rest: () => "",
	same: "the same old value",
	differing: "leave one of them out",
};

/** Everything in which the purposes of manifests differ. */
type PurposeRules = {
	/** the command that reads such manifests, as its runs are recorded */
	readonly command: `docs ${string}` | "values";
	/** the flags with which that command sends again what was lost of a run; undefined where it records no run */
	readonly sendAgain: readonly string[] | undefined;
	readonly subject: SubjectRules;
	/** whether metadata is read and checked; where it is required, a header without a column for it is a problem */
	readonly metadata: "required" | "optional" | "ignored";
	/** whether `--mode` says how metadata is written; a replacing run refuses values that only a merge understands */
	readonly hasMode: boolean;
};

/**
 * The purposes of manifests, by the word that `manifest check --for` takes. A new command that runs rows adds its
 * record here.
 */
export const PURPOSES = {
	tag: {
		command: "docs tag",
		sendAgain: ["--only-changed"],
		subject: BY_ID,
		metadata: "required",
		hasMode: true,
	},
	upload: {
		command: "docs upload",
		sendAgain: ["--as", "manifest", "--on-existing", "update-metadata"],
		subject: NEW_DOCUMENT,
		metadata: "optional",
		hasMode: false,
	},
	rm: { command: "docs rm", sendAgain: [], subject: BY_ID, metadata: "ignored", hasMode: false },
	download: { command: "docs download", sendAgain: [], subject: BY_ID, metadata: "ignored", hasMode: false },
	parse: { command: "docs parse", sendAgain: [], subject: BY_ID, metadata: "ignored", hasMode: false },
	resolve: {
		command: "docs resolve",
		sendAgain: undefined,
		subject: BY_ID_OR_NAME,
		metadata: "optional",
		hasMode: false,
	},
	map: { command: "values", sendAgain: undefined, subject: VALUE, metadata: "required", hasMode: false },
} as const satisfies Readonly<Record<string, PurposeRules>>;

export type Purpose = keyof typeof PURPOSES;

/** The default purpose. */
export const DEFAULT_PURPOSE: Purpose = "tag";

/** The words that `manifest check --for` takes. */
export const PURPOSE_NAMES: readonly Purpose[] = Object.keys(PURPOSES).filter(isPurpose);

function isPurpose(name: string): name is Purpose {
	return Object.hasOwn(PURPOSES, name);
}

/** The purpose of the manifests that a command reads; undefined where it reads none. */
export function purposeOf(command: string): Purpose | undefined {
	return PURPOSE_NAMES.find((purpose) => PURPOSES[purpose].command === command);
}

/** Columns of a failed-rows file, which can be fed back as it is. */
export const FAILURE_COLUMNS = ["_line", "_error_code", "_error", "_attempts"] as const;
const IGNORED: ReadonlySet<string> = new Set(FAILURE_COLUMNS);

/** A mistyped one would send the id as metadata, or the metadata as a key. */
const GUARDED = ["document_id", "dataset_id", "meta_fields"] as const;

export function isRole(name: string): name is Role {
	return Object.hasOwn(ROLES, name);
}

export function isFailureColumn(name: string): boolean {
	return IGNORED.has(name);
}

export function isReserved(name: string): boolean {
	return name === "meta_fields" || isRole(name) || IGNORED.has(name);
}

/** The reserved name that was probably meant, where a name differs from it by case, spaces, dashes or a letter. */
export function meantReserved(name: string): string | undefined {
	if (isReserved(name) || name.length > 30) return undefined;
	const bare = plain(name);
	return GUARDED.find((guarded) => isOneLetterApart(bare, plain(guarded)));
}

function plain(name: string): string {
	return name.toLowerCase().replaceAll(/[\s_-]/gu, "");
}
