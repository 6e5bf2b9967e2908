import { crc32 } from "node:zlib";
import { type Metadata, metadataText } from "../../json/values.ts";
import type { Success } from "../../outcomes.ts";
import type { JournalRecord, OutcomeRecord, RowOutcome, SentRecord } from "./records.ts";

// A record is a line of the journal: `CHECKSUM CODE ROW LINE ATTEMPTS "DATASET" "DOCUMENT" {JSON}`. The words before the
// JSON text say all that the counts of a run depend on, unless the row failed. So most lines are read without that text.
// A record of no row has zeros and empty names.

/**
 * The most bytes of a line, its end excluded. A manifest's longest row with every character escaped is shorter. A reader
 * of a file without line ends holds no more than this.
 */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

/** Hexadecimal digits of the CRC-32 of the bytes after them and a space. */
export const CHECKSUM_LENGTH = 8;
export const COVERED_FROM = CHECKSUM_LENGTH + 1;

/** The facts of a row's record that its code says. `before` is empty where the record has one. */
export type RowFacts =
	| { readonly kind: "sent"; readonly write: SentRecord["write"]; readonly before?: Metadata }
	| { readonly kind: "outcome"; readonly status: "failed"; readonly isUntouched?: true }
	| { readonly kind: "outcome"; readonly status: Exclude<RowOutcome["status"], "failed">; readonly isSame?: true }
	| { readonly kind: "stored" };

export const ROW_CODES: ReadonlyMap<string, RowFacts> = new Map<string, RowFacts>([
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

/** Codes of the records that are of no row. */
const OTHER_CODES = { header: "he", end: "en", reopen: "re", lost: "lo" } as const;
const WRITE_CODES = { update: "sb", remove: "sr", upload: "sp", rename: "sn" } as const;
const STATUS_CODES = {
	updated: "ou",
	unchanged: "on",
	uploaded: "op",
	replaced: "oe",
	renamed: "om",
	removed: "or",
	parsed: "oc",
	downloaded: "od",
} as const satisfies Record<Success, string>;

/**
 * One record as a line with its end.
 *
 * @throws RangeError for a record that is too long to be read back
 */
export function encode(record: JournalRecord): string {
	const covered = coveredText(record);
	// A character takes three bytes at most, and nearly every record is short.
	if (covered.length * 3 > MAX_LINE_BYTES && Buffer.byteLength(covered) > MAX_LINE_BYTES - COVERED_FROM)
		throw new RangeError("a record of the journal is too long");
	return `${checksum(covered)} ${covered}\n`;
}

function coveredText(record: JournalRecord): string {
	switch (record.kind) {
		case "sent":
			return `${sentCode(record)} ${record.row} ${record.line} 0 ${namesText(record)} ${sentText(record)}`;
		case "outcome": {
			const { row, line, attempts } = record;
			return `${outcomeCode(record)} ${row} ${line} ${attempts} ${namesText(record)} ${outcomeText(record)}`;
		}
		case "stored": {
			const { row, line, storedName } = record;
			return `st ${row} ${line} 0 ${namesText(record)} ${JSON.stringify({ storedName })}`;
		}
		case "header":
		case "end":
		case "reopen":
		case "lost": {
			const { kind, ...members } = record;
			return `${OTHER_CODES[kind]} 0 0 0 "" "" ${JSON.stringify(members)}`;
		}
	}
}

function namesText({ datasetId = "", documentId }: { datasetId?: string | undefined; documentId: string }): string {
	return `${JSON.stringify(datasetId)} ${JSON.stringify(documentId)}`;
}

function sentCode({ write, before, beforeText }: SentRecord): string {
	return write === "update" && (before !== undefined || beforeText !== undefined) ? "su" : WRITE_CODES[write];
}

function outcomeCode(record: OutcomeRecord): string {
	if (record.status === "failed") return record.isUntouched === true ? "ox" : "of";
	return record.isSame === true ? "os" : STATUS_CODES[record.status];
}

function outcomeText(record: OutcomeRecord): string {
	const { storedName } = record;
	const error = record.status === "failed" ? record.error : undefined;
	// `JSON.stringify` takes five times as long, and few outcomes have one of them.
	if (storedName === undefined && error === undefined) return "{}";
	return JSON.stringify({ storedName, error: error && { code: error.code, text: error.text } });
}

function sentText(record: SentRecord): string {
	const {
		time,
		metadata,
		before,
		beforeText = before && metadataText(before),
		fileName,
		size,
		namesakes,
		oldName,
	} = record;
	let text = `{"time":${time}`;
	if (fileName !== undefined) text += `,"fileName":${JSON.stringify(fileName)}`;
	if (size !== undefined) text += `,"size":${size}`;
	if (namesakes !== undefined) text += `,"namesakes":${JSON.stringify(namesakes)}`;
	if (oldName !== undefined) text += `,"oldName":${JSON.stringify(oldName)}`;
	// Metadata has its own writer: an object would reorder keys and lose `__proto__`.
	if (metadata !== undefined) text += `,"metadata":${metadataText(metadata)}`;
	if (beforeText !== undefined) text += `,"before":${beforeText}`;
	return `${text}}`;
}

/** The digits of each byte. `toString` makes them of a number above 2³¹ by division of doubles, in twice the time of the sum. */
const BYTE_TEXTS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** CRC-32 as eight hexadecimal digits in lower case. */
function checksum(covered: string): string {
	const sum = crc32(covered);
	return byteText(sum >>> 24) + byteText(sum >>> 16) + byteText(sum >>> 8) + byteText(sum);
}

function byteText(number: number): string {
	return BYTE_TEXTS[number & 0xff] ?? "";
}
