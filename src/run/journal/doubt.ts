import { LineSplitter, type Chunks, goodRecord } from "./scan.ts";
import type { SentRecord, StoredRecord } from "./records.ts";

/** What is known of a row that may have been sent and is not settled. */
export type Doubt = {
	/** the last of its writes; absent where a repair lost it */
	readonly sent?: SentRecord;
	/** the document that its upload made */
	readonly stored?: StoredRecord;
};

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
