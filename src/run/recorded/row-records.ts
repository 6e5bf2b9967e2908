import { type Metadata, metadataText } from "../../json/values.ts";
import type { OutcomeRecord, SentRecord } from "../journal/records.ts";
import type { Earlier, Sending } from "../operations/operation.ts";
import type { Outcome, Work } from "../types.ts";
import type { RowInDoubt } from "../journal/reader.ts";

/** The record of an outcome. @param untouched whether certainly nothing of a failed row was applied, in this execution or an earlier one */
export function outcomeRecordOf(outcome: Outcome, untouched: boolean): OutcomeRecord {
	const { item, status, documentId, storedName, attempts } = outcome;
	const { index: row, line } = item;
	if (status !== "failed") {
		const isSame = status === "updated" && outcome.isSame === true ? true : undefined;
		// Other rows have a record of what was sent, which names it.
		const datasetId = status === "unchanged" || status === "parsed" ? item.datasetId : undefined;
		return { kind: "outcome", row, line, attempts, datasetId, documentId, storedName, isSame, status };
	}
	const { error = { code: "UNKNOWN", text: "no reason is known" } } = outcome;
	const isUntouched = untouched ? true : undefined;
	return { kind: "outcome", row, line, attempts, documentId, storedName, status, error, isUntouched };
}

/** The most bytes of a before-image. Its record also has the metadata that is sent, and must stay short enough to be read. */
const MAX_BEFORE_IMAGE_BYTES = 4 * 1024 * 1024;

/** The before-image with its JSON text, which is made once. Without them if it is unknown or too large. */
function imageOf(
	before: Metadata | undefined,
	beforeText = before === undefined ? "" : metadataText(before),
): Pick<SentRecord, "before" | "beforeText"> {
	// A UTF-16 unit takes three bytes at most, and nearly every image is short.
	const isShort = beforeText.length * 3 <= MAX_BEFORE_IMAGE_BYTES;
	const isTooLarge = !isShort && Buffer.byteLength(beforeText) > MAX_BEFORE_IMAGE_BYTES;
	return before === undefined || isTooLarge ? {} : { before, beforeText };
}

/** The record of a write. @param time when it is about to be sent, in epoch milliseconds */
export function sentRecordOf({ index: row, line, datasetId }: Work, sending: Sending, time: number): SentRecord {
	const { what: write } = sending;
	const common = { kind: "sent", row, line, datasetId, write, time } as const;
	switch (sending.what) {
		case "update": {
			const { documentId, metadata, before, beforeText } = sending;
			return { ...common, documentId, metadata, ...imageOf(before, beforeText) };
		}
		case "remove":
		case "rename": {
			const { documentId, names } = sending;
			return { ...common, documentId, fileName: names?.to, oldName: names?.from };
		}
		case "upload": {
			const { metadata, name: fileName, size, namesakes, replaces: documentId = "" } = sending;
			return { ...common, documentId, metadata, fileName, size, namesakes };
		}
	}
}

/** The replacement that a row in doubt had begun: its removal follows the record of the new document. */
export function replacementOf({ sent, stored }: RowInDoubt): Earlier["replaces"] {
	const { write, documentId: old = "", metadata = new Map() } = sent ?? {};
	const isRemoving = write === "remove" && stored !== undefined;
	return old !== "" && (isRemoving || write === "upload") ? { old, metadata, isRemoving } : undefined;
}
