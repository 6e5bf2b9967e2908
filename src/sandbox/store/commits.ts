import { Refusal } from "../envelope.ts";
import type { Database } from "./database.ts";

type Waiting = { readonly resolve: () => void; readonly reject: (error: unknown) => void };

/** What a request may do with the store's writes; `rehearse` is for those that must not count. */
export type Writes = Pick<Commits, "write" | "flush" | "rehearse">;

/**
 * Gathers the writes of one turn of the event loop into one transaction, and lets each wait for its commit: so an
 * answered write outlives the process, at a fraction of the cost of a commit each.
 */
export class Commits {
	readonly #database: Database;
	#waiting: Waiting[] = [];
	#open = false;

	constructor(database: Database) {
		this.#database = database;
	}

	/**
	 * Runs `work` now and resolves with its value once it is committed. What `work` refuses must be refused before it
	 * writes; any other failure takes the whole transaction back, and every write in it is rejected.
	 */
	async write<Value>(work: () => Value): Promise<Value> {
		if (!this.#open) {
			this.#database.exec("BEGIN IMMEDIATE");
			this.#open = true;
			setImmediate(() => this.flush());
		}
		let value: Value;
		try {
			value = work();
		} catch (error) {
			if (!(error instanceof Refusal)) this.#rollback(error);
			throw error;
		}
		await new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }));
		return value;
	}

	/** Runs `work` and takes back all that it wrote: its value is what the write would have given. */
	rehearse<Value>(work: () => Value): Value {
		this.flush();
		this.#database.exec("BEGIN IMMEDIATE");
		try {
			return work();
		} finally {
			this.#database.exec("ROLLBACK");
		}
	}

	/** Commits what is open. Reads call it first, so that no answer shows what could still be lost. */
	flush(): void {
		if (!this.#open) return;
		try {
			this.#database.exec("COMMIT");
		} catch (error) {
			this.#rollback(error);
			return;
		}
		for (const { resolve } of this.#take()) resolve();
	}

	#rollback(error: unknown): void {
		try {
			this.#database.exec("ROLLBACK");
		} catch {
			// SQLite has rolled back by itself, as it does when the disk is full.
		}
		for (const { reject } of this.#take()) reject(error);
	}

	#take(): readonly Waiting[] {
		const waiting = this.#waiting;
		this.#waiting = [];
		this.#open = false;
		return waiting;
	}
}
