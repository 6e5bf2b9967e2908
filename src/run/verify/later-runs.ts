import type { RecordedRun } from "../journal/open.ts";
import type { Judged } from "./look-back.ts";

/** A run that began later, of the same target. */
export type LaterRun = Pick<RecordedRun, "sentRecords" | "state"> & { readonly name: string };

/** Which of these rows' documents a later run wrote again, by row: the last such run. */
export async function writtenAgain(
	rows: readonly Judged[],
	laterRuns: () => AsyncIterable<LaterRun>,
): Promise<ReadonlyMap<number, string>> {
	const again = new Map<number, string>();
	const sought = new Map(rows.map((row) => [keyOf(row), row]));
	for await (const { name, sentRecords, state } of laterRuns()) {
		for await (const record of sentRecords()) {
			if (record.kind !== "sent" || record.documentId === "") continue;
			const found = sought.get(keyOf(record));
			// A refused write has changed nothing. One that began later may have written earlier, where ours went on after it.
			if (found === undefined || state.statusOf(record.row) === "failed") continue;
			if (record.time !== undefined && found.time !== undefined && record.time < found.time) continue;
			again.set(found.row, name);
		}
	}
	return again;
}

function keyOf({ datasetId, documentId }: { readonly datasetId: string; readonly documentId: string }): string {
	return `${datasetId}\0${documentId}`;
}
