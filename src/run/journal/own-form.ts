import type { RowStatus } from "../types.ts";
import { bytesOf, LineCursor } from "./line-cursor.ts";
import type { RowOutcome } from "./records.ts";

/** The outcome of a row that did not fail. */
export type PlainOutcome = Extract<RowOutcome, { readonly status: Exclude<RowStatus, "failed"> }>;

/** A record of an update or a removal that was about to be sent, as far as counts need it. */
export type PlainSent = {
	readonly row: number;
	readonly write: "update" | "remove";
	readonly hasBefore: boolean;
};

/** The plain lines at the beginning of some bytes: how many bytes and how many records they are. */
export type PlainLines = { readonly length: number; readonly records: number };

/**
 * Reads lines from the first on, as long as they are in the form in which this version writes most of them, their checksums
 * fit, and they are accepted. What comes after is for the careful reader, which takes some five times as long.
 *
 * @param offset of the bytes in the file
 */
export type ReadPlainLines = (bytes: Uint8Array, offset: number) => PlainLines;

/** @param take called with each outcome; false leaves it to the careful reader, and then nothing was applied */
export function plainOutcomes(take: (outcome: PlainOutcome) => boolean): ReadPlainLines {
	return (bytes) => {
		const cursor = new LineCursor(bytes);
		return linesOf(cursor, () => {
			const outcome = readOutcome(cursor);
			return outcome !== undefined && cursor.endLine() && take(outcome);
		});
	};
}

/** @param take called with each record and its offset in the file; false as for outcomes */
export function plainSent(take: (record: PlainSent, offset: number) => boolean): ReadPlainLines {
	return (bytes, offset) => {
		const cursor = new LineCursor(bytes);
		return linesOf(cursor, (from) => {
			const record = readSent(cursor);
			return record !== undefined && cursor.endLine() && take(record, offset + from);
		});
	};
}

/** @param read reads the line that begins there, to its end */
function linesOf(cursor: LineCursor, read: (from: number) => boolean): PlainLines {
	let length = 0;
	let records = 0;
	while (cursor.begin(length)) {
		if (!read(length)) break;
		length = cursor.at;
		records += 1;
	}
	return { length, records };
}

const OUTCOME = bytesOf('"k":"r","i":');
const SENT = bytesOf('"k":"s","i":');
const LINE = bytesOf(',"l":');
const STATUS = bytesOf(',"s":"');
const ATTEMPTS = bytesOf('","a":');
const ID = bytesOf(',"id":"');
const NAME = bytesOf(',"name":"');
const SAME = bytesOf(',"same":1');
const DATASET = bytesOf(',"d":"');
const WRITE = bytesOf(',"w":"');
const TIME = bytesOf('","t":');
const METADATA = bytesOf(',"m":{');
const BEFORE = bytesOf(',"b":{');

const STATUSES = (["updated", "unchanged", "uploaded", "removed"] as const).map(
	(status) => [status, bytesOf(status)] as const,
);
const WRITES = (["update", "remove"] as const).map((write) => [write, bytesOf(write)] as const);

function readOutcome(cursor: LineCursor): PlainOutcome | undefined {
	if (!cursor.has(OUTCOME)) return undefined;
	const row = cursor.count();
	if (!cursor.has(LINE)) return undefined;
	const line = cursor.count();
	if (row < 0 || line < 1 || !cursor.has(STATUS)) return undefined;
	const status = cursor.oneOf(STATUSES);
	if (status === undefined || !cursor.has(ATTEMPTS)) return undefined;
	const attempts = cursor.count();
	if (attempts < 0) return undefined;
	if (cursor.has(ID) && !cursor.skipText()) return undefined;
	if (cursor.has(NAME) && !cursor.skipText()) return undefined;
	const isSame = cursor.has(SAME);
	if (cursor.has(DATASET) && (status !== "unchanged" || !cursor.skipText())) return undefined;
	// Only an update can have changed nothing.
	if ((isSame && status !== "updated") || !cursor.isAtLast()) return undefined;
	return { row, line, status, attempts, isSame: isSame ? true : undefined };
}

function readSent(cursor: LineCursor): PlainSent | undefined {
	if (!cursor.has(SENT)) return undefined;
	const row = cursor.count();
	if (row < 0) return undefined;
	if (cursor.has(LINE) && cursor.count() < 0) return undefined;
	if (!cursor.has(DATASET) || !cursor.skipText()) return undefined;
	if (!cursor.has(ID) || !cursor.skipText() || !cursor.has(WRITE)) return undefined;
	const write = cursor.oneOf(WRITES);
	if (write === undefined || !cursor.has(TIME) || cursor.count() < 0) return undefined;
	if (cursor.has(METADATA) && !cursor.skipObject()) return undefined;
	const hasBefore = cursor.has(BEFORE);
	if (hasBefore && !cursor.skipObject()) return undefined;
	return cursor.isAtLast() ? { row, write, hasBefore } : undefined;
}
