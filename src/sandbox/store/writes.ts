import { Refusal } from "../refusal.ts";
import type { Database } from "./database.ts";

/** The methods of the writes that a request may use. */
export type Writes = Pick<Commits, "write" | "flush" | "dryRun">;

type PendingWrite = { readonly resolve: () => void; readonly reject: (error: unknown) => void };

/**
 * Collects the writes of one turn of the event loop into one transaction. Each write waits for its commit, so an
 * answered write outlives the process, at a fraction of the cost of a commit for each.
 */
export class Commits {
	readonly #database: Database;
	#pending: PendingWrite[] = [];
	#open = false;

	constructor(database: Database) {
		this.#database = database;
	}

	/**
	 * Runs `work` now and resolves with its value when it is committed.
	 *
	 * `work` must throw a `Refusal` before it writes. Any other error rolls the whole transaction back, and every write
	 * in it is rejected.
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
		await new Promise<void>((resolve, reject) => this.#pending.push({ resolve, reject }));
		return value;
	}

	/** Runs `work`, rolls back all that it wrote, and returns its value. */
	dryRun<Value>(work: () => Value): Value {
		this.flush();
		this.#database.exec("BEGIN IMMEDIATE");
		try {
			return work();
		} finally {
			this.#database.exec("ROLLBACK");
		}
	}

	/** Commits the open transaction. Reads call it first, so that no answer shows what could still be lost. */
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

	#take(): readonly PendingWrite[] {
		const pending = this.#pending;
		this.#pending = [];
		this.#open = false;
		return pending;
	}
}

/** One change that a write made. `before` is the metadata that an update replaced. */
export type Change =
	| {
			readonly action: "update";
			readonly dataset: string;
			readonly document: string;
			readonly before: string;
			readonly metadata: string;
	  }
	| {
			readonly action: "upload" | "remove";
			readonly dataset: string;
			readonly document: string;
			readonly name?: string;
	  }
	| { readonly action: "create"; readonly dataset: string; readonly name: string };

/** Sees each change of a write, and may have other metadata stored than the request sent. */
export type ChangeObserver = {
	readonly onChange: (change: Change) => void;
	readonly alterMetadata: (metadata: string) => string;
};

/**
 * Reports the store's changes to the observer of the write that makes them.
 *
 * Routes of all flavours write through the same few statements, so one place sees every change of every flavour.
 * Without an observer it costs nothing.
 */
export class Changes {
	#observer: ChangeObserver | undefined;

	get observed(): boolean {
		return this.#observer !== undefined;
	}

	/** Runs `work`, which is synchronous: so the observer sees changes of this work alone. */
	observe<Value>(observer: ChangeObserver, work: () => Value): Value {
		const outer = this.#observer;
		this.#observer = observer;
		try {
			return work();
		} finally {
			this.#observer = outer;
		}
	}

	report(change: Change): void {
		this.#observer?.onChange(change);
	}

	alterMetadata(metadata: string): string {
		return this.#observer?.alterMetadata(metadata) ?? metadata;
	}
}
