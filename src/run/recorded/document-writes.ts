import type { Normalise } from "../../rest/flavours.ts";
import { JournalUnreadable, journalLost, newerFormat } from "../journal/errors.ts";
import { readChunks } from "../journal/files.ts";
import { pathsOf, type PerFile, readMatchingLines } from "../journal/reader.ts";
import type { OutcomeRecord, ReopenRecord, SentRecord, StoredRecord } from "../journal/records.ts";
import { type Chunks, goodRecords } from "../journal/scan.ts";
import type { RowStatus } from "../types.ts";
import { type WrittenRow, writtenRowOf } from "./recorded-rows.ts";

/**
 * The writes of a run to the documents with one id: a row for each dataset that has such a document. Only lines that
 * contain the id are decoded, so a run of a million rows is searched as fast as its files can be read.
 *
 * @param folder the run's
 * @param normalise gives what the service stores of metadata that is sent
 * @throws JournalUnreadable where a file is damaged, or of a newer format
 * @throws JournalLost where the storage can't read it
 */
export async function writesTo(folder: string, documentId: string, normalise: Normalise): Promise<WrittenRow[]> {
	const paths = pathsOf(folder);
	try {
		await checkFormat(paths);
		const named = await recordsWithId(paths, documentId);
		const rows = new Set(named.keys());
		if (rows.size === 0) return [];
		// The record that an upload is sent has no id, as its document has none yet.
		const isUpload = [...named.values()].flat().some(({ kind }) => kind === "stored");
		const records = isUpload ? await recordsOfRows(paths, rows) : named;
		const outcomes = await outcomesOf(paths, rows);
		const state = {
			statusOf: (row: number): RowStatus | undefined => outcomes.get(row)?.status,
			isUntouched: (row: number): boolean => {
				const outcome = outcomes.get(row);
				return outcome?.status === "failed" && outcome.isUntouched === true;
			},
		};
		const written = [...records.values()].flatMap((each) => [...writtenRowOf(each, state, normalise)]);
		return written.filter((each) => each.documentId === documentId);
	} catch (error) {
		throw error instanceof JournalUnreadable ? error : journalLost(error, folder, "read");
	}
}

/** Refuses a file that a newer version wrote: the search would find nothing in it and give no reason. */
async function checkFormat({ journal }: PerFile<string>): Promise<void> {
	for await (const record of goodRecords((await readChunks(journal)) ?? [])) {
		if (record.kind === "newer") throw newerFormat(record.version, journal);
		return;
	}
}

type RecordsByRow = ReadonlyMap<number, readonly (SentRecord | StoredRecord)[]>;

async function recordsWithId({ sent }: PerFile<string>, documentId: string): Promise<RecordsByRow> {
	const chunks = await readChunks(sent);
	if (chunks === undefined) throw new JournalUnreadable(`${sent} is missing`, "corrupt");
	// The journal writes ids with `JSON.stringify`, so the text in the file has the same escapes.
	const isNamed = containing(`"id":${JSON.stringify(documentId)}`);
	return groupByRow(chunks, sent, isNamed, (record) => record.documentId === documentId);
}

async function recordsOfRows({ sent }: PerFile<string>, rows: ReadonlySet<number>): Promise<RecordsByRow> {
	return groupByRow((await readChunks(sent)) ?? [], sent, containingRow(rows), ({ row }) => rows.has(row));
}

async function groupByRow(
	chunks: Chunks,
	file: string,
	isWantedLine: (bytes: Uint8Array) => boolean,
	isWanted: (record: SentRecord | StoredRecord) => boolean,
): Promise<RecordsByRow> {
	const records = new Map<number, (SentRecord | StoredRecord)[]>();
	const isExecution = containing('"k":"x"');
	let order: number | undefined;
	await readMatchingLines(
		chunks,
		file,
		(bytes) => isExecution(bytes) || isWantedLine(bytes),
		(record) => {
			if (record.kind === "execution") ({ order } = record);
			if ((record.kind !== "sent" && record.kind !== "stored") || !isWanted(record)) return;
			const known = records.get(record.row) ?? [];
			known.push(Object.assign(record, { order }));
			records.set(record.row, known);
		},
	);
	return records;
}

/** The last outcome of each of these rows. A failed row that was reopened has none until its next one. */
async function outcomesOf(
	{ journal }: PerFile<string>,
	rows: ReadonlySet<number>,
): Promise<ReadonlyMap<number, OutcomeRecord>> {
	const outcomes = new Map<number, OutcomeRecord>();
	const isOutcome = containing('"k":"r"');
	const isOfRows = containingRow(rows);
	const isWantedLine = (bytes: Uint8Array): boolean => !isOutcome(bytes) || isOfRows(bytes);
	await readMatchingLines((await readChunks(journal)) ?? [], journal, isWantedLine, (record) => {
		if (record.kind === "outcome" && rows.has(record.row)) outcomes.set(record.row, record);
		if (record.kind === "reopen") reopen(outcomes, record);
	});
	return outcomes;
}

function reopen(outcomes: Map<number, OutcomeRecord>, { codes }: ReopenRecord): void {
	for (const [row, outcome] of outcomes) {
		const isReopened = outcome.status === "failed" && (codes === undefined || codes.includes(outcome.error.code));
		if (isReopened) outcomes.delete(row);
	}
}

/** Whether a line is of one of these rows. It is true for some other lines too, as metadata can contain the same text. */
function containingRow(rows: ReadonlySet<number>): (bytes: Uint8Array) => boolean {
	const tests = [...rows].flatMap((row) => [containing(`"i":${row},`), containing(`"i":${row}}`)]);
	return (bytes) => tests.some((test) => test(bytes));
}

function containing(text: string): (bytes: Uint8Array) => boolean {
	const wanted = Buffer.from(text);
	return (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(wanted);
}
