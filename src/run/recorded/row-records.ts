import { type Metadata, metadataText } from "../../json/values.ts";
import type { OutcomeRecord, SentRecord } from "../journal/records.ts";
import type { Sending } from "../operations/operation.ts";
import type { Outcome, Work } from "../types.ts";

/** @param untouched whether certainly nothing of a failed row was applied, in this execution or an earlier one */
export function outcomeRecordOf(outcome: Outcome, untouched: boolean): OutcomeRecord {
	const { item, status, documentId, storedName, attempts } = outcome;
	const { index: row, line } = item;
	if (status !== "failed") {
		const isSame = status === "updated" && outcome.isSame === true ? true : undefined;
		const datasetId = status === "unchanged" ? item.datasetId : undefined;
		return { kind: "outcome", row, line, attempts, datasetId, documentId, storedName, isSame, status };
	}
	const { error = { code: "UNKNOWN", text: "no reason is known" } } = outcome;
	const isUntouched = untouched ? true : undefined;
	return { kind: "outcome", row, line, attempts, documentId, storedName, status, error, isUntouched };
}

/** The most bytes of a before-image. Its record also has the metadata that is sent, and must stay short enough to be read. */
const MAX_BEFORE_IMAGE_BYTES = 4 * 1024 * 1024;

/** The most bytes of UTF-8 that one UTF-16 unit of a text takes. */
const MAX_UNIT_BYTES = 3;

function isTooLarge(image: string): boolean {
	if (image.length * MAX_UNIT_BYTES <= MAX_BEFORE_IMAGE_BYTES) return false;
	return Buffer.byteLength(image) > MAX_BEFORE_IMAGE_BYTES;
}

/** The before-image with its JSON text, which is made once. Without them if it is unknown or too large. */
function imageOf(
	before: Metadata | undefined,
	beforeText = before === undefined ? "" : metadataText(before),
): Pick<SentRecord, "before" | "beforeText"> {
	return before === undefined || isTooLarge(beforeText) ? {} : { before, beforeText };
}

/** @param time when it is about to be sent, in epoch milliseconds */
export function sentRecordOf({ index: row, line, datasetId }: Work, sending: Sending, time: number): SentRecord {
	const { what: write } = sending;
	switch (sending.what) {
		case "update": {
			const { documentId, metadata, before, beforeText } = sending;
			const image = imageOf(before, beforeText);
			return { kind: "sent", row, line, datasetId, documentId, write, time, metadata, ...image };
		}
		case "remove":
			return { kind: "sent", row, line, datasetId, documentId: sending.documentId, write, time };
		case "upload": {
			const { metadata, name: fileName, size, namesakes } = sending;
			return { kind: "sent", row, line, datasetId, documentId: "", write, time, metadata, fileName, size, namesakes };
		}
	}
}
