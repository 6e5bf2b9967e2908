import * as v from "valibot";
import { crc32 } from "node:zlib";
import { stringEnd } from "../../json/lexer.ts";
import { jsonObjectOf } from "../../json/parse-json.ts";
import { metadataText } from "../../json/values.ts";
import {
	type FailureRecord,
	FORMAT,
	type JournalRecord,
	RECORD,
	type SentRecord,
	type SuccessRecord,
} from "./records.ts";

// A record is a line of the journal: `CHECKSUM CODE ROW LINE ATTEMPTS "DATASET" "DOCUMENT" {JSON}`. The words before the
// JSON text say all that the counts of a run depend on, unless the row failed. So most lines are read without that text.
// A record of no row has zeros and empty names.

/**
 * The most bytes of a line, its end excluded. A manifest's longest row with every character escaped is shorter. A reader
 * of a file without line ends holds no more than this.
 */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

/** Bytes of the CRC-32 of the others, in hexadecimal digits, and of the space after it. */
const CHECKSUM_BYTES = 9;

/** The facts of a record that its code says. `before` is empty where the record has one. */
type Facts =
	| Pick<SentRecord, "kind" | "write" | "before">
	| Pick<SuccessRecord, "kind" | "status" | "isSame">
	| Pick<FailureRecord, "kind" | "status" | "isUntouched">
	| { readonly kind: Exclude<JournalRecord["kind"], "sent" | "outcome"> };

const CODES: ReadonlyMap<string, Facts> = new Map<string, Facts>([
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

/** A line of the journal whose checksum fits. */
export type Entry = {
	/** undefined for a code that this version does not know */
	readonly facts: Facts | undefined;
	readonly row: number;
	/** line in the manifest */
	readonly line: number;
	readonly attempts: number;
	readonly bytes: Buffer;
	/** offset of the dataset and the document, in JSON, in the bytes */
	readonly namesFrom: number;
};

const SPACE = 0x20;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const QUOTE = 0x22;

/** Offset of the row: the code has two letters, and spaces are around it. */
const NUMBERS_FROM = CHECKSUM_BYTES + 3;

/** Reads the beginning of a line, given without its end. @returns undefined where its checksum is wrong, or it is no record */
export function entryOf(line: Uint8Array): Entry | undefined {
	const bytes = Buffer.isBuffer(line) ? line : Buffer.from(line.buffer, line.byteOffset, line.length);
	const begin = bytes.toString("latin1", 0, NUMBERS_FROM);
	if (!/^[0-9a-f]{8} .. $/.test(begin)) return undefined;
	if (crc32(bytes.subarray(CHECKSUM_BYTES)) !== Number.parseInt(begin, 16)) return undefined;
	let at = NUMBERS_FROM - 1;
	const number = (): number => {
		const from = (at += 1);
		let value = 0;
		for (let byte = bytes[at] ?? 0; byte >= DIGIT_0 && byte <= DIGIT_9; byte = bytes[(at += 1)] ?? 0) {
			value = value * 10 + byte - DIGIT_0;
		}
		return at > from && bytes[at] === SPACE && Number.isSafeInteger(value) ? value : Number.NaN;
	};
	// A million lines are read so: a pattern for them would cost twice as much as the checksum.
	const row = number();
	const lineNumber = number();
	const attempts = number();
	if (Number.isNaN(row + lineNumber + attempts) || bytes[at + 1] !== QUOTE) return undefined;
	return { facts: CODES.get(begin.slice(-3, -1)), row, line: lineNumber, attempts, bytes, namesFrom: at + 1 };
}

/** A record as far as the counts of a run depend on it. */
export type Counted =
	| JournalRecord
	| OtherFormat
	| Pick<SuccessRecord, "kind" | "status" | "isSame" | "row" | "line" | "attempts">
	| Pick<SentRecord, "kind" | "write" | "before" | "row">;

/** A header of another format. It is only read, never written. */
type OtherFormat = { readonly kind: "other format"; readonly version: number };

/**
 * The record of a line as far as the counts of a run depend on it: nearly every line is read by its beginning.
 *
 * @returns undefined where a member is missing or has another type
 */
export function countedOf(entry: Entry): Counted | undefined {
	const { facts, row, line, attempts } = entry;
	// To spread the facts would take five times as long.
	if (facts?.kind === "sent") return { kind: "sent", row, write: facts.write, before: facts.before };
	if (facts?.kind !== "outcome" || facts.status === "failed") return recordOf(entry);
	return { kind: "outcome", row, line, attempts, status: facts.status, isSame: facts.isSame };
}

/** The names in a row's record, each empty where it has none, and the JSON text after them. */
export function namesIn({ bytes, namesFrom }: Entry) {
	const text = bytes.toString("utf8", namesFrom);
	const end = stringEnd(text, 0);
	const next = stringEnd(text, end + 1);
	return {
		datasetId: textIn(text.slice(0, end)),
		documentId: textIn(text.slice(end + 1, next)),
		json: text.slice(next),
	};
}

/** The value of a JSON text between its quotes. */
function textIn(token: string): string {
	if (!token.includes("\\")) return token.slice(1, -1);
	const value: unknown = JSON.parse(token);
	return typeof value === "string" ? value : "";
}

/** The whole record of a line. @returns undefined where a member is missing or has another type */
export function recordOf(entry: Entry): JournalRecord | OtherFormat | undefined {
	const { facts, row, line, attempts } = entry;
	const { datasetId, documentId, json } = namesIn(entry);
	const members = jsonObjectOf(json);
	if (facts === undefined || members === undefined) return undefined;
	const { version, before } = members;
	if (facts.kind === "header" && typeof version === "number" && version !== FORMAT) {
		return { kind: "other format", version };
	}
	if (facts.kind === "sent" && (facts.before === undefined) !== (before === undefined)) return undefined;
	const whole = Object.assign(members, facts, { before, row, line, attempts, datasetId, documentId });
	const { success, output } = v.safeParse(RECORD, whole);
	return success ? output : undefined;
}
