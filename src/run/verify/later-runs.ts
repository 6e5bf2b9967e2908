import type { Metadata } from "../../json/values.ts";
import { JournalUnreadable } from "../journal/errors.ts";
import { type RecordedRun, readRun } from "../journal/reader.ts";
import type { HeaderRecord, SentRecord } from "../journal/records.ts";
import { isWritten } from "../journal/row-states.ts";
import type { Runs } from "../recorded/runs.ts";
import { sameMetadata } from "../service/read-back.ts";
import type { JudgedRow } from "./verify.ts";

/** A run that began later, of the same target. */
export type LaterRun = Pick<RecordedRun, "sentRecords" | "state"> & {
	readonly name: string;
	/** whether its rows say all that their documents are to have; else they leave values as they see them */
	readonly replacesAll: boolean;
};

/**
 * Which of these rows' documents a later run wrote again, by row: the last such run. A run that found a value lost
 * already, and left it so, does not explain the loss.
 */
export async function writtenAgain(
	rows: readonly JudgedRow[],
	laterRuns: () => AsyncIterable<LaterRun>,
): Promise<ReadonlyMap<number, string>> {
	const again = new Map<number, string>();
	const sought = new Map(rows.map((row) => [keyOf(row), row]));
	for await (const { name, sentRecords, state, replacesAll: isWhole } of laterRuns()) {
		for await (const record of sentRecords()) {
			if (record.kind !== "sent" || record.documentId === "") continue;
			const found = sought.get(keyOf(record));
			// What was refused, or never left, has changed nothing, and of what is not settled nobody knows.
			if (found === undefined || !isWritten(state.statusOf(record.row))) continue;
			// One that began later may have written earlier, where ours went on after it.
			if (record.time !== undefined && found.time !== undefined && record.time < found.time) continue;
			if (!isWhole && leaves(record, found.keys)) continue;
			again.set(found.row, name);
		}
	}
	return again;
}

/** Whether a write sent one of these keys as it had seen it. */
function leaves({ metadata, before }: SentRecord, keys: readonly string[]): boolean {
	if (metadata === undefined || before === undefined) return false;
	return keys.some((key) => sameMetadata(only(key, metadata), only(key, before)));
}

function only(key: string, metadata: Metadata): Metadata {
	const value = metadata.get(key);
	return new Map(value === undefined ? [] : [[key, value]]);
}

function keyOf({ datasetId, documentId }: { readonly datasetId: string; readonly documentId: string }): string {
	return `${datasetId}\0${documentId}`;
}

/** The runs of the same target that began after one, the oldest first. Those that can't be read are passed over. */
export async function* laterRunsOf(runs: Runs, { run, target }: HeaderRecord): AsyncGenerator<LaterRun> {
	const all = await runs.files();
	const place = all.findIndex((file) => file.run === run);
	// The newest come first. A run that has lost its record is older than none.
	for (const file of all.slice(0, Math.max(0, place)).toReversed()) {
		const name = file.run;
		if (file.baseUrl !== target.baseUrl) continue;
		const recorded = await readRun(runs.path(name)).catch((error: unknown) => {
			if (error instanceof JournalUnreadable) return undefined;
			throw error;
		});
		if (recorded === undefined) continue;
		// Rows of a merge, of a plan and of an undo carry along what they don't change.
		const isWhole = file.options["mode"] === "replace" || file.command === "docs upload";
		yield { name, replacesAll: isWhole, state: recorded.state, sentRecords: () => recorded.sentRecords() };
	}
}
