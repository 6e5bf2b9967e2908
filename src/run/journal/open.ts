import { join } from "node:path";
import { sentRecords } from "./doubt.ts";
import { countBlind, countInDoubt, isInDoubt, writtenUnsaid, SentState } from "./sent-state.ts";
import { JournalUnreadable, lossOf } from "./errors.ts";
import { createFile, createFolder, readChunks, reopenFile } from "./files.ts";
import type { HeaderRecord, SentRecord, StoredRecord } from "./records.ts";
import { reduceJournal, reduceSent } from "./reduce.ts";
import { JournalState } from "./state.ts";
import { type JournalFile, JournalWriter } from "./writer.ts";

/** Headers, outcomes and ends of sittings. */
export const JOURNAL_FILE = "journal.jsonl";
/** What is about to be sent. */
export const SENT_FILE = "sent.jsonl";

/** A run as its folder has it. */
export type RecordedRun = {
	readonly folder: string;
	readonly header: HeaderRecord;
	readonly state: JournalState;
	readonly sent: SentState;
	/** rows that may have been sent and are not settled */
	readonly inDoubt: number;
	/** rows that may have been written over something that is not known: they can't be undone */
	readonly blind: number;
	/**
	 * Their records, in the order in which they were written. Ask before the first of them is settled.
	 *
	 * @param failed those of rows that failed as well, for when these are opened again
	 */
	doubts(failed?: boolean): AsyncGenerator<SentRecord | StoredRecord>;
	/** All that was recorded of what was sent, in the order in which it was written. */
	sentRecords(): AsyncGenerator<SentRecord | StoredRecord>;
	/** bytes of the good records of each file */
	readonly lengths: Pair<number>;
};

/** A run that is being written. Its lock must be held. */
export type OpenRun = {
	/** Where outcomes, openings and ends are appended. */
	readonly journal: JournalWriter;
	/** Where a row is appended before it is sent. */
	readonly sent: JournalWriter;
	/** What the journal comes to, this sitting's header included. Apply to it what is appended. */
	readonly state: JournalState;
	/** What may have been sent comes to. Apply to it what is appended to `sent`. */
	readonly sentState: SentState;
	/** Closes both files once all records that wait are durable or lost. */
	close(): Promise<void>;
};

/**
 * Reads the folder of a run and changes nothing in it. A write that was cut off at the end of a file is passed over.
 *
 * @returns undefined where there is no whole header: nothing was sent of such a run
 * @throws JournalUnreadable where it is damaged, or of a newer format
 * @throws JournalLost where the storage can't read it
 */
export async function readRun(folder: string): Promise<RecordedRun | undefined> {
	try {
		return await read(folder, pathsOf(folder));
	} catch (error) {
		throw error instanceof JournalUnreadable ? error : lossOf(error, folder, "read");
	}
}

/**
 * Makes the folder of a new run, which must not be there yet. Its header is durable when it resolves.
 *
 * @throws JournalLost where that can't be done; nothing was sent then
 */
export async function createRun(folder: string, header: HeaderRecord): Promise<OpenRun> {
	const paths = pathsOf(folder);
	const state = new JournalState();
	state.apply(header);
	return await orLost(folder, async () => {
		await createFolder(folder);
		// The file of what is sent first: a journal with a header without it has lost it.
		const sent = await createFile(paths.sent);
		const journal = await createFile(paths.journal).catch((error: unknown) => closeAndThrow(sent, error));
		const states = { journal: state, sent: new SentState(header.manifest.rows) };
		return await begin(paths, { sent, journal }, { sent: 0, journal: 0 }, states, header);
	});
}

/**
 * Goes on with a run that was read: cuts off what is torn, and appends the header of the new sitting.
 *
 * @throws JournalUnreadable when the header says that it is another run
 * @throws JournalLost where the files can't be written; nothing was sent then
 */
export async function continueRun(run: RecordedRun, header: HeaderRecord): Promise<OpenRun> {
	const paths = pathsOf(run.folder);
	const broken = run.state.apply(header);
	if (broken !== undefined) throw new JournalUnreadable(`${paths.journal} is of another run: ${broken}`, "foreign");
	return await orLost(run.folder, async () => {
		const sent = await reopenFile(paths.sent, run.lengths.sent);
		const journal = await reopenFile(paths.journal, run.lengths.journal).catch((error: unknown) =>
			closeAndThrow(sent, error),
		);
		return await begin(paths, { sent, journal }, run.lengths, { journal: run.state, sent: run.sent }, header);
	});
}

/** Something of each of a run's two files. */
export type Pair<Journal, Sent = Journal> = { readonly journal: Journal; readonly sent: Sent };

export function pathsOf(folder: string): Pair<string> {
	return { journal: join(folder, JOURNAL_FILE), sent: join(folder, SENT_FILE) };
}

async function read(folder: string, paths: Pair<string>): Promise<RecordedRun | undefined> {
	// Outcomes first: of a run that is going on, what they speak of was sent before.
	const journal = await reduceJournal((await readChunks(paths.journal)) ?? [], paths.journal);
	const chunks = await readChunks(paths.sent);
	const { header } = journal.state;
	const sent = await reduceSent(chunks ?? [], paths.sent, header?.manifest.rows ?? Number.POSITIVE_INFINITY);
	if (header === undefined) {
		// The header is durable before anything is sent.
		if (sent.state.count > 0) throw incomplete(`${paths.journal} has lost its header, and rows were sent`);
		return undefined;
	}
	if (chunks === undefined) throw incomplete(`${paths.sent} is missing`);
	checkComplete(journal.state, sent.state, paths.sent);
	return {
		folder,
		header,
		state: journal.state,
		sent: sent.state,
		inDoubt: countInDoubt(journal.state, sent.state),
		blind: countBlind(journal.state, sent.state),
		doubts: async function* (failed = false) {
			const isOpen = (row: number): boolean =>
				failed && journal.state.statusOf(row) === "failed" && !journal.state.isUntouched(row);
			// Most runs end well: then there is nothing to read a long file for.
			const isSettled = countInDoubt(journal.state, sent.state) === 0;
			if (isSettled && !(failed && journal.state.totals().failed > 0)) return;
			const again = (await readChunks(paths.sent)) ?? [];
			const isDoubtful = (row: number): boolean => isOpen(row) || isInDoubt(row, journal.state, sent.state);
			yield* sentRecords(again, sent.goodLength, isDoubtful);
		},
		sentRecords: async function* () {
			yield* sentRecords((await readChunks(paths.sent)) ?? [], sent.goodLength, () => true);
		},
		lengths: { journal: journal.goodLength, sent: sent.goodLength },
	};
}

async function begin(
	paths: Pair<string>,
	files: Pair<JournalFile>,
	lengths: Pair<number>,
	states: Pair<JournalState, SentState>,
	header: HeaderRecord,
): Promise<OpenRun> {
	const sent = new JournalWriter(files.sent, paths.sent, lengths.sent);
	const journal = new JournalWriter(files.journal, paths.journal, lengths.journal);
	const close = async (): Promise<void> => {
		await Promise.all([journal.close(), sent.close()]);
	};
	try {
		await journal.append(header);
	} catch (error) {
		await close();
		throw error;
	}
	return { journal, sent, state: states.journal, sentState: states.sent, close };
}

function checkComplete(outcomes: JournalState, sent: SentState, file: string): void {
	if (sent.lost > 0) return;
	for (const row of writtenUnsaid(outcomes, sent)) {
		throw incomplete(`${file} has lost records: row ${row} was written, and it does not say so`);
	}
}

function incomplete(text: string): JournalUnreadable {
	return new JournalUnreadable(text, "corrupt");
}

async function closeAndThrow(file: JournalFile, error: unknown): Promise<never> {
	await file.close();
	throw error;
}

async function orLost<Value>(folder: string, use: () => Promise<Value>): Promise<Value> {
	try {
		return await use();
	} catch (error) {
		throw lossOf(error, folder);
	}
}
