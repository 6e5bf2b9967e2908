import type { JsonValue } from "../json/values.ts";
import type { Difference } from "../plan/change.ts";

/** The effect of a row: it changes a document's metadata, creates a document from a file, or removes one. */
export type ChangeAction = "update" | "upload" | "remove";

/** One document that would change, as a dry run shows it. */
export type ShownChange = {
	readonly action: ChangeAction;
	/** line of its row in the manifest; 0 where it is not known */
	readonly line: number;
	readonly datasetId: string;
	/** empty for an upload, whose document does not exist yet */
	readonly documentId: string;
	/** undefined where it is not known */
	readonly name?: string | undefined;
	/** `upload`: path of the file */
	readonly file?: string | undefined;
	/** for a removal, all keys of the document are removed */
	readonly difference: Difference;
};

/** A document that no row of a manifest names. */
export type UndeclaredDocument = {
	readonly datasetId: string;
	readonly documentId: string;
	/** undefined where it is not known */
	readonly name: string | undefined;
};

/** One key that would change; `from` is undefined where it is added, `to` where it is removed. */
export type ShownKey = {
	readonly key: string;
	readonly action: "add" | "change" | "remove";
	readonly from: JsonValue | undefined;
	readonly to: JsonValue | undefined;
};

/** The keys of a change: those that are added, then those that change, then those that are removed. */
export function shownKeys({ add, change, remove }: Difference): ShownKey[] {
	const added = Array.from(add, ([key, to]): ShownKey => ({ key, action: "add", from: undefined, to }));
	const changed = Array.from(change, ([key, { from, to }]): ShownKey => ({ key, action: "change", from, to }));
	const removed = Array.from(remove, ([key, from]): ShownKey => ({ key, action: "remove", from, to: undefined }));
	return [...added, ...changed, ...removed];
}
