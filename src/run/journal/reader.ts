import { numberText } from "../../text/words.ts";
import { join } from "node:path";
import { journalLost, JournalUnreadable, newerFormat } from "./errors.ts";
import { readChunks } from "./files.ts";
import { plainOutcomes, plainSent } from "./own-form.ts";
import {
	allRowsOf,
	type HeaderRecord,
	type OutcomeRecord,
	type ReadRecord,
	type SentRecord,
	type StoredRecord,
} from "./records.ts";
import { type Chunks, type Damage, LineSplitter, recordOfLine, scan, type ScanOptions } from "./scan.ts";
import { eachSentDocument, type SentDocument } from "./sent-documents.ts";
import { countInDoubt, countWithoutBeforeImage, isInDoubt, SentState, writtenWithoutSentRecord } from "./sent-state.ts";
import { JournalState } from "./state.ts";

/** Headers, outcomes and ends of executions. */
export const JOURNAL_FILE = "journal.jsonl";

/** Writes that are about to be sent. */
export const SENT_FILE = "sent.jsonl";

/** One value for each of the two files of a run. */
export type PerFile<Journal, Sent = Journal> = { readonly journal: Journal; readonly sent: Sent };

export function pathsOf(folder: string): PerFile<string> {
	return { journal: join(folder, JOURNAL_FILE), sent: join(folder, SENT_FILE) };
}

/** A run as its folder has it. */
export type RecordedRun = {
	readonly folder: string;
	readonly header: HeaderRecord;
	readonly state: JournalState;
	readonly sent: SentState;
	/** number of rows that may have been sent and are not settled */
	readonly inDoubt: number;
	/** number of rows that may have been written without a before-image: they can't be undone */
	readonly withoutBeforeImage: number;
	/**
	 * The records of the rows in doubt, in the order in which they were written. Call it before the first of these rows is
	 * settled.
	 *
	 * @param includeFailed gives the records of failed rows too, for a run that reopens them
	 */
	recordsInDoubt(includeFailed?: boolean): AsyncGenerator<SentRecord | StoredRecord>;
	/** All records of `sent.jsonl`, in the order in which they were written. */
	sentRecords(): AsyncGenerator<SentRecord | StoredRecord>;
	/**
	 * Calls back with the document of each write, and the number of the execution that sent it. Nearly all lines are read by
	 * their beginning alone, which takes a tenth of the time: `readRun` has checked them.
	 */
	eachSentDocument(onDocument: (document: SentDocument) => void): Promise<void>;
	/** All outcomes, in the order in which they were recorded. A row that was reopened has several. */
	outcomes(): AsyncGenerator<OutcomeRecord>;
	/** bytes of the good records of each file */
	readonly goodLengths: PerFile<number>;
};

/**
 * Reads the folder of a run and changes nothing in it. A write that was cut off at the end of a file is skipped.
 *
 * @returns undefined where no header is complete: nothing was sent in such a run
 * @throws JournalUnreadable where a file is damaged, or of a newer format
 * @throws JournalLost where the storage can't read it
 */
export async function readRun(folder: string): Promise<RecordedRun | undefined> {
	try {
		return await readFiles(folder, pathsOf(folder));
	} catch (error) {
		throw error instanceof JournalUnreadable ? error : journalLost(error, folder, "read");
	}
}

async function readFiles(folder: string, paths: PerFile<string>): Promise<RecordedRun | undefined> {
	// The outcomes are read first: in a run that is still going on, a row of an outcome was sent before.
	const journal = await readJournal((await readChunks(paths.journal)) ?? [], paths.journal);
	const { state } = journal;
	const { header } = state;
	const chunks = await readChunks(paths.sent);
	const rows = header === undefined ? Number.POSITIVE_INFINITY : allRowsOf(header.manifest);
	// The rows in doubt are those that were in flight, so their records are mostly the last ones of the file.
	const first = { inDoubt: Number.POSITIVE_INFINITY, notWritten: Number.POSITIVE_INFINITY };
	const note = (row: number, offset: number): void => {
		if (first.inDoubt < Number.POSITIVE_INFINITY) return;
		const status = state.statusOf(row);
		if (status === undefined) first.inDoubt = offset;
		if (status === undefined || status === "failed") first.notWritten = Math.min(first.notWritten, offset);
	};
	const { state: sent, goodLength } = await readSent(chunks ?? [], paths.sent, rows, note);
	if (header === undefined) {
		// The header is durable before anything is sent.
		if (sent.count > 0) throw incomplete(`${paths.journal} has lost its header, and rows were sent`);
		return undefined;
	}
	if (chunks === undefined) throw incomplete(`${paths.sent} is missing`);
	checkComplete(state, sent, paths.sent);
	return {
		folder,
		header,
		state,
		sent,
		inDoubt: countInDoubt(state, sent),
		withoutBeforeImage: countWithoutBeforeImage(state, sent),
		recordsInDoubt: async function* (includeFailed = false) {
			// Most runs end with no row in doubt: then a long file need not be read.
			const isDone = countInDoubt(state, sent) === 0 && !(includeFailed && state.totals().failed > 0);
			if (isDone) return;
			const mayHaveFailedAfterSending = (row: number): boolean =>
				includeFailed && state.statusOf(row) === "failed" && !state.isUntouched(row);
			const isWanted = (row: number): boolean => mayHaveFailedAfterSending(row) || isInDoubt(row, state, sent);
			const from = includeFailed ? first.notWritten : first.inDoubt;
			for await (const record of readRecords((await readChunks(paths.sent, from)) ?? [], goodLength - from)) {
				if (isSentRecord(record) && isWanted(record.row)) yield record;
			}
		},
		sentRecords: async function* () {
			let order = header.order ?? 0;
			for await (const record of readRecords((await readChunks(paths.sent)) ?? [], goodLength)) {
				if (record.kind === "execution") ({ order } = record);
				if (isSentRecord(record)) yield Object.assign(record, { order });
			}
		},
		eachSentDocument: async (onDocument) =>
			eachSentDocument((await readChunks(paths.sent)) ?? [], { goodLength, firstOrder: header.order ?? 0 }, onDocument),
		outcomes: async function* () {
			for await (const record of readRecords((await readChunks(paths.journal)) ?? [], journal.goodLength)) {
				if (record.kind === "outcome") yield record;
			}
		},
		goodLengths: { journal: journal.goodLength, sent: goodLength },
	};
}

function checkComplete(outcomes: JournalState, sent: SentState, file: string): void {
	if (sent.lost > 0) return;
	for (const row of writtenWithoutSentRecord(outcomes, sent)) {
		throw incomplete(`${file} has lost records: row ${row} was written, and the file has no record of it`);
	}
}

function incomplete(text: string): JournalUnreadable {
	return new JournalUnreadable(text, "corrupt");
}

/** The state that the good records of a file give, and where they end. After them is a write that was cut off. */
export type StateOfFile<State> = { readonly state: State; readonly goodLength: number };

/**
 * @param file its path, for messages
 * @throws JournalUnreadable where it is damaged in its middle, or of a newer format
 */
export async function readJournal(chunks: Chunks, file: string): Promise<StateOfFile<JournalState>> {
	const state = new JournalState();
	const readPlain = plainOutcomes((outcome) => state.settle(outcome) === undefined);
	const onRecord: OnRecord = (record) => {
		if (record.kind === "newer") throw newerFormat(record.version, file);
		return state.apply(record);
	};
	return { state, goodLength: await applyRecords(chunks, file, onRecord, { readPlain }) };
}

/**
 * @param rows number of rows of the manifest
 * @param note called with each row that was sent, and the offset of its record, in the order of the records
 * @throws JournalUnreadable where it is damaged in its middle
 */
export async function readSent(
	chunks: Chunks,
	file: string,
	rows: number,
	note: (row: number, offset: number) => void = () => undefined,
): Promise<StateOfFile<SentState>> {
	const state = new SentState(rows);
	const readPlain = plainSent(({ row, write, hasBefore }, offset) => {
		if (state.sent(row, write === "update" && !hasBefore) !== undefined) return false;
		note(row, offset);
		return true;
	});
	const onRecord: OnRecord = (record, offset) => {
		const broken = state.apply(record);
		if (broken === undefined && isSentRecord(record)) note(record.row, offset);
		return broken;
	};
	return { state, goodLength: await applyRecords(chunks, file, onRecord, { readPlain }) };
}

type OnRecord = (record: ReadRecord, offset: number) => string | undefined;

async function applyRecords(chunks: Chunks, file: string, onRecord: OnRecord, options: ScanOptions): Promise<number> {
	const { goodLength, end } = await scan(chunks, onRecord, options);
	if (typeof end === "object") throw damaged(end, file);
	return goodLength;
}

/**
 * Decodes the lines that are wanted, and checks only the checksum of the others. Few lines of a file with millions are
 * about one document or row.
 *
 * @throws JournalUnreadable where the file is damaged in its middle, or of a newer format
 */
export async function readMatchingLines(
	chunks: Chunks,
	file: string,
	isWanted: (bytes: Uint8Array) => boolean,
	onRecord: (record: ReadRecord) => void,
): Promise<void> {
	const { end } = await scan(
		chunks,
		(record) => {
			if (record.kind === "newer") throw newerFormat(record.version, file);
			onRecord(record);
			return undefined;
		},
		{ isWanted },
	);
	if (typeof end === "object") throw damaged(end, file);
}

function damaged({ byte, record, rule }: Damage, file: string): JournalUnreadable {
	const place = `byte ${numberText(byte)} (record ${numberText(record)})`;
	const why = rule === undefined ? "" : `: ${rule}`;
	return new JournalUnreadable(`${file} is damaged at ${place}${why}`, "corrupt", { file, byte, record });
}

/** The good records of a file, in the order in which they were written. They are not held. */
async function* readRecords(chunks: Chunks, goodLength: number): AsyncGenerator<ReadRecord> {
	const splitter = new LineSplitter();
	for await (const chunk of chunks) {
		for (const line of splitter.push(chunk)) {
			if (line.next > goodLength) return;
			const record = recordOfLine(line);
			if (record !== undefined) yield record;
		}
	}
}

function isSentRecord(record: ReadRecord): record is SentRecord | StoredRecord {
	return record.kind === "sent" || record.kind === "stored";
}
