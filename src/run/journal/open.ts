import { JournalUnreadable, journalLost } from "./errors.ts";
import { createFile, createFolder, reopenFile, syncFolder } from "./files.ts";
import { unpack } from "./packed.ts";
import { pathsOf, type PerFile, type RecordedRun } from "./reader.ts";
import { allRowsOf, type HeaderRecord } from "./records.ts";
import { SentState } from "./sent-state.ts";
import { JournalState } from "./state.ts";
import { SyncTurns } from "./sync-turns.ts";
import { type JournalFile, JournalWriter } from "./writer.ts";

/** A run that is being written. The process holds its lock. */
export type OpenRun = {
	/** Outcomes, reopenings and ends are appended here. */
	readonly journal: JournalWriter;
	/** A row is appended here before it is sent. */
	readonly sent: JournalWriter;
	/** The state after all records of `journal`, this execution's header included. Apply to it each record appended there. */
	readonly state: JournalState;
	/** The state after all records of `sent`. Apply to it each record appended there. */
	readonly sentState: SentState;
	/** Closes both files once all records that wait are durable or lost. */
	close(): Promise<void>;
};

/**
 * Makes the folder of a new run, which must not exist yet. The header is durable when it resolves.
 *
 * @throws JournalLost where the storage fails; nothing was sent then
 */
export async function createRun(folder: string, header: HeaderRecord): Promise<OpenRun> {
	const paths = pathsOf(folder);
	const state = new JournalState();
	state.apply(header);
	return await withJournalErrors(folder, async () => {
		const containing = createFolder(folder);
		const sent = await createFile(paths.sent);
		const journal = await createFile(paths.journal).catch((error: unknown) => closeAndThrow(sent, error));
		// Before the header is written: a journal with a header but without `sent.jsonl` counts as damaged. The storage makes
		// several folders durable in the time of one.
		await Promise.all([...containing, folder].map(syncFolder)).catch(async (error: unknown) => {
			await journal.close();
			return await closeAndThrow(sent, error);
		});
		const writers = writersOf({ journal, sent }, paths, { journal: 0, sent: 0 });
		return await startExecution(writers, { journal: state, sent: new SentState(allRowsOf(header.manifest)) }, header);
	});
}

/**
 * Continues a run that was read: cuts off a torn record at the end of a file, and appends the header of the new execution.
 *
 * @throws JournalUnreadable when the header says that it is another run
 * @throws JournalLost where the files can't be written; nothing was sent then
 */
export async function continueRun(run: RecordedRun, header: HeaderRecord): Promise<OpenRun> {
	const paths = pathsOf(run.folder);
	const broken = run.state.apply(header);
	if (broken !== undefined) throw new JournalUnreadable(`${paths.journal} is of another run: ${broken}`, "foreign");
	return await withJournalErrors(run.folder, async () => {
		const lengths = run.goodLengths;
		for (const path of [paths.sent, paths.journal]) await unpack(path);
		const sent = await reopenFile(paths.sent, lengths.sent);
		const journal = await reopenFile(paths.journal, lengths.journal).catch((error: unknown) =>
			closeAndThrow(sent, error),
		);
		const writers = writersOf({ journal, sent }, paths, lengths);
		const opened = await startExecution(writers, { journal: run.state, sent: run.sent }, header);
		// The records of writes that follow are those of this execution.
		if (header.order !== undefined) await opened.sent.append({ kind: "execution", order: header.order });
		return opened;
	});
}

function writersOf(
	files: PerFile<JournalFile>,
	paths: PerFile<string>,
	lengths: PerFile<number>,
): PerFile<JournalWriter> {
	const turns = new SyncTurns();
	return {
		journal: new JournalWriter(files.journal, paths.journal, lengths.journal, turns),
		sent: new JournalWriter(files.sent, paths.sent, lengths.sent, turns),
	};
}

async function startExecution(
	{ journal, sent }: PerFile<JournalWriter>,
	states: PerFile<JournalState, SentState>,
	header: HeaderRecord,
): Promise<OpenRun> {
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

async function closeAndThrow(file: JournalFile, error: unknown): Promise<never> {
	await file.close();
	throw error;
}

async function withJournalErrors<Value>(folder: string, use: () => Promise<Value>): Promise<Value> {
	try {
		return await use();
	} catch (error) {
		throw journalLost(error, folder);
	}
}
