import { sameValue } from "../../json/values.ts";
import { JournalUnreadable } from "../journal/errors.ts";
import { type RecordedRun, readRun } from "../journal/reader.ts";
import type { HeaderRecord, SentRecord } from "../journal/records.ts";
import { isWritten } from "../../outcomes.ts";
import type { WrittenRow } from "../recorded/recorded-rows.ts";
import { newestOrder } from "../recorded/run-file.ts";
import type { RunStore } from "../recorded/run-store.ts";
import type { WhichDocument } from "../types.ts";

/** A run with the same target that has written after the one that is verified began. */
export type LaterRun = Pick<RecordedRun, "sentRecords" | "state"> & {
	readonly name: string;
	/** whether its rows replace all metadata of a document; other rows keep values as they find them */
	readonly replacesAll: boolean;
};

/**
 * The runs with the same target of which an execution followed the beginning of a run: those that executed last come last.
 * Runs that can't be read are skipped.
 */
export async function* laterRunsOf(runs: RunStore, { run, target }: HeaderRecord): AsyncGenerator<LaterRun> {
	const all = await runs.files();
	const { order: began } = all.find((file) => file.run === run) ?? {};
	const later = all.filter((file) => file.run !== run && newestOrder(file) > (began ?? Number.POSITIVE_INFINITY));
	for (const file of later.toSorted((one, other) => newestOrder(one) - newestOrder(other))) {
		const name = file.run;
		if (file.baseUrl !== target.baseUrl) continue;
		const recorded = await readRun(runs.path(name)).catch((error: unknown) => {
			if (error instanceof JournalUnreadable) return undefined;
			throw error;
		});
		if (recorded === undefined) continue;
		// A row of a merge, a plan or an undo sends the unchanged values of its document too.
		const replacesAll = file.options["mode"] === "replace" || file.command === "docs upload";
		yield { name, replacesAll, state: recorded.state, sentRecords: () => recorded.sentRecords() };
	}
}

/** A row whose written values are lost. */
type LostRow = Pick<WrittenRow, "row" | "datasetId" | "documentId" | "order"> & {
	/** the metadata keys that lost their values */
	readonly keys: readonly string[];
};

/**
 * For each of these rows, the last later run that wrote its document. A later run that found a value already lost and
 * kept it so does not explain the loss.
 *
 * @returns names of runs, by row; a row that no later run wrote is not among them
 */
export async function writtenAgain(
	rows: readonly LostRow[],
	laterRuns: () => AsyncIterable<LaterRun>,
): Promise<ReadonlyMap<number, string>> {
	const again = new Map<number, string>();
	const wanted = new Map(rows.map((row) => [documentKey(row), row]));
	for await (const { name, sentRecords, state, replacesAll } of laterRuns()) {
		for await (const record of sentRecords()) {
			if (record.kind !== "sent" || record.documentId === "") continue;
			const lost = wanted.get(documentKey(record));
			// A write that failed changed nothing; whether one that is not settled did is not known.
			if (lost === undefined || !isWritten(state.statusOf(record.row))) continue;
			// The verified run may have been resumed after this write.
			if ((record.order ?? 0) <= lost.order) continue;
			if (!replacesAll && keepsValueOf(record, lost.keys)) continue;
			again.set(lost.row, name);
		}
	}
	return again;
}

/** Whether a write sent one of these keys with the value that the document had. */
function keepsValueOf({ metadata, before }: SentRecord, keys: readonly string[]): boolean {
	if (metadata === undefined || before === undefined) return false;
	return keys.some((key) => {
		const value = metadata.get(key);
		return value === undefined ? !before.has(key) : sameValue(value, before.get(key));
	});
}

function documentKey({ datasetId, documentId }: WhichDocument): string {
	return `${datasetId}\0${documentId}`;
}
