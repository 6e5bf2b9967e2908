import { join } from "node:path";
import type { Metadata } from "../../json/values.ts";
import type { Normalise } from "../../rest/flavours.ts";
import { namesIn, recordOf } from "../journal/record-line.ts";
import { readChunks } from "../journal/files.ts";
import { goodEntries } from "../journal/lines.ts";
import { JOURNAL_FILE, type RecordedRun } from "../journal/reader.ts";
import { allRowsOf, type SentRecord, type StoredRecord } from "../journal/records.ts";
import { isWritten } from "../../outcomes.ts";
import type { AppliedWrite } from "../../plan/undo.ts";
import { RowNumbers } from "../journal/row-states.ts";
import { hasAlready } from "../service/arrival.ts";

/** The writes of a run for one row, over all attempts and executions. The last of them says what was sent. */
export type WrittenRow = AppliedWrite & {
	/** position in the manifest, from 0 */
	readonly row: number;
	/** `rename`: the names before and after it */
	readonly names?: { readonly from: string; readonly to: string } | undefined;
	/** when it was sent last, in epoch milliseconds */
	readonly time: number;
	/** number of the execution that sent it last */
	readonly order: number;
};

/**
 * The rows that a run sent, in the order of their last records. Nearly every row has one record, which is not held. The
 * records of a row that was sent several times are held until the last of them.
 *
 * @param normalise gives what the service stores of metadata that is sent
 */
export async function* writtenRows(
	run: RecordedRun,
	normalise: Normalise = (metadata) => metadata,
): AsyncGenerator<WrittenRow> {
	for await (const records of recordsByRow(() => run.sentRecords())) yield* writtenRowOf(records, run.state, normalise);
}

/**
 * The records of each row, together, when the last of them was read.
 *
 * @param read the records from the first one; it is called twice
 */
export async function* recordsByRow<Record extends { readonly row: number }>(
	read: () => AsyncIterable<Record>,
): AsyncGenerator<readonly Record[]> {
	const counts = new RowNumbers();
	for await (const { row } of read()) counts.set(row, counts.get(row) + 1);
	const held = new Map<number, Record[]>();
	for await (const record of read()) {
		const { row } = record;
		const records = held.get(row);
		const isLast = counts.get(row) === (records?.length ?? 0) + 1;
		if (isLast) {
			held.delete(row);
			yield [...(records ?? []), record];
		} else if (records === undefined) held.set(row, [record]);
		else records.push(record);
	}
}

/** The writes of a run to the documents with one id: a row for each dataset that has such a document. */
export async function writesTo(run: RecordedRun, documentId: string, normalise: Normalise): Promise<WrittenRow[]> {
	const records = new Map<number, (SentRecord | StoredRecord)[]>();
	for await (const entry of run.entries()) {
		const kind = entry.facts?.kind;
		if (kind !== "sent" && kind !== "stored") continue;
		if (namesIn(entry).documentId === documentId) records.set(entry.row, []);
	}
	if (records.size === 0) return [];
	// The record that an upload is sent has no id, as its document has none yet. So all records of these rows are taken.
	for await (const record of run.sentRecords()) records.get(record.row)?.push(record);
	const written = [...records.values()].flatMap((each) => [...writtenRowOf(each, run.state, normalise)]);
	return written.filter((each) => each.documentId === documentId);
}

/**
 * The number of rows that were or may have been written although no record has their metadata. It is 0 unless a repair
 * lost records.
 *
 * @param recorded a number other than 0 for each row that `writtenRows` has given
 */
export function countUnrecordedRows(
	{ state, header }: Pick<RecordedRun, "state" | "header">,
	recorded: RowNumbers,
): number {
	const { lost } = state;
	if (lost === 0) return 0;
	const allRows = allRowsOf(header.manifest);
	let written = 0;
	let pending = 0;
	for (let row = 0; row < allRows; row++) {
		if (recorded.get(row) !== 0) continue;
		const status = state.statusOf(row);
		if (isWritten(status)) written += 1;
		else if (status === undefined) pending += 1;
	}
	// The other lost records may have been of rows whose outcome was lost too.
	return written + Math.min(pending, Math.max(0, lost - written));
}

/**
 * The write that a row's records describe. The generator yields nothing if no record has the sent metadata.
 *
 * @param records all records of the writes of the row
 */
function* writtenRowOf(
	records: readonly (SentRecord | StoredRecord)[],
	state: Pick<RecordedRun["state"], "statusOf" | "isUntouched">,
	normalise: Normalise,
): Generator<WrittenRow> {
	const sent = records.filter((record) => record.kind === "sent");
	const stored = records.findLast((record) => record.kind === "stored");
	const last = sent.at(-1);
	// A repair may have kept the record that a file was stored, and lost the record that it was sent.
	if (last === undefined || state.isUntouched(last.row)) return;
	const { row, line, datasetId, write, metadata = new Map(), time, order = 0 } = last;
	const replacing = stored && sent.find((each) => each.write === "upload" && each.documentId !== "");
	if (replacing !== undefined && stored !== undefined && write === "remove") {
		const facts = { row, line, datasetId, documentId: stored.documentId, write: "upload", before: undefined } as const;
		const { metadata: written = new Map() } = replacing;
		const status = state.statusOf(row);
		yield { ...facts, replaced: last.documentId, metadata: written, time, order, status };
		return;
	}
	const documentId = write === "upload" ? (stored?.documentId ?? "") : last.documentId;
	const before = beforeImageOf(sent, normalise);
	const { fileName, oldName } = sent[0] ?? last;
	const names = oldName === undefined || fileName === undefined ? undefined : { from: oldName, to: fileName };
	const status = state.statusOf(row);
	yield { row, line, datasetId, documentId, write, names, metadata, before, time, order, status };
}

/**
 * The document's metadata before these writes of a row. Each write has a before-image, which may be what an earlier
 * write of this run wrote, or nothing, where the service refused that write and removed what the document had. So the last
 * other before-image counts.
 */
function beforeImageOf(
	sent: readonly Pick<SentRecord, "metadata" | "before">[],
	normalise: Normalise,
): Metadata | undefined {
	for (let at = sent.length - 1; at > 0; at--) {
		const [earlier, before] = [sent[at - 1]?.metadata, sent[at]?.before];
		// If any before-image is missing, the result is unknown: another client may have written between the writes.
		if (before === undefined || earlier === undefined) return undefined;
		if (before.size > 0 && !hasAlready(before, earlier, normalise)) return before;
	}
	return sent[0]?.before;
}

type FailedOutcome = { readonly code: string; readonly text: string; readonly attempts: number };

/**
 * The errors of failed rows, by row, for the rows from `from` up to but not including `to`.
 *
 * @param folder of a run whose journal was read, or written, as a whole
 */
export async function failedOutcomes(folder: string, from: number, to: number): Promise<Map<number, FailedOutcome>> {
	const failures = new Map<number, FailedOutcome>();
	for await (const entry of goodEntries(readChunks(join(folder, JOURNAL_FILE)))) {
		const { row } = entry;
		if (row < from || row >= to || entry.facts?.kind !== "outcome") continue;
		const record = recordOf(entry);
		if (record?.kind !== "outcome") continue;
		if (record.status === "failed") failures.set(row, { ...record.error, attempts: record.attempts });
		// The row had failed, was reopened, and then succeeded.
		else failures.delete(row);
	}
	return failures;
}
