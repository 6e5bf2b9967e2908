import { join } from "node:path";
import { journalLost } from "./errors.ts";
import { createFile, createFolder, reopenFile, syncFolder } from "./files.ts";
import { JOURNAL_FILE, type RecordedRun } from "./reader.ts";
import type { HeaderRecord } from "./records.ts";
import { JournalState } from "./state.ts";
import { type JournalFile, JournalWriter } from "./writer.ts";

/**
 * Makes the folder of a new run, which must not exist yet. The header is durable when it resolves.
 *
 * @throws JournalLost where the storage fails; nothing was sent then
 */
export async function createRun(folder: string, header: HeaderRecord): Promise<JournalWriter> {
	return await begun(folder, { size: 0, state: new JournalState() }, header, async (path) => {
		const containing = createFolder(folder);
		const file = await createFile(path);
		try {
			// The storage makes several folders durable in the time of one.
			await Promise.all([...containing, folder].map(syncFolder));
		} catch (error) {
			await file.close();
			throw error;
		}
		return file;
	});
}

/**
 * Continues a run that was read: cuts off a torn record at the end of the journal, and appends the header of the new
 * execution.
 *
 * @param header of the same run: `compareHeader` finds no difference
 * @throws JournalLost where the journal can't be written; nothing was sent then
 */
export async function continueRun(run: RecordedRun, header: HeaderRecord): Promise<JournalWriter> {
	const { folder, state, goodLength: size } = run;
	return await begun(folder, { size, state }, header, (path) => reopenFile(path, size));
}

async function begun(
	folder: string,
	{ size, state }: Pick<JournalWriter, "size" | "state">,
	header: HeaderRecord,
	open: (path: string) => Promise<JournalFile>,
): Promise<JournalWriter> {
	const path = join(folder, JOURNAL_FILE);
	try {
		const journal = new JournalWriter(await open(path), path, size, state);
		await journal.append(header).catch(async (error: unknown) => {
			await journal.close();
			throw error;
		});
		return journal;
	} catch (error) {
		throw journalLost(error, folder);
	}
}
