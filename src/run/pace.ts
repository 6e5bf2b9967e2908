import type { Clock, Limiter } from "./types.ts";

/** A wait that the service asked for: it holds for every request of the run, not for one row alone. */
export class Pause {
	readonly #clock: Clock;
	#until = Number.NEGATIVE_INFINITY;

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** No request starts for that many milliseconds from now. A longer pause under way is not shortened. */
	extend(milliseconds: number): void {
		this.#until = Math.max(this.#until, this.#clock.now() + milliseconds);
	}

	get left(): number {
		return Math.max(0, this.#until - this.#clock.now());
	}

	async over(signal?: AbortSignal): Promise<void> {
		while (this.left > 0) {
			await this.#clock.sleep(this.left, signal);
			signal?.throwIfAborted();
		}
	}
}

/** Sends one request when its time has come, and resolves or rejects as the request does. */
export type Send = <Answer>(request: () => Promise<Answer>, signal?: AbortSignal) => Promise<Answer>;

/** Every request of a command that runs no rows passes here: it waits out a pause and takes a token. */
export function paced(limiter: Limiter, pause: Pause): Send {
	return async (request, signal) => {
		do {
			await pause.over(signal);
			await limiter.take(signal);
			// A pause that began while this one waited for its token holds for it too: the token is lost, not the rule.
		} while (pause.left > 0);
		return await request();
	};
}
