import type { Clock } from "../types.ts";

/** The longest Retry-After that is waited for unless `--max-wait` is given, in milliseconds. */
export const MAX_WAIT = 5 * 60_000;

/** The wait that the service asked for. A process has one, and it applies to every request. */
export class Cooldown {
	readonly #clock: Clock;
	/** when the latest cooldown began and ends, on the clock */
	since = Number.NEGATIVE_INFINITY;
	until = Number.NEGATIVE_INFINITY;
	/** called with each wait that the service asked this process for */
	onAsked: ((milliseconds: number) => void) | undefined;

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** No request starts for that many milliseconds from now. A longer present cooldown is not shortened. */
	extend(milliseconds: number): void {
		this.extendAsOthers(milliseconds);
		if (milliseconds > 0) this.onAsked?.(milliseconds);
	}

	/** The same where the service asked another process for it. */
	extendAsOthers(milliseconds: number): void {
		const now = this.#clock.now();
		if (now >= this.until) this.since = now;
		this.until = Math.max(this.until, now + milliseconds);
	}

	get left(): number {
		return Math.max(0, this.until - this.#clock.now());
	}

	async over(signal?: AbortSignal): Promise<void> {
		while (this.left > 0) {
			await this.#clock.sleep(this.left, signal);
			signal?.throwIfAborted();
		}
	}
}
