import { crc32 } from "node:zlib";
import { metadataText } from "../../json/values.ts";
import type { Totals } from "../types.ts";
import type { HeaderRecord, JournalRecord, OutcomeRecord, SentRecord } from "./records.ts";

/**
 * The most bytes of a line, its end excluded. A manifest's longest row with every character escaped is shorter. A reader
 * of a file without line ends holds no more than this.
 */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

/** The most bytes that a checksum covers: the line has a few more. */
const MAX_BYTES = MAX_LINE_BYTES - 64;

/** The text before the checksum, and the text between it and the covered bytes. */
export const BEFORE_CHECKSUM = '{"c":"';
export const AFTER_CHECKSUM = '",';
export const CHECKSUM_LENGTH = 8;

/** CRC-32 as eight hexadecimal digits in lower case. */
export function checksum(covered: string | Uint8Array): string {
	const sum = crc32(covered);
	return byteText(sum >>> 24) + byteText(sum >>> 16) + byteText(sum >>> 8) + byteText(sum);
}

/** The digits of each byte. `toString` makes them of a number above 2³¹ by division of doubles, in twice the time of the sum. */
const BYTE_TEXTS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** The digits of the lowest byte of a number. */
function byteText(number: number): string {
	return BYTE_TEXTS[number & 0xff] ?? "";
}

/**
 * One record as a line with its end. The line is a JSON object whose first member is the checksum of the bytes after it.
 * JSON text has no raw line end, so each line is one record.
 *
 * @throws RangeError for a record that is too long to be read back
 */
export function encode(record: JournalRecord): string {
	const covered = coveredText(record);
	// A character takes three bytes at most, and nearly every record is short.
	if (covered.length * 3 > MAX_BYTES && Buffer.byteLength(covered) > MAX_BYTES)
		throw new RangeError("a record of the journal is too long");
	return `${BEFORE_CHECKSUM}${checksum(covered)}${AFTER_CHECKSUM}${covered}\n`;
}

/** The JSON text of a record without its first brace. Of what each row has, it is joined without it: to cut it off takes a copy. */
function coveredText(record: JournalRecord): string {
	if (record.kind === "outcome") return outcomeText(record);
	return record.kind === "sent" ? sentText(record) : textOf(record).slice(1);
}

function textOf(record: Exclude<JournalRecord, OutcomeRecord | SentRecord>): string {
	switch (record.kind) {
		case "header":
			return headerText(record);
		case "end":
			return JSON.stringify({
				k: "e",
				counts: countsMembers(record.counts),
				code: record.exitCode,
				t: record.time,
			});
		case "reopen":
			return JSON.stringify({ k: "reopen", t: record.time, codes: record.codes });
		case "lost":
			return JSON.stringify({ k: "lost", records: record.records, t: record.time });
		case "execution":
			return JSON.stringify({ k: "x", order: record.order });
		case "stored":
			return JSON.stringify({ k: "u", i: record.row, id: record.documentId, name: record.storedName });
	}
}

function headerText({
	version,
	run,
	tool,
	command,
	manifest,
	target,
	options,
	order,
	earlierMilliseconds,
	time,
}: HeaderRecord): string {
	const { name, path, sha256, bytes, rows, invalid, duplicateSkipped, otherRows } = manifest;
	const counts = { rows, invalid, duplicate_skipped: duplicateSkipped, other_rows: otherRows };
	return JSON.stringify({
		k: "h",
		v: version,
		run,
		tool,
		command,
		manifest: { name, path, sha256, bytes, ...counts },
		target: { base_url: target.baseUrl },
		options,
		order,
		before: earlierMilliseconds,
		t: time,
	});
}

function outcomeText(record: OutcomeRecord): string {
	const { row, line, status, attempts, datasetId, documentId, storedName } = record;
	let error = "";
	if (record.status === "failed") {
		const { code, text } = record.error;
		error = `,"e":${JSON.stringify(code)},"x":${JSON.stringify(text)}${record.isUntouched === true ? ',"un":1' : ""}`;
	}
	const name = storedName === undefined ? "" : `,"name":${JSON.stringify(storedName)}`;
	const same = record.isSame === true ? ',"same":1' : "";
	const dataset = datasetId === undefined ? "" : `,"d":${quoted(datasetId)}`;
	return `"k":"r","i":${row},"l":${line},"s":"${status}"${error},"a":${attempts}${idMember(documentId)}${name}${same}${dataset}}`;
}

function idMember(documentId: string): string {
	return documentId === "" ? "" : `,"id":${quoted(documentId)}`;
}

/** Texts of letters, digits and a few signs: JSON escapes none of them. */
const PLAIN = /^[\w .:~-]*$/;

/** A JSON text. Nearly every id is plain, and is quoted in a fifth of the time. */
function quoted(text: string): string {
	return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** The counts under their names in the summary of `--json`. */
function countsMembers({ duplicateSkipped, pending, attempts, ...counts }: Totals): Record<string, number> {
	const { rows, updated, unchanged, uploaded, removed, failed, invalid } = counts;
	const settled = { rows, updated, unchanged, uploaded, removed, failed, invalid };
	return { ...settled, duplicate_skipped: duplicateSkipped, pending, attempts };
}

function sentText(record: SentRecord): string {
	const { row, line, datasetId, documentId, write, metadata, before, time, fileName, size, namesakes } = record;
	let text = `"k":"s","i":${row}`;
	if (line !== undefined) text += `,"l":${line}`;
	text += `,"d":${quoted(datasetId)}${idMember(documentId)},"w":"${write}"`;
	if (time !== undefined) text += `,"t":${time}`;
	if (fileName !== undefined) text += `,"f":${JSON.stringify(fileName)}`;
	if (size !== undefined) text += `,"z":${size}`;
	if (namesakes !== undefined) text += `,"n":${JSON.stringify(namesakes)}`;
	// Metadata has its own writer: an object would reorder keys and lose `__proto__`.
	if (metadata !== undefined) text += `,"m":${metadataText(metadata)}`;
	const beforeText = record.beforeText ?? (before === undefined ? undefined : metadataText(before));
	if (beforeText !== undefined) text += `,"b":${beforeText}`;
	return `${text}}`;
}
