import type { JsonValue } from "../../json/values.ts";
import type { Difference } from "../../plan/diff.ts";

/** What would become of a document: it gets other metadata, it is made of a file, or it goes. */
export type ChangeAction = "update" | "upload" | "remove";

/** One document that would change, as a dry run shows it. */
export type ShownChange = {
	readonly action: ChangeAction;
	/** line of its row in the manifest */
	readonly line: number;
	readonly datasetId: string;
	/** empty for an upload, which has none yet */
	readonly documentId: string;
	/** `upload`: path of the file */
	readonly file?: string | undefined;
	/** of a document that goes, all that it has is removed */
	readonly difference: Difference;
};

/** One key of a document that would change; `from` or `to` is undefined where the key is added or removed. */
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
