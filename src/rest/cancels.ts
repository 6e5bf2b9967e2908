/** Something that a signal can end. */
export type Cancellable = { cancel(reason: unknown): void };

/**
 * Which attempts end with which signal. One listener a signal, not one a request: a listener for each would cost a
 * fifth of the speed.
 */
export class Cancels {
	readonly #watched = new WeakMap<AbortSignal, Set<Cancellable>>();

	add(signal: AbortSignal, attempt: Cancellable): void {
		let attempts = this.#watched.get(signal);
		if (attempts === undefined) {
			attempts = new Set();
			this.#watched.set(signal, attempts);
			signal.addEventListener("abort", () => this.#cancel(signal), { once: true });
		}
		attempts.add(attempt);
	}

	delete(signal: AbortSignal, attempt: Cancellable): void {
		this.#watched.get(signal)?.delete(attempt);
	}

	#cancel(signal: AbortSignal): void {
		for (const attempt of this.#watched.get(signal) ?? []) attempt.cancel(signal.reason);
	}
}
