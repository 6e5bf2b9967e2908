import { join } from "node:path";
import type { Metadata } from "../../json/values.ts";
import type { Normalise } from "../../rest/flavours.ts";
import { readChunks } from "../journal/files.ts";
import { JOURNAL_FILE, type RecordedRun } from "../journal/reader.ts";
import type { OutcomeRecord, SentRecord, StoredRecord } from "../journal/records.ts";
import { RowBytes, isWritten } from "../journal/row-states.ts";
import { scan } from "../journal/scan.ts";
import { hasAlready } from "../service/arrival.ts";
import type { RowStatus } from "../types.ts";

/** What a run sent for one row, all its tries and sittings together. */
export type WrittenRow = {
	/** position in the manifest, from 0 */
	readonly row: number;
	/** line in the manifest, from 1; undefined in records of earlier releases */
	readonly line: number | undefined;
	readonly datasetId: string;
	/** empty for an upload of which nobody knows whether it was stored */
	readonly documentId: string;
	readonly write: SentRecord["write"];
	/** what was sent last; empty for a removal */
	readonly metadata: Metadata;
	/** what the document had before the run wrote it; undefined where that is not known */
	readonly before: Metadata | undefined;
	/** when it was sent last, in epoch milliseconds; undefined in records of earlier releases */
	readonly time: number | undefined;
	/** how the row ended; undefined where that is not known */
	readonly status: RowStatus | undefined;
};

/** More records of one row than a byte counts are as many as it holds. */
const MOST = 255;

/**
 * What a run sent, a row after the other as their last records come. Of nearly all rows there is one record, and it is
 * not held; of a row that was sent several times they are gathered.
 *
 * @param keeps what the service keeps of what it is sent
 */
export async function* writtenRows(run: RecordedRun, keeps: Normalise = (sent) => sent): AsyncGenerator<WrittenRow> {
	const counts = new RowBytes();
	for await (const { row } of run.sentRecords()) counts.set(row, Math.min(MOST, counts.get(row) + 1));
	const gathered = new Map<number, (SentRecord | StoredRecord)[]>();
	for await (const record of run.sentRecords()) {
		const { row } = record;
		if (counts.get(row) === 1) {
			yield* writtenRowOf([record], run.state, keeps);
			continue;
		}
		const records = gathered.get(row) ?? [];
		records.push(record);
		gathered.set(row, records);
		// Rows with more records than were counted are told at the end.
		if (records.length < counts.get(row) || counts.get(row) === MOST) continue;
		gathered.delete(row);
		yield* writtenRowOf(records, run.state, keeps);
	}
	for (const records of gathered.values()) yield* writtenRowOf(records, run.state, keeps);
}

/**
 * How many rows were written, or may have been, and no record tells with what. There are none unless a repair could not
 * keep it.
 *
 * @param told the rows of which `writtenRows` has told
 */
export function countUnrecordedRows({ state, sent }: Pick<RecordedRun, "state" | "sent">, told: RowBytes): number {
	if (sent.lost === 0) return 0;
	const { rows } = state.totals();
	let written = 0;
	let open = 0;
	for (let row = 0; row < rows; row++) {
		if (told.get(row) !== 0) continue;
		const status = state.statusOf(row);
		if (isWritten(status)) written += 1;
		else if (status === undefined) open += 1;
	}
	// What was lost beside them may have been of rows whose outcome was lost as well.
	return written + Math.min(open, Math.max(0, sent.lost - written));
}

/** What all records of one row come to: nothing, where none says what was sent. */
export function* writtenRowOf(
	records: readonly (SentRecord | StoredRecord)[],
	state: Pick<RecordedRun["state"], "statusOf" | "isUntouched">,
	keeps: Normalise,
): Generator<WrittenRow> {
	const sent = records.filter((record) => record.kind === "sent");
	const stored = records.findLast((record) => record.kind === "stored");
	const last = sent.at(-1);
	// A repair may have kept that a file was stored, and lost where to. What was refused was not written.
	if (last === undefined || state.isUntouched(last.row)) return;
	const { row, line, datasetId, write, metadata = new Map(), time } = last;
	const documentId = write === "upload" ? (stored?.documentId ?? "") : last.documentId;
	const before = beforeImageOf(sent, keeps);
	yield { row, line, datasetId, documentId, write, metadata, before, time, status: state.statusOf(row) };
}

/** What the document had before the first of these writes that was ours: a later look may have seen an earlier write. */
export function beforeImageOf(
	sent: readonly Pick<SentRecord, "metadata" | "before">[],
	keeps: Normalise,
): Metadata | undefined {
	for (let at = sent.length - 1; at > 0; at--) {
		const [earlier, before] = [sent[at - 1]?.metadata, sent[at]?.before];
		// What is not known of one write is not made up from another: somebody else may have written between them.
		if (before === undefined || earlier === undefined) return undefined;
		if (!hasAlready(before, earlier, keeps)) return before;
	}
	return sent[0]?.before;
}

export type FailedOutcome = { readonly code: string; readonly text: string; readonly attempts: number };

/** Why the rows from `from` up to but not including `to` failed, by row. Rows that were opened again are not among them. */
export async function failedOutcomes(folder: string, from: number, to: number): Promise<Map<number, FailedOutcome>> {
	const failures = new Map<number, FailedOutcome>();
	await eachOutcome(folder, (outcome) => {
		const { row, status, attempts } = outcome;
		if (row < from || row >= to) return;
		if (status === "failed") failures.set(row, { ...outcome.error, attempts });

		// A row that failed, was opened again and then reached its goal.
		else failures.delete(row);
	});
	return failures;
}

/** Every outcome of a run, in the order in which they were recorded. */
export async function eachOutcome(folder: string, see: (outcome: OutcomeRecord) => void): Promise<void> {
	await scan((await readChunks(join(folder, JOURNAL_FILE))) ?? [], (record) => {
		if (record.kind === "outcome") see(record);
		return undefined;
	});
}
