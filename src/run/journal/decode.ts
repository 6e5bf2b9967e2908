import * as v from "valibot";
import { crc32 } from "node:zlib";
import { jsonObjectOf } from "../../json/parse-json.ts";
import { type JsonObject, metadataOf } from "../../json/values.ts";
import { CHECKSUM_LENGTH, COVERED_FROM, ROW_CODES, type RowFacts } from "./encode.ts";
import {
	FORMAT,
	type JournalRecord,
	MEMBERS,
	type RecordedManifest,
	type RowOutcome,
	type SentRecord,
} from "./records.ts";

/** Codes of the records that are of no row. */
const KINDS = new Map<string, "header" | "end" | "reopen" | "lost">([
	["he", "header"],
	["en", "end"],
	["re", "reopen"],
	["lo", "lost"],
]);

const CODE_LENGTH = 2;

/** A record as far as the counts of a run depend on it. */
export type Counted =
	| JournalRecord
	| OtherFormat
	| (Extract<RowOutcome, { readonly status: Exclude<RowOutcome["status"], "failed"> }> & { readonly kind: "outcome" })
	| Pick<SentRecord, "kind" | "row" | "write" | "before">;

/** The kind of a line's record; undefined where this version knows none. */
export function kindOf({ code }: Entry): JournalRecord["kind"] | undefined {
	return ROW_CODES.get(code)?.kind ?? KINDS.get(code);
}

/** A line of the journal whose checksum fits. */
export type Entry = {
	readonly code: string;
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
const LETTER_A = 0x61;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Reads the beginning of a line, given without its end. @returns undefined where its checksum is wrong, or it is no record */
export function entryOf(line: Uint8Array): Entry | undefined {
	const bytes = Buffer.isBuffer(line) ? line : Buffer.from(line.buffer, line.byteOffset, line.length);
	if (bytes[CHECKSUM_LENGTH] !== SPACE || crc32(bytes.subarray(COVERED_FROM)) !== checksumIn(bytes)) return undefined;
	let at = COVERED_FROM + CODE_LENGTH;
	const number = (): number => {
		const from = (at += 1);
		let value = 0;
		for (let byte = bytes[at] ?? 0; byte >= DIGIT_0 && byte <= DIGIT_9; byte = bytes[(at += 1)] ?? 0) {
			value = value * 10 + byte - DIGIT_0;
		}
		return at > from && bytes[at] === SPACE && Number.isSafeInteger(value) ? value : Number.NaN;
	};
	// A million lines are read so: a list of the three would cost as much as the checksum.
	const row = number();
	const lineNumber = number();
	const attempts = number();
	if (Number.isNaN(row + lineNumber + attempts) || bytes[at + 1] !== QUOTE) return undefined;
	const code = String.fromCharCode(bytes[COVERED_FROM] ?? 0, bytes[COVERED_FROM + 1] ?? 0);
	return { code, row, line: lineNumber, attempts, bytes, namesFrom: at + 1 };
}

/** The number whose digits a line begins with; -1 where they are none of ours. */
function checksumIn(bytes: Uint8Array): number {
	let sum = 0;
	for (let at = 0; at < CHECKSUM_LENGTH; at++) {
		const byte = bytes[at] ?? 0;
		const digit = byte >= LETTER_A ? byte - LETTER_A + 10 : byte - DIGIT_0;
		if (digit < 0 || digit > 15 || (byte > DIGIT_9 && byte < LETTER_A)) return -1;
		sum = sum * 16 + digit;
	}
	return sum;
}

/**
 * The record of a line as far as the counts of a run depend on it: nearly every line is read by its beginning.
 *
 * @returns undefined where a member is missing or has another type
 */
export function countedOf(entry: Entry): Counted | undefined {
	const { code, row, line, attempts } = entry;
	const facts = ROW_CODES.get(code);
	// To spread the facts would take five times as long.
	if (facts?.kind === "sent") return { kind: "sent", row, write: facts.write, before: facts.before };
	if (facts?.kind !== "outcome" || facts.status === "failed") return recordOf(entry);
	return { kind: "outcome", row, line, attempts, status: facts.status, isSame: facts.isSame };
}

/** The names in a row's record, each empty where it has none. */
type Names = { readonly datasetId: string; readonly documentId: string };

export function namesIn({ bytes, namesFrom }: Entry): Names {
	const end = endOfText(bytes, namesFrom);
	return { datasetId: textAt(bytes, namesFrom, end), documentId: textAt(bytes, end + 2, endOfText(bytes, end + 2)) };
}

/** A JSON text between two quotes. */
function textAt(bytes: Buffer, from: number, end: number): string {
	const text = bytes.toString("utf8", from + 1, end);
	if (!text.includes("\\")) return text;
	const name: unknown = JSON.parse(`"${text}"`);
	return typeof name === "string" ? name : "";
}

/** Offset of the quote that ends a JSON text. */
function endOfText(bytes: Buffer, from: number): number {
	let end = bytes.indexOf(QUOTE, from + 1);
	while (end !== -1 && isEscaped(bytes, end)) end = bytes.indexOf(QUOTE, end + 1);
	return end === -1 ? bytes.length : end;
}

function isEscaped(bytes: Buffer, at: number): boolean {
	let backslashes = 0;
	while (bytes[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
	return backslashes % 2 === 1;
}

/** A header of another format. It is only read, never written. */
type OtherFormat = { readonly kind: "other format"; readonly version: number };

/** The whole record of a line. @returns undefined where a member is missing or has another type */
export function recordOf(entry: Entry): JournalRecord | OtherFormat | undefined {
	const { bytes, namesFrom } = entry;
	const end = endOfText(bytes, endOfText(bytes, namesFrom) + 2);
	const members = jsonObjectOf(bytes.toString("utf8", end + 1));
	if (members === undefined) return undefined;
	const facts = ROW_CODES.get(entry.code);
	if (facts !== undefined) return rowRecordOf(entry, facts, members);
	switch (KINDS.get(entry.code)) {
		case "header": {
			const { version } = members;
			if (typeof version === "number" && version !== FORMAT) return { kind: "other format", version };
			// More omitted rows than rows would make a count negative.
			if (!v.is(MEMBERS.header, members) || omitted(members.manifest) > members.manifest.rows) return undefined;
			return { ...members, kind: "header" };
		}
		case "end":
			return v.is(MEMBERS.end, members) ? { ...members, kind: "end" } : undefined;
		case "reopen":
			return v.is(MEMBERS.reopen, members) ? { ...members, kind: "reopen" } : undefined;
		case "lost":
			return v.is(MEMBERS.lost, members) ? { ...members, kind: "lost" } : undefined;
		case undefined:
			return undefined;
	}
}

function omitted({ invalid, duplicateSkipped }: RecordedManifest): number {
	return invalid + duplicateSkipped;
}

function rowRecordOf(entry: Entry, facts: RowFacts, members: JsonObject): JournalRecord | undefined {
	const { row, line, attempts } = entry;
	const { datasetId, documentId } = namesIn(entry);
	if (facts.kind === "stored") {
		return v.is(MEMBERS.stored, members) ? { ...members, ...facts, row, line, datasetId, documentId } : undefined;
	}
	if (facts.kind === "outcome") {
		const { success, output } = v.safeParse(MEMBERS.outcome, members);
		if (!success) return undefined;
		const { error, ...others } = output;
		const common = { ...others, row, line, attempts, ...(datasetId === "" ? {} : { datasetId }), documentId };
		if (facts.status !== "failed") return error === undefined ? { ...common, ...facts } : undefined;
		return error === undefined ? undefined : { ...common, ...facts, error };
	}
	if (!v.is(MEMBERS.sent, members) || (members.before === undefined) !== (facts.before === undefined)) return undefined;
	const { metadata, before, ...others } = members;
	const { kind, write } = facts;
	const sent = { ...others, kind, row, line, datasetId, documentId, write };
	const known = metadata === undefined ? sent : { ...sent, metadata: metadataOf(metadata) };
	return before === undefined ? known : { ...known, before: metadataOf(before) };
}
