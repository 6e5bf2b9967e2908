import { encode } from "./encode.ts";
import { JournalLost, journalLost } from "./errors.ts";
import type { JournalRecord } from "./records.ts";

/** The open file of a writer. It is passed in, so that a test can simulate a disk that loses power. */
export type JournalFile = {
	/** appends bytes, and resolves with how many were written, which may be fewer than given */
	write(bytes: Uint8Array): Promise<number>;
	/** resolves once all written bytes are on the storage (fdatasync) */
	sync(): Promise<void>;
	/** size in bytes, and number of links: 0 where the file was removed */
	size(): Promise<{ readonly size: number; readonly nlink: number }>;
	close(): Promise<void>;
};

type WaitingRecord = {
	readonly bytes: Uint8Array;
	readonly resolve: () => void;
	readonly reject: (error: unknown) => void;
};

/**
 * Appends records, and resolves for each record once it is durable.
 *
 * One write and one sync serve all records that arrived during the last sync, so the speed of the storage sets the size of
 * a batch. After the first error nothing more is written: a second sync can succeed without having stored the bytes of
 * the first.
 */
export class JournalWriter {
	readonly #file: JournalFile;
	readonly #name: string;
	#size: number;
	#waiting: WaitingRecord[] = [];
	#running: Promise<void> | undefined;
	#lost: JournalLost | undefined;
	#closed = false;

	/**
	 * @param name the file's path, for messages
	 * @param size its length in bytes, all of them good records
	 */
	constructor(file: JournalFile, name: string, size: number) {
		this.#file = file;
		this.#name = name;
		this.#size = size;
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
	 * Resolves once the record is durable.
	 *
	 * @throws JournalLost where that is not certain, for this and every later record
	 */
	append(record: JournalRecord): Promise<void> {
		return new Promise<void>((resolve, reject) => {
			if (this.#closed) throw new Error(`a record was appended after ${this.#name} was closed`);
			if (this.#lost !== undefined) throw this.#lost;
			this.#waiting.push({ bytes: Buffer.from(encode(record)), resolve, reject });
			this.#running ??= this.#run();
		});
	}

	/** Closes the file once all waiting records are durable or lost. It does not throw the errors that `append` has thrown. */
	async close(): Promise<void> {
		if (this.#closed) return;
		this.#closed = true;
		await this.#running;
		await this.#file.close();
	}

	/** Stores batch after batch until no record waits. Never rejects. */
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

	async #store(batch: readonly WaitingRecord[]): Promise<void> {
		await this.#checkUnchanged();
		let bytes: Uint8Array = Buffer.concat(batch.map((waiting) => waiting.bytes));
		while (bytes.length > 0) {
			const written = await this.#file.write(bytes);
			if (written <= 0) throw new JournalLost(`${this.#name} takes no more bytes`, "io");
			this.#size += written;
			bytes = bytes.subarray(written);
		}
		await this.#file.sync();
	}

	/** Checks, in addition to the lock, that the file is as this writer left it: not removed, and without another writer. */
	async #checkUnchanged(): Promise<void> {
		const { size, nlink } = await this.#file.size();
		if (size === this.#size && nlink === 1) return;
		throw new JournalLost(`another program writes to or removed ${this.#name}`, "fenced");
	}
}
