import type { SentRecord, StoredRecord } from "./records.ts";

/** The records of a row that may have been sent and is not settled. */
export type RowInDoubt = {
	/** the last of its writes; absent where a repair lost it */
	readonly sent?: SentRecord;
	/** the document that its upload made */
	readonly stored?: StoredRecord;
};

/** Rows in doubt by row. After a kill they are no more than the rows that were in flight. */
export async function inDoubtByRow(
	records: AsyncIterable<SentRecord | StoredRecord>,
): Promise<ReadonlyMap<number, RowInDoubt>> {
	const rows = new Map<number, RowInDoubt>();
	for await (const record of records) {
		const known = rows.get(record.row);
		rows.set(record.row, record.kind === "sent" ? { ...known, sent: record } : { ...known, stored: record });
	}
	return rows;
}
