import { encode } from "./encode.ts";
import { JournalLost, journalLost } from "./errors.ts";
import type { JournalRecord } from "./records.ts";

/** What the writer needs of an open file. It is injected, so that a test can be a disk that loses its power. */
export type JournalFile = {
	/** appends and resolves with the bytes that were taken, which may be fewer than were given */
	write(bytes: Uint8Array): Promise<number>;
	/** resolves when everything written is on the storage (fdatasync) */
	sync(): Promise<void>;
	/** bytes of the file, and the names it has: 0 when it was removed */
	size(): Promise<{ readonly size: number; readonly nlink: number }>;
	close(): Promise<void>;
};

type Waiting = {
	readonly bytes: Uint8Array;
	readonly resolve: () => void;
	readonly reject: (error: unknown) => void;
};

/**
 * Appends records, and tells of each when it is durable.
 *
 * One write and one sync serve all records that came while the last sync ran, so that the storage's pace sets the size
 * of a batch, and no timer. After the first error nothing is written any more: a second sync could succeed without
 * having stored what the first one failed to store.
 */
export class JournalWriter {
	readonly #file: JournalFile;
	readonly #name: string;
	#size: number;
	#waiting: Waiting[] = [];
	#running: Promise<void> | undefined;
	#lost: JournalLost | undefined;
	#closed = false;

	/**
	 * @param name the file's path, for messages
	 * @param size its bytes, all of them good
	 */
	constructor(file: JournalFile, name: string, size: number) {
		this.#file = file;
		this.#name = name;
		this.#size = size;
	}

	/** Why nothing can be written any more. */
	get lost(): JournalLost | undefined {
		return this.#lost;
	}

	/**
	 * Resolves when the record is durable.
	 *
	 * @throws JournalLost, now and for every later record, when it can't be known to be
	 */
	append(record: JournalRecord): Promise<void> {
		return new Promise<void>((resolve, reject) => {
			if (this.#closed) throw new Error(`a record after ${this.#name} was closed`);
			if (this.#lost !== undefined) throw this.#lost;
			this.#waiting.push({ bytes: Buffer.from(encode(record)), resolve, reject });
			this.#running ??= this.#run();
		});
	}

	/** Closes the file when what waits is durable or lost. Never throws for what `append` has told already. */
	async close(): Promise<void> {
		if (this.#closed) return;
		this.#closed = true;
		await this.#running;
		await this.#file.close();
	}

	/** Batch after batch, until nothing waits. Never rejects. */
	async #run(): Promise<void> {
		while (this.#waiting.length > 0) {
			const batch = this.#waiting;
			this.#waiting = [];
			try {
				await this.#store(batch);
				for (const { resolve } of batch) resolve();
			} catch (error) {
				const lost = journalLost(error, this.#name);
				this.#lost = lost;
				for (const { reject } of [...batch, ...this.#waiting]) reject(lost);
				this.#waiting = [];
			}
		}
		this.#running = undefined;
	}

	async #store(batch: readonly Waiting[]): Promise<void> {
		await this.#fence();
		let bytes: Uint8Array = Buffer.concat(batch.map((waiting) => waiting.bytes));
		while (bytes.length > 0) {
			const taken = await this.#file.write(bytes);
			if (taken <= 0) throw new JournalLost(`${this.#name} takes no more bytes`, "io");
			this.#size += taken;
			bytes = bytes.subarray(taken);
		}
		await this.#file.sync();
	}

	/** Whatever the lock says: a file that is not as this writer left it has another writer, or nobody will find it. */
	async #fence(): Promise<void> {
		const { size, nlink } = await this.#file.size();
		if (size === this.#size && nlink === 1) return;
		throw new JournalLost(`another program writes to or removed ${this.#name}`, "fenced");
	}
}
