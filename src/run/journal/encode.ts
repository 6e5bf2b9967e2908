import { crc32 } from "node:zlib";
import { metadataText } from "../../json/values.ts";
import type { Totals } from "../types.ts";
import type { HeaderRecord, JournalRecord, OutcomeRecord, SentRecord } from "./records.ts";

/**
 * The most bytes of a line, its end excluded. A manifest's longest row with every character escaped is shorter. A reader
 * of a file without line ends holds no more than this.
 */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

/** The text before the checksum, and the text between it and the covered bytes. */
export const BEFORE_CHECKSUM = '{"c":"';
export const AFTER_CHECKSUM = '",';
export const CHECKSUM_LENGTH = 8;

/** CRC-32 as eight hexadecimal digits in lower case. */
export function checksum(covered: string | Uint8Array): string {
	return crc32(covered).toString(16).padStart(CHECKSUM_LENGTH, "0");
}

/**
 * One record as a line with its end. The line is a JSON object whose first member is the checksum of the bytes after it.
 * JSON text has no raw line end, so each line is one record.
 *
 * @throws RangeError for a record that is too long to be read back
 */
export function encode(record: JournalRecord): string {
	const covered = textOf(record).slice(1);
	if (Buffer.byteLength(covered) > MAX_LINE_BYTES - 64) throw new RangeError("a record of the journal is too long");
	return `${BEFORE_CHECKSUM}${checksum(covered)}${AFTER_CHECKSUM}${covered}\n`;
}

function textOf(record: JournalRecord): string {
	switch (record.kind) {
		case "header":
			return headerText(record);
		case "outcome":
			return outcomeText(record);
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
		case "sent":
			return sentText(record);
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
		before: earlierMilliseconds,
		t: time,
	});
}

function outcomeText(record: OutcomeRecord): string {
	const isUntouched = record.status === "failed" && record.isUntouched === true ? { un: 1 } : {};
	const error = record.status === "failed" ? { e: record.error.code, x: record.error.text, ...isUntouched } : {};
	return JSON.stringify({
		k: "r",
		i: record.row,
		l: record.line,
		s: record.status,
		...error,
		a: record.attempts,
		id: record.documentId === "" ? undefined : record.documentId,
		name: record.storedName,
		same: record.isSame === true ? 1 : undefined,
	});
}

/** The counts under their names in the summary of `--json`. */
function countsMembers({ duplicateSkipped, pending, attempts, ...counts }: Totals): Record<string, number> {
	const { rows, updated, unchanged, uploaded, removed, failed, invalid } = counts;
	const settled = { rows, updated, unchanged, uploaded, removed, failed, invalid };
	return { ...settled, duplicate_skipped: duplicateSkipped, pending, attempts };
}

function sentText(record: SentRecord): string {
	const { row, line, datasetId, documentId, write, metadata, before, time, fileName, size, namesakes } = record;
	const id = documentId === "" ? undefined : documentId;
	const text = JSON.stringify({
		k: "s",
		i: row,
		l: line,
		d: datasetId,
		id,
		w: write,
		t: time,
		f: fileName,
		z: size,
		n: namesakes,
	});
	// Metadata has its own writer: an object would reorder keys and lose `__proto__`.
	const sent = metadata === undefined ? "" : `,"m":${metadataText(metadata)}`;
	const had = before === undefined ? "" : `,"b":${metadataText(before)}`;
	return `${text.slice(0, -1)}${sent}${had}}`;
}
