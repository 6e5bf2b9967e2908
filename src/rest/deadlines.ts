/** Something that must come to its end. */
export type Due = {
	/** on the clock of `performance.now()`, in milliseconds */
	deadline: number;
	expire(): void;
};

/**
 * The absolute cap on attempts, at the cost of one timer for all of them: `AbortSignal.timeout` for each request
 * takes a third of the speed. Every tick looks at all attempts under way, a few dozen, so an attempt ends at most
 * a twentieth of its time late.
 */
export class Deadlines {
	readonly #open = new Set<Due>();
	readonly #tick: number;
	#timer: NodeJS.Timeout | undefined;

	/** @param timeout of one attempt in milliseconds */
	constructor(timeout: number) {
		this.#tick = Math.min(500, Math.max(5, timeout / 20));
	}

	add(due: Due): void {
		this.#open.add(due);
		// Without unref, the last tick would hold up the end of the program.
		this.#timer ??= setInterval(() => this.#sweep(), this.#tick).unref();
	}

	delete(due: Due): void {
		this.#open.delete(due);
	}

	close(): void {
		clearInterval(this.#timer);
		this.#timer = undefined;
	}

	#sweep(): void {
		if (this.#open.size === 0) return this.close();
		const now = performance.now();
		for (const due of this.#open) {
			if (due.deadline <= now) due.expire();
		}
	}
}
