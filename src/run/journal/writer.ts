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

/**
 * Appends records, and counts each of them once it is durable.
 *
 * One write serves all records of one turn of the event loop, and one sync all that were written before it began. After the
 * first error nothing more is written: a second sync can succeed without having stored the bytes of the first.
 */
export class JournalWriter {
	/** what the durable records say */
	readonly state: JournalState;
	readonly #file: JournalFile;
	readonly #name: string;
	#size: number;
	/** takes the records of this turn */
	#open: Group | undefined;
	/** written, and not synced */
	#written: Group[] = [];
	#writing: Promise<void> | undefined;
	#syncing: Promise<void> | undefined;
	#lost: JournalLost | undefined;
	#closed = false;

	/**
	 * @param name the file's path, for messages
	 * @param size its length in bytes, all of them good records
	 * @param state what these records say
	 */
	constructor(file: JournalFile, name: string, size: number, state: JournalState) {
		this.#file = file;
		this.#name = name;
		this.#size = size;
		this.state = state;
	}

	/** The reason why nothing more can be written; undefined while the file works. */
	get lost(): JournalLost | undefined {
		return this.#lost;
	}

	/** Bytes of the file. */
	get size(): number {
		return this.#size;
	}

	/**
	 * Resolves once the record is durable and counted: then it survives a loss of power.
	 *
	 * @throws JournalLost where that is not certain, for this and every later record; RangeError for a record that is too
	 * long, which alone is refused; Error for one that breaks a rule
	 */
	async append(record: JournalRecord): Promise<void> {
		if (this.#closed) throw new Error(`a record was appended after ${this.#name} was closed`);
		if (this.#lost !== undefined) throw this.#lost;
		const line = encode(record);
		this.#open ??= new Group();
		const { lines, durable } = this.#open;
		lines.push(line);
		this.#writing ??= this.#write();
		await durable;
		const broken = this.state.apply(record);
		if (broken !== undefined) throw new Error(`the journal refuses a record: ${broken}`);
	}

	/** Closes the file once all waiting records are durable or lost. It does not throw the errors that `append` has thrown. */
	async close(): Promise<void> {
		if (this.#closed) return;
		this.#closed = true;
		await this.#writing;
		await this.#syncing;
		await this.#file.close();
	}

	/** Writes group after group until no record waits. Never rejects. */
	async #write(): Promise<void> {
		// All answers that came in one turn of the event loop go into one group.
		await new Promise((resolve) => setImmediate(resolve));
		for (let group = this.#take(); group !== undefined; group = this.#take()) {
			try {
				await this.#store(group.lines.join(""));
			} catch (error) {
				this.#fail(error, group);
				break;
			}
			this.#written.push(group);
			this.#syncing ??= this.#sync();
		}
		this.#writing = undefined;
	}

	#take(): Group | undefined {
		const group = this.#open;
		this.#open = undefined;
		return group;
	}

	/** Makes durable what was written, until nothing is left. Never rejects. */
	async #sync(): Promise<void> {
		while (this.#written.length > 0) {
			const groups = this.#written;
			this.#written = [];
			try {
				await this.#file.sync();
			} catch (error) {
				this.#fail(error, ...groups);
				break;
			}
			// An error of a write that came meanwhile says nothing about these bytes.
			for (const group of groups) group.settle();
		}
		this.#syncing = undefined;
	}

	#fail(error: unknown, ...groups: readonly Group[]): void {
		const lost = (this.#lost ??= journalLost(error, this.#name));
		const open = this.#take();
		for (const group of [...groups, ...this.#written, ...(open === undefined ? [] : [open])]) group.settle(lost);
		this.#written = [];
	}

	async #store(text: string): Promise<void> {
		await this.#checkUnchanged();
		let bytes: Uint8Array = Buffer.from(text);
		while (bytes.length > 0) {
			const written = await this.#file.write(bytes);
			if (written <= 0) throw new JournalLost(`${this.#name} takes no more bytes`);
			this.#size += written;
			bytes = bytes.subarray(written);
		}
	}

	/** Checks, in addition to the lock, that the file is as this writer left it: at its place, and without another writer. */
	async #checkUnchanged(): Promise<void> {
		const { size, nlink } = await this.#file.size();
		if (size === this.#size && nlink === 1) return;
		const meddled = nlink === 0 ? "moved or removed" : "writes to";
		throw new JournalLost(`another program ${meddled} ${this.#name}`, "Undo what that program did there");
	}
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
