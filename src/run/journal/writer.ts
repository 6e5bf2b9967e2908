import { join } from "node:path";
import { encode } from "./record-line.ts";
import { JournalLost, journalLost } from "./errors.ts";
import { createFile, createFolder, reopenFile, syncFolder } from "./files.ts";
import { JOURNAL_FILE, type RecordedRun } from "./reader.ts";
import type { HeaderRecord, JournalRecord } from "./records.ts";
import { JournalState } from "./state.ts";

/** The open file of a writer. It is passed in, so that a test can simulate a disk that loses power. */
export type JournalFile = {
	/** appends bytes, and gives how many were written, which may be fewer than given */
	write(bytes: Uint8Array): number | Promise<number>;
	/** resolves once all written bytes are on the storage (fdatasync) */
	sync(): Promise<void>;
	/** size in bytes, and number of links: 0 where the file was removed, or is no longer at its path */
	size(): FileState | Promise<FileState>;
	close(): Promise<void>;
};

type FileState = { readonly size: number; readonly nlink: number };

/** Appends records to the journal of a run. */
export type JournalWriter = ReturnType<typeof journalWriter>;

/**
 * Appends records, and counts each of them once it is durable.
 *
 * One write serves all records of one turn of the event loop, and one sync all that were written before it began. After the
 * first error nothing more is written: a second sync can succeed without having stored the bytes of the first.
 *
 * @param name the file's path, for messages
 * @param size its length in bytes, all of them good records
 * @param state what these records say
 */
export function journalWriter(file: JournalFile, name: string, size: number, state: JournalState) {
	/** takes the records of this turn */
	let open: Group | undefined;
	/** written, and not synced */
	let written: Group[] = [];
	let writing: Promise<void> | undefined;
	let syncing: Promise<void> | undefined;
	let lost: JournalLost | undefined;
	let isClosed = false;

	const take = (): Group | undefined => {
		const group = open;
		open = undefined;
		return group;
	};
	const fail = (error: unknown, ...groups: readonly Group[]): void => {
		lost ??= journalLost(error, name);
		for (const group of [...groups, ...written, take()]) group?.settle(lost);
		written = [];
	};
	/** Checks, in addition to the lock, that the file is as this writer left it: at its place, and without another writer. */
	const checkUnchanged = async (): Promise<void> => {
		const now = await file.size();
		if (now.size === size && now.nlink === 1) return;
		const meddled = now.nlink === 0 ? "moved or removed" : "writes to";
		throw new JournalLost(`another program ${meddled} ${name}`, "Undo what that program did there");
	};
	const store = async (text: string): Promise<void> => {
		await checkUnchanged();
		let bytes: Uint8Array = Buffer.from(text);
		while (bytes.length > 0) {
			const taken = await file.write(bytes);
			if (taken <= 0) throw new JournalLost(`${name} takes no more bytes`);
			size += taken;
			bytes = bytes.subarray(taken);
		}
	};
	/** Makes durable what was written, until nothing is left. Never rejects. */
	const sync = async (): Promise<void> => {
		while (written.length > 0) {
			const groups = written;
			written = [];
			try {
				await file.sync();
			} catch (error) {
				fail(error, ...groups);
				break;
			}
			// An error of a write that came meanwhile says nothing about these bytes.
			for (const group of groups) group.settle();
		}
		syncing = undefined;
	};
	/** Writes group after group until no record waits. Never rejects. */
	const write = async (): Promise<void> => {
		// All answers that came in one turn of the event loop go into one group.
		await new Promise((resolve) => setImmediate(resolve));
		for (let group = take(); group !== undefined; group = take()) {
			try {
				await store(group.lines.join(""));
			} catch (error) {
				fail(error, group);
				break;
			}
			written.push(group);
			syncing ??= sync();
		}
		writing = undefined;
	};
	return {
		/** what the durable records say */
		state,
		/** The reason why nothing more can be written; undefined while the file works. */
		get lost(): JournalLost | undefined {
			return lost;
		},
		/** Bytes of the file. */
		get size(): number {
			return size;
		},
		/**
		 * Resolves once the record is durable and counted: then it survives a loss of power.
		 *
		 * @throws JournalLost where that is not certain, for this and every later record; RangeError for a record that is too
		 * long, which alone is refused; Error for one that breaks a rule
		 */
		async append(record: JournalRecord): Promise<void> {
			if (isClosed) throw new Error(`a record was appended after ${name} was closed`);
			if (lost !== undefined) throw lost;
			const line = encode(record);
			open ??= new Group();
			const { lines, durable } = open;
			lines.push(line);
			writing ??= write();
			await durable;
			const broken = state.apply(record);
			if (broken !== undefined) throw new Error(`the journal refuses a record: ${broken}`);
		},
		/** Closes the file once all waiting records are durable or lost. It does not throw the errors that `append` has thrown. */
		async close(): Promise<void> {
			if (isClosed) return;
			isClosed = true;
			await writing;
			await syncing;
			await file.close();
		},
	};
}

/** Records that are written and synced together. */
class Group {
	readonly lines: string[] = [];
	settle: (lost?: JournalLost) => void = () => undefined;
	readonly durable = new Promise<void>((resolve, reject) => {
		this.settle = (lost) => (lost === undefined ? resolve() : reject(lost));
	});
}

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
		const journal = journalWriter(await open(path), path, size, state);
		await journal.append(header).catch(async (error: unknown) => {
			await journal.close();
			throw error;
		});
		return journal;
	} catch (error) {
		throw journalLost(error, folder);
	}
}
