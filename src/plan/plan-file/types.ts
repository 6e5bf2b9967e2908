import type { Metadata } from "../../json/values.ts";
import type { Mode } from "../change.ts";
import type { Difference } from "../diff.ts";

/** What a plan is about: its first line. It holds no key. */
export type PlanHeader = {
	/** version of the program that wrote it */
	readonly ragtag: string;
	/** the one target that it may be sent to, as `normaliseBaseUrl` gives it */
	readonly baseUrl: string;
	readonly mode: Mode;
	/** where the lines of its changes are: the manifest as it was named, and the hash of its bytes */
	readonly manifest: { readonly name: string; readonly sha256: string; readonly rows: number };
	/** ISO 8601 */
	readonly created: string;
};

type Planned = {
	/** line of the row in the manifest, from 1 */
	readonly line: number;
	readonly datasetId: string;
	readonly documentId: string;
	/** `metadataHash` of what the document had when the plan was made */
	readonly was: string;
};

/** A document whose metadata is to be written. */
export type PlannedUpdate = Planned & {
	readonly action: "update";
	/** the whole object to send */
	readonly metadata: Metadata;
	readonly difference: Difference;
};

/** A document that is to be removed. */
export type PlannedRemoval = Planned & { readonly action: "remove" };

export type PlannedChange = PlannedUpdate | PlannedRemoval;

/** Rows of the manifest by what was found of them: those that would change are in the plan, the others are not. */
export type PlanCounts = { readonly changes: number; readonly unchanged: number; readonly failed: number };
