import type { Row } from "../../manifest/types.ts";

/** The rows that are still to be sent. */
export async function* unsettled<SourceRow extends Row>(
	rows: AsyncIterable<SourceRow>,
	journal: { isSettled(index: number): boolean },
): AsyncGenerator<SourceRow> {
	for await (const row of rows) if (!journal.isSettled(row.index)) yield row;
}
