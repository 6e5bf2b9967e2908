import { LineSplitter } from "./lines.ts";
import type { SentRecord, StoredRecord } from "./records.ts";
import { isWritten } from "./row-states.ts";
import { type Chunks, goodRecord } from "./scan.ts";
import type { SentState } from "./sent-state.ts";
import type { JournalState } from "./state.ts";

/** What is known of a row that may have been sent and is not settled. */
export type Doubt = {
	/** the last of its writes; absent where a repair lost it */
	readonly sent?: SentRecord;
	/** the document that its upload made */
	readonly stored?: StoredRecord;
};

/** Whether a row may have been sent and is not settled. */
export function isInDoubt(row: number, outcomes: JournalState, sent: SentState): boolean {
	return sent.wasSent(row) && outcomes.statusOf(row) === undefined;
}

/** How many rows may have been sent and are not settled. */
export function countInDoubt(outcomes: JournalState, sent: SentState): number {
	let count = 0;
	for (const row of sent.rows()) if (outcomes.statusOf(row) === undefined) count += 1;
	return count;
}

/** How many rows may have been written over something that is not known. */
export function countBlind(outcomes: JournalState, sent: SentState): number {
	let count = 0;
	for (const row of sent.rows()) if (sent.isBlind(row) && !outcomes.isUntouched(row)) count += 1;
	return count;
}

/** How many rows failed although their files were stored: these can be taken back. */
export function countStored(outcomes: JournalState, sent: SentState): number {
	let count = 0;
	for (const row of sent.rows()) if (sent.wasStored(row) && outcomes.statusOf(row) === "failed") count += 1;
	return count;
}

/**
 * Rows that were written without a record of it. There are none unless records were lost: what was sent is durable
 * before it is sent, and its outcome is recorded after.
 */
export function* writtenUnsaid(outcomes: JournalState, sent: SentState): Generator<number> {
	const rows = outcomes.totals().rows;
	for (let row = 0; row < rows; row++) {
		if (isWritten(outcomes.statusOf(row)) && !sent.wasSent(row)) yield row;
	}
}

/** The records of the rows that are wanted, in the order in which they were written; nothing of the others is held. */
export async function* sentRecords(
	chunks: Chunks,
	goodLength: number,
	isWanted: (row: number) => boolean,
): AsyncGenerator<SentRecord | StoredRecord> {
	const splitter = new LineSplitter();
	for await (const chunk of chunks) {
		for (const line of splitter.push(chunk)) {
			if (line.next > goodLength) return;
			const record = goodRecord(line);
			const known = record?.kind === "sent" || record?.kind === "stored";
			if (known && isWanted(record.row)) yield record;
		}
	}
}

/** Rows in doubt by row. For a run that was killed they are no more than were in flight. */
export async function doubtsByRow(
	records: AsyncIterable<SentRecord | StoredRecord>,
): Promise<ReadonlyMap<number, Doubt>> {
	const doubts = new Map<number, Doubt>();
	for await (const record of records) {
		const before = doubts.get(record.row);
		doubts.set(record.row, record.kind === "sent" ? { ...before, sent: record } : { ...before, stored: record });
	}
	return doubts;
}
