import type { JsonValue } from "../../json.ts";
import type { Difference } from "../../plan/diff.ts";

/** One document that would change, as a dry run shows it. */
export type ShownChange = {
	/** line of its row in the manifest */
	readonly line: number;
	readonly datasetId: string;
	readonly documentId: string;
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
