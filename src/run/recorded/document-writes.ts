import type { Normalise } from "../../rest/flavours.ts";
import { JournalUnreadable, journalLost, newerFormat } from "../journal/errors.ts";
import { readChunks } from "../journal/files.ts";
import { type PerFile, pathsOf } from "../journal/reader.ts";
import type { OutcomeRecord, ReopenRecord, SentRecord, StoredRecord } from "../journal/records.ts";
import { readMatchingLines } from "../journal/reader.ts";
import { type Chunks, goodRecords } from "../journal/scan.ts";
import type { RowStatus } from "../types.ts";
import { type WrittenRow, writtenRowOf } from "./recorded-rows.ts";

/**
 * What a run sent to the documents of one id: a row for each dataset that has such a document. Lines that don't hold the
 * id are not decoded, so that a run of a million rows is looked through as fast as it can be read.
 *
 * @param folder the run's
 * @param keeps what the service keeps of what it is sent
 * @throws JournalUnreadable where a file is damaged, or of a newer format
 * @throws JournalLost where the storage can't read it
 */
export async function writesTo(folder: string, documentId: string, keeps: Normalise): Promise<WrittenRow[]> {
	const paths = pathsOf(folder);
	try {
		await checkFormat(paths);
		const named = await recordsNaming(paths, documentId);
		const rows = new Set(named.keys());
		if (rows.size === 0) return [];
		// That a file was about to be uploaded is written down before its document has an id.
		const isUpload = [...named.values()].flat().some(({ kind }) => kind === "stored");
		const records = isUpload ? await recordsOf(paths, rows) : named;
		const ends = await endsOf(paths, rows);
		const state = {
			statusOf: (row: number): RowStatus | undefined => ends.get(row)?.status,
			isUntouched: (row: number): boolean => {
				const end = ends.get(row);
				return end?.status === "failed" && end.isUntouched === true;
			},
		};
		const written = [...records.values()].flatMap((each) => [...writtenRowOf(each, state, keeps)]);
		return written.filter((each) => each.documentId === documentId);
	} catch (error) {
		throw error instanceof JournalUnreadable ? error : journalLost(error, folder, "read");
	}
}

/** Refuses what a newer version wrote: the id would not be found, and nobody would know why. */
async function checkFormat({ journal }: PerFile<string>): Promise<void> {
	for await (const record of goodRecords((await readChunks(journal)) ?? [])) {
		if (record.kind === "newer") throw newerFormat(record.version, journal);
		return;
	}
}

type RecordsByRow = ReadonlyMap<number, readonly (SentRecord | StoredRecord)[]>;

/** The records that name the document. */
async function recordsNaming({ sent }: PerFile<string>, documentId: string): Promise<RecordsByRow> {
	const chunks = await readChunks(sent);
	if (chunks === undefined) throw new JournalUnreadable(`${sent} is missing`, "corrupt");
	// The journal's own writer made the text of the id, so the same writer finds it, escapes and all.
	const isWanted = holding(`"id":${JSON.stringify(documentId)}`);
	return gathered(chunks, sent, isWanted, (record) => record.documentId === documentId);
}

/** All records of those rows. */
async function recordsOf({ sent }: PerFile<string>, rows: ReadonlySet<number>): Promise<RecordsByRow> {
	return gathered((await readChunks(sent)) ?? [], sent, ofRows(rows), ({ row }) => rows.has(row));
}

async function gathered(
	chunks: Chunks,
	file: string,
	isWanted: (bytes: Uint8Array) => boolean,
	isTheirs: (record: SentRecord | StoredRecord) => boolean,
): Promise<RecordsByRow> {
	const records = new Map<number, (SentRecord | StoredRecord)[]>();
	await readMatchingLines(chunks, file, isWanted, (record) => {
		if ((record.kind !== "sent" && record.kind !== "stored") || !isTheirs(record)) return;
		const known = records.get(record.row) ?? [];
		known.push(record);
		records.set(record.row, known);
	});
	return records;
}

/** How those rows ended. A failed row that was opened again has no end until the next one. */
async function endsOf(
	{ journal }: PerFile<string>,
	rows: ReadonlySet<number>,
): Promise<ReadonlyMap<number, OutcomeRecord>> {
	const ends = new Map<number, OutcomeRecord>();
	const isOutcome = holding('"k":"r"');
	const isTheirs = ofRows(rows);
	const isWanted = (bytes: Uint8Array): boolean => !isOutcome(bytes) || isTheirs(bytes);
	await readMatchingLines((await readChunks(journal)) ?? [], journal, isWanted, (record) => {
		if (record.kind === "outcome" && rows.has(record.row)) ends.set(record.row, record);
		if (record.kind === "reopen") reopen(ends, record);
	});
	return ends;
}

function reopen(ends: Map<number, OutcomeRecord>, { codes }: ReopenRecord): void {
	for (const [row, end] of ends) {
		if (end.status === "failed" && (codes === undefined || codes.includes(end.error.code))) ends.delete(row);
	}
}

/** Lines of those rows, and some others: a member of what was sent may look like a row's number. */
function ofRows(rows: ReadonlySet<number>): (bytes: Uint8Array) => boolean {
	const tests = [...rows].flatMap((row) => [holding(`"i":${row},`), holding(`"i":${row}}`)]);
	return (bytes) => tests.some((test) => test(bytes));
}

/** Lines that hold a text. */
function holding(text: string): (bytes: Uint8Array) => boolean {
	const wanted = Buffer.from(text);
	return (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(wanted);
}
