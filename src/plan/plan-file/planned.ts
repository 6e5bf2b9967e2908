import { canonicalObject, type JsonValue, type Metadata } from "../../json/values.ts";
import type { InexactValues } from "../../rest/inexact.ts";
import type { Normalise } from "../../rest/flavours.ts";
import { type Difference, differenceOf, type Mode } from "../change.ts";
import { createHash } from "node:crypto";

/** The first line of a plan. It holds no API key. */
export type PlanHeader = {
	/** version of the program that wrote it */
	readonly ragtag: string;
	/** the only target that it may be sent to, as `normaliseBaseUrl` gives it */
	readonly baseUrl: string;
	readonly mode: Mode;
	/** the manifest that the line numbers refer to: its name as it was given, and the hash of its bytes */
	readonly manifest: { readonly name: string; readonly sha256: string; readonly rows: number };
	/** ISO 8601 */
	readonly created: string;
	/** the plan of a sync: the folder, and the state that knows what a sync has put into the dataset */
	readonly sync?: SyncTarget | undefined;
};

/** What a sync is about. */
export type SyncTarget = {
	/** absolute path of the folder */
	readonly root: string;
	/** its device: another file system may be mounted there the next time */
	readonly device: number;
	readonly datasetId: string;
	/** absolute path of the state file */
	readonly state: string;
	/** SHA-256 of the state that the plan was made from; empty where there was none */
	readonly was: string;
	/** no list of the dataset has shown metadata so far: then one that shows none is believed */
	readonly isUntagged: boolean;
};

/** A file of a folder, as it was when the plan was made. */
export type SourceFile = {
	/** its path from the root, with `/` */
	readonly path: string;
	/** bytes */
	readonly size: number;
	/** milliseconds since 1970 */
	readonly mtime: number;
	readonly ino: number;
	/** in hexadecimal */
	readonly sha256: string;
	/** absolute path of its bytes, where they are not under the root */
	readonly at?: string | undefined;
};

type Planned = {
	/** line of the row in the manifest, from 1 */
	readonly line: number;
	readonly datasetId: string;
	readonly documentId: string;
	/** the document's name when the plan was made, where it was known; only shown */
	readonly name?: string | undefined;
};

/** `metadataHash` of what the document had when the plan was made */
type Was = { readonly was: string };

/** A document whose metadata is to be written. */
export type PlannedUpdate = Planned &
	Was & {
		readonly action: "update";
		/** the same of what else the run that is taken back may have left */
		readonly orWas?: readonly string[] | undefined;
		/** the whole object to send */
		readonly metadata: Metadata;
		readonly difference: Difference;
	};

/** A document that is to be removed. */
export type PlannedRemoval = Planned &
	Was & {
		readonly action: "remove";
		/** the path of its file from the root of a sync, which must still be missing */
		readonly path?: string | undefined;
	};

/**
 * A file that a sync uploads, or whose document it replaces or renames. `keep` sends nothing: the state takes the document
 * for the file. `name` is the name to store under.
 */
export type PlannedFile = Planned & {
	readonly action: "upload" | "replace" | "rename" | "keep";
	readonly name: string;
	readonly file: SourceFile;
	/** `upload` and `replace`: the keys that the file gives; empty otherwise */
	readonly metadata: Metadata;
	/** `rename`: the name that the document has now, and the path of its file before, where that was another */
	readonly from?: string | undefined;
	readonly fromPath?: string | undefined;
	/** `replace` of an undo: the `metadataHash` of what the run left. The metadata is then all that the new document has */
	readonly was?: string | undefined;
};

/** A file of a sync of which nothing can be sent: its row fails, and nothing is removed. */
export type PlannedFailure = Planned & {
	readonly action: "fail";
	/** from the root */
	readonly path: string;
	readonly code: string;
	readonly text: string;
};

export type PlannedChange = PlannedUpdate | PlannedRemoval | PlannedFile | PlannedFailure;

/** Rows of the manifest by result. Only rows that would change are in the plan. */
export type PlanCounts = { readonly changes: number; readonly unchanged: number; readonly failed: number };

/**
 * Whether a document has what it had when the plan was made, as it is or as the service normalises it.
 *
 * @param inexact values of it that came rounded, as the service gave them
 */
export function isAsPlanned(was: string, present: Metadata, normalise: Normalise, inexact?: InexactValues): boolean {
	if (metadataHash(present, inexact) === was) return true;
	// Such a number was never sent, so no normalisation explains it.
	return inexact === undefined && metadataHash(normalise(present)) === was;
}

/** The keys in which a document differs from what it had when the plan was made. */
export function keysChangedSince(
	planned: Pick<PlannedUpdate, "metadata" | "difference">,
	present: Metadata,
	normalise: Normalise,
): string[] {
	const { add, change, remove } = differenceOf(metadataBefore(planned), present, normalise);
	return [...add.keys(), ...change.keys(), ...remove.keys()];
}

/** The previous metadata of the document: the planned one with its difference reverted. */
function metadataBefore({ metadata, difference }: Pick<PlannedUpdate, "metadata" | "difference">): Metadata {
	const before = new Map<string, JsonValue>(metadata);
	for (const key of difference.add.keys()) before.delete(key);
	for (const [key, { from }] of difference.change) before.set(key, from);
	for (const [key, value] of difference.remove) before.set(key, value);
	return before;
}

/** Whether `forcedMetadata` returns the present value of that key. */
export function isKeptWhenForced(mode: Mode, { difference }: Pick<PlannedUpdate, "difference">, key: string): boolean {
	const { add, change, remove } = difference;
	return mode === "merge" && !add.has(key) && !change.has(key) && !remove.has(key);
}

/**
 * The metadata that `--force` sends to a document that was changed since: in `replace` mode the planned object, in
 * `merge` mode what the document has now with the planned difference applied.
 */
export function forcedMetadata(
	mode: Mode,
	{ metadata, difference }: Pick<PlannedUpdate, "metadata" | "difference">,
	present: Metadata,
): Metadata {
	if (mode === "replace") return metadata;
	const merged = new Map(present);
	for (const [key, value] of difference.add) merged.set(key, value);
	for (const [key, { to }] of difference.change) merged.set(key, to);
	for (const key of difference.remove.keys()) merged.delete(key);
	return merged;
}

/**
 * The identity of metadata: SHA-256 of its JSON text with the members sorted by key at every depth, in hexadecimal. The order
 * in which a service lists keys is no change.
 *
 * @param inexact values of it that came rounded, as the service gave them: they differ from the rounded numbers
 */
export function metadataHash(metadata: Metadata, inexact?: InexactValues): string {
	const hash = createHash("sha256").update(canonicalObject(metadata));
	if (inexact !== undefined) hash.update(canonicalObject(inexact));
	return hash.digest("hex");
}
