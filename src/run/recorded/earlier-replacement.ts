import type { RowInDoubt } from "../journal/reader.ts";
import type { Earlier } from "../operations/operation.ts";

/** The replacement that a row in doubt had begun: its removal follows the record of the new document. */
export function replacementOf({ sent, stored }: RowInDoubt): Earlier["replaces"] {
	const { write, documentId: old = "", metadata = new Map() } = sent ?? {};
	const isRemoving = write === "remove" && stored !== undefined;
	return old !== "" && (isRemoving || write === "upload") ? { old, metadata, isRemoving } : undefined;
}
