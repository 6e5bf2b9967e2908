import { crc32 } from "node:zlib";
import { metadataText } from "../../json/values.ts";
import type { FailureRecord, JournalRecord, SentRecord, SuccessRecord } from "./records.ts";

// A record is a line of the journal: `CHECKSUM CODE ROW LINE ATTEMPTS "DATASET" "DOCUMENT" {JSON}`. The words before the
// JSON text say all that the counts of a run depend on, unless the row failed. So most lines are read without that text.
// A record of no row has zeros and empty names.

/**
 * The most bytes of a line, its end excluded. A manifest's longest row with every character escaped is shorter. A reader
 * of a file without line ends holds no more than this.
 */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

/** Bytes of the CRC-32 of the others, in hexadecimal digits, and of the space after it. */
export const CHECKSUM_BYTES = 9;

/** The facts of a record that its code says. `before` is empty where the record has one. */
export type Facts =
	| Pick<SentRecord, "kind" | "write" | "before">
	| Pick<SuccessRecord, "kind" | "status" | "isSame">
	| Pick<FailureRecord, "kind" | "status" | "isUntouched">
	| { readonly kind: Exclude<JournalRecord["kind"], "sent" | "outcome"> };

export const CODES: ReadonlyMap<string, Facts> = new Map<string, Facts>([
	["he", { kind: "header" }],
	["en", { kind: "end" }],
	["re", { kind: "reopen" }],
	["lo", { kind: "lost" }],
	["su", { kind: "sent", write: "update", before: new Map() }],
	["sb", { kind: "sent", write: "update" }],
	["sr", { kind: "sent", write: "remove" }],
	["sp", { kind: "sent", write: "upload" }],
	["sn", { kind: "sent", write: "rename" }],
	["st", { kind: "stored" }],
	["ou", { kind: "outcome", status: "updated" }],
	["os", { kind: "outcome", status: "updated", isSame: true }],
	["on", { kind: "outcome", status: "unchanged" }],
	["op", { kind: "outcome", status: "uploaded" }],
	["oe", { kind: "outcome", status: "replaced" }],
	["om", { kind: "outcome", status: "renamed" }],
	["or", { kind: "outcome", status: "removed" }],
	["oc", { kind: "outcome", status: "parsed" }],
	["od", { kind: "outcome", status: "downloaded" }],
	["of", { kind: "outcome", status: "failed" }],
	["ox", { kind: "outcome", status: "failed", isUntouched: true }],
]);

const CODE_OF: ReadonlyMap<string, string> = new Map(Array.from(CODES, ([code, facts]) => [textOf(facts), code]));

/** The same text for records of one code. */
function textOf(facts: Facts): string {
	if (facts.kind === "sent") return facts.before === undefined ? facts.write : "update with image";
	if (facts.kind !== "outcome") return facts.kind;
	if (facts.status === "failed") return facts.isUntouched === true ? "untouched" : facts.status;
	return facts.isSame === true ? "same" : facts.status;
}

const OF_NO_ROW = { row: 0, line: 0, datasetId: "", documentId: "" };

/**
 * One record as a line with its end.
 *
 * @throws RangeError for a record that is too long to be read back
 */
export function encode(record: JournalRecord): string {
	const { row, line, datasetId, documentId } = "row" in record ? record : OF_NO_ROW;
	const attempts = record.kind === "outcome" ? record.attempts : 0;
	const names = `${JSON.stringify(datasetId)} ${JSON.stringify(documentId)}`;
	const covered = `${CODE_OF.get(textOf(record))} ${row} ${line} ${attempts} ${names} ${membersText(record)}`;
	// A character takes three bytes at most, and nearly every record is short.
	if (covered.length * 3 > MAX_LINE_BYTES && Buffer.byteLength(covered) > MAX_LINE_BYTES - CHECKSUM_BYTES)
		throw new RangeError("a record of the journal is too long");
	return `${crc32(covered).toString(16).padStart(8, "0")} ${covered}\n`;
}

function membersText(record: JournalRecord): string {
	switch (record.kind) {
		case "sent":
			return sentText(record);
		case "outcome": {
			const { storedName, error } = record;
			// `JSON.stringify` takes five times as long, and few outcomes have one of them.
			return storedName === undefined && error === undefined ? "{}" : JSON.stringify({ storedName, error });
		}
		case "stored":
			return JSON.stringify({ storedName: record.storedName });
		case "header":
		case "end":
		case "reopen":
		case "lost": {
			const { kind: _, ...members } = record;
			return JSON.stringify(members);
		}
	}
}

function sentText({ time, fileName, size, namesakes, oldName, metadata, before }: SentRecord): string {
	let text = `{"time":${time}`;
	if (fileName !== undefined) text += `,${JSON.stringify({ fileName, size, namesakes, oldName }).slice(1, -1)}`;
	// Metadata has its own writer: an object would reorder keys and lose `__proto__`.
	if (metadata !== undefined) text += `,"metadata":${metadataText(metadata)}`;
	if (before !== undefined) text += `,"before":${metadataText(before)}`;
	return `${text}}`;
}
