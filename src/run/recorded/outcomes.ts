import { join } from "node:path";
import { readChunks } from "../journal/files.ts";
import { JOURNAL_FILE } from "../journal/open.ts";
import type { OutcomeRecord } from "../journal/records.ts";
import { scan } from "../journal/scan.ts";

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
