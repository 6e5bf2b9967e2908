import * as v from "valibot";
import { crc32 } from "node:zlib";
import { stringEnd } from "../../json/lexer.ts";
import { jsonObjectOf } from "../../json/parse-json.ts";
import { CHECKSUM_BYTES, CODES, type Facts } from "./encode.ts";
import { FORMAT, type JournalRecord, RECORD, type SentRecord, type SuccessRecord } from "./records.ts";

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

/** The names in a row's record, each empty where it has none. */
export function namesIn(entry: Entry): Pick<SentRecord, "datasetId" | "documentId"> {
	const { datasetId, documentId } = partsOf(entry);
	return { datasetId, documentId };
}

/** The names, and the JSON text after them. */
function partsOf({ bytes, namesFrom }: Entry) {
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
	const { datasetId, documentId, json } = partsOf(entry);
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
