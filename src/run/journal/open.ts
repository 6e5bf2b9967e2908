import { join } from "node:path";
import { JournalUnreadable, journalLost } from "./errors.ts";
import { createFile, createFolder, reopenFile, syncFolder } from "./files.ts";
import { unpack } from "./packed.ts";
import { JOURNAL_FILE, type RecordedRun } from "./reader.ts";
import type { HeaderRecord } from "./records.ts";
import { JournalState } from "./state.ts";
import { type JournalFile, JournalWriter } from "./writer.ts";

/** A run that is being written. The process holds its lock. */
export type OpenRun = {
	readonly journal: JournalWriter;
	/** The state after all records, this execution's header included. Apply to it each record appended. */
	readonly state: JournalState;
};

/**
 * Makes the folder of a new run, which must not exist yet. The header is durable when it resolves.
 *
 * @throws JournalLost where the storage fails; nothing was sent then
 */
export async function createRun(folder: string, header: HeaderRecord): Promise<OpenRun> {
	const path = join(folder, JOURNAL_FILE);
	const state = new JournalState();
	state.apply(header);
	return await withJournalErrors(folder, async () => {
		const containing = createFolder(folder);
		const file = await createFile(path);
		try {
			// The storage makes several folders durable in the time of one.
			await Promise.all([...containing, folder].map(syncFolder));
		} catch (error) {
			await file.close();
			throw error;
		}
		return await startExecution(file, { path, size: 0, state }, header);
	});
}

/**
 * Continues a run that was read: cuts off a torn record at the end of the journal, and appends the header of the new
 * execution.
 *
 * @throws JournalUnreadable when the header says that it is another run
 * @throws JournalLost where the journal can't be written; nothing was sent then
 */
export async function continueRun({ folder, state, goodLength }: RecordedRun, header: HeaderRecord): Promise<OpenRun> {
	const path = join(folder, JOURNAL_FILE);
	const broken = state.apply(header);
	if (broken !== undefined) throw new JournalUnreadable(`${path} is of another run: ${broken}`, "foreign");
	return await withJournalErrors(folder, async () => {
		await unpack(path);
		return await startExecution(await reopenFile(path, goodLength), { path, size: goodLength, state }, header);
	});
}

type Begun = { readonly path: string; readonly size: number; readonly state: JournalState };

async function startExecution(file: JournalFile, { path, size, state }: Begun, header: HeaderRecord): Promise<OpenRun> {
	const journal = new JournalWriter(file, path, size);
	try {
		await journal.append(header);
	} catch (error) {
		await journal.close();
		throw error;
	}
	return { journal, state };
}

async function withJournalErrors<Value>(folder: string, use: () => Promise<Value>): Promise<Value> {
	try {
		return await use();
	} catch (error) {
		throw journalLost(error, folder);
	}
}
