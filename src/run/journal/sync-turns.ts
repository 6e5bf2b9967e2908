import { performance } from "node:perf_hooks";

/**
 * The shortest time from one turn to the next, in milliseconds. A sync costs as much processor time as three to ten rows, so
 * a quick run shares it among fifty rows or more. A longer time would hold up rows: 128 of them may be written and not
 * synced. A run with a cap of a hundred rows a second waits for none.
 */
const TURN_MS = 4;

/** When the files of a run are synced: both in the same turn, as two syncs at once cost a third less than one after the other. */
export class SyncTurns {
	readonly #milliseconds: number;
	#last = Number.NEGATIVE_INFINITY;
	#next: Promise<void> | undefined;
	#begin = (): void => undefined;

	constructor(milliseconds = TURN_MS) {
		this.#milliseconds = milliseconds;
	}

	/** Resolves when the next turn begins, the same for both files. Undefined where it begins now. */
	next(): Promise<void> | undefined {
		if (this.#next !== undefined) return this.#next;
		const wait = this.#last + this.#milliseconds - performance.now();
		if (wait > 0) return (this.#next = new Promise((resolve) => this.#wait(wait, resolve)));
		this.#last = performance.now();
		return undefined;
	}

	/** Begins the turn that is waited for. */
	hurry(): void {
		this.#begin();
	}

	#wait(milliseconds: number, resolve: () => void): void {
		const timer = setTimeout(() => this.#begin(), milliseconds);
		this.#begin = () => {
			clearTimeout(timer);
			this.#begin = () => undefined;
			this.#next = undefined;
			this.#last = performance.now();
			resolve();
		};
	}
}
