import type { AnyAttempt } from "./attempt.ts";

/** What is needed of an attempt to end it from outside. */
export type Endable = Pick<AnyAttempt, "signal" | "deadline" | "position" | "expire" | "cancel">;

/**
 * The attempts in flight. It expires those whose deadline has passed, and cancels those of a signal that aborts.
 *
 * One timer for all, because `AbortSignal.timeout` for each request takes a third of the speed. Each tick checks all
 * attempts in flight, which are a few dozen. So an attempt ends at most a twentieth of its time late. Likewise one listener
 * for each signal: one for each request would cost a fifth of the speed. An array whose last attempt takes the place of one
 * that ends, because a `Set` that changes with each request costs more than all the rest of this.
 */
export class InFlight {
	readonly #attempts: Endable[] = [];
	/** milliseconds */
	readonly #interval: number;
	readonly #signals = new WeakSet<AbortSignal>();
	#timer: NodeJS.Timeout | undefined;

	/** @param timeout of one attempt, in milliseconds */
	constructor(timeout: number) {
		this.#interval = Math.min(500, Math.max(5, timeout / 20));
	}

	add(attempt: Endable): void {
		attempt.position = this.#attempts.push(attempt) - 1;
		// Without unref, the last tick would delay the end of the program.
		this.#timer ??= setInterval(() => this.#check(), this.#interval).unref();
		if (attempt.signal !== undefined) this.#listen(attempt.signal);
	}

	/** Takes out an attempt that was added, once. */
	delete(attempt: Endable): void {
		const last = this.#attempts.pop();
		if (last === undefined || last === attempt) return;
		this.#attempts[attempt.position] = last;
		last.position = attempt.position;
	}

	close(): void {
		clearInterval(this.#timer);
		this.#timer = undefined;
	}

	#listen(signal: AbortSignal): void {
		if (this.#signals.has(signal)) return;
		this.#signals.add(signal);
		const cancel = (): void => {
			// A copy, because an attempt that ends is taken out.
			for (const attempt of this.#attempts.slice()) if (attempt.signal === signal) attempt.cancel(signal.reason);
		};
		signal.addEventListener("abort", cancel, { once: true });
	}

	#check(): void {
		if (this.#attempts.length === 0) return this.close();
		const now = performance.now();
		for (const attempt of this.#attempts.slice()) if (attempt.deadline <= now) attempt.expire();
	}
}
