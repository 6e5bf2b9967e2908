import type { RowStatus } from "../../../src/outcomes.ts";
import { encode } from "../../../src/run/journal/record-line.ts";
import type {
	EndRecord,
	HeaderRecord,
	JournalRecord,
	OutcomeRecord,
	SentRecord,
	StoredRecord,
} from "../../../src/run/journal/records.ts";
import { type RecordedRun, readRun } from "../../../src/run/journal/reader.ts";
import type { JournalState } from "../../../src/run/journal/state.ts";

export const ROWS = 1_000;
export const STATUSES: readonly RowStatus[] = ["updated", "unchanged", "uploaded", "removed", "failed"];

export function header(more: Partial<HeaderRecord> = {}): HeaderRecord {
	return {
		kind: "header",
		version: 2,
		run: "run-1",
		tool: "0.1.0",
		command: "docs tag",
		manifest: {
			name: "m.csv",
			path: "/data/m.csv",
			sha256: "ab".repeat(32),
			bytes: 4_711,
			rows: ROWS,
			invalid: 3,
			duplicateSkipped: 2,
		},
		target: { baseUrl: "https://rag.example/api/v1" },
		options: "cd".repeat(32),
		time: "2026-01-02T03:04:05.678Z",
		...more,
	};
}

/** `unchanged` unless given: any other success needs a record that the row was sent. */
export function outcome(row: number, status: RowStatus = "unchanged", attempts = 1, code = "CODE_102"): OutcomeRecord {
	const common = { kind: "outcome", row, line: row + 2, attempts, datasetId: "", documentId: `doc-${row}` } as const;
	if (status !== "failed") return { ...common, status };
	return { ...common, status, error: { code, text: "it was refused – \u{1f600}\n" } };
}

export function sent(row: number, more: Partial<SentRecord> = {}): SentRecord {
	const metadata = new Map([["author", `Ann ${row}`]]);
	const { line = row + 2, time = 1_764_000_000_000 } = more;
	return {
		kind: "sent",
		row,
		line,
		datasetId: "set",
		documentId: `doc-${row}`,
		write: "update",
		time,
		metadata,
		...more,
	};
}

/** The records of a row that was sent. */
export function row(at: number, status: RowStatus = "updated", attempts = 1): [SentRecord, OutcomeRecord] {
	return [sent(at), outcome(at, status, attempts)];
}

export function stored(at: number, documentId: string, storedName: string): StoredRecord {
	return { kind: "stored", row: at, line: at + 2, datasetId: "set", documentId, storedName };
}

export function end(state: JournalState, exitCode = 0): EndRecord {
	return { kind: "end", counts: state.totals(), exitCode, time: "2026-01-02T03:05:00.000Z" };
}

export function bytesOf(records: readonly JournalRecord[]): Buffer {
	return Buffer.from(records.map(encode).join(""));
}

/** The bytes in pieces, so that lines begin in one and end in another. */
export function* inPieces(bytes: Uint8Array, size = 1_000): Generator<Uint8Array> {
	for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Rows left out and settled and pending: what must always come to all rows. */
export function identity(state: JournalState): boolean {
	const { rows, updated, unchanged, uploaded, removed, failed, ...others } = state.totals();
	const { invalid, duplicateSkipped, pending } = others;
	return (
		pending >= 0 && rows === updated + unchanged + uploaded + removed + failed + invalid + duplicateSkipped + pending
	);
}

/** A run that has a header, as it is read. */
export async function readWhole(path: string): Promise<RecordedRun> {
	const run = await readRun(path);
	if (run === undefined) throw new Error("the run has no header");
	return run;
}

/** The error of a call; undefined where there is none. */
export async function problem(promise: Promise<unknown>): Promise<unknown> {
	return await promise.then(
		() => undefined,
		(error: unknown) => error,
	);
}
