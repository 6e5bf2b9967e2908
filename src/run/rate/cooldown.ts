import { RestError } from "../../rest/errors.ts";
import type { Clock, Limiter } from "../types.ts";
import type { Reporter } from "./reporter.ts";

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

/** Sends one request when its time has come, and resolves or rejects as the request does. */
export type Send = <Answer>(request: () => Promise<Answer>, signal?: AbortSignal) => Promise<Answer>;

/** The send function of commands that run no rows: each request waits until the cooldown is over and takes a token. */
export function paced(limiter: Limiter, cooldown: Cooldown, reporter?: Reporter): Send {
	return async (request, signal) => {
		do {
			await cooldown.over(signal);
			await limiter.take(signal);
			// A cooldown that began while this request waited for its token applies to it too. It then takes another token.
		} while (cooldown.left > 0);
		const sent = reporter?.sent() ?? 0;
		try {
			const answer = await request();
			reporter?.answered(sent);
			return answer;
		} catch (error) {
			reporter?.failed(sent, error);
			if (!(error instanceof RestError)) throw error;
			// At once, whether or not this request is retried: the other requests must wait too.
			const { retryAfter = 0 } = error;
			if (retryAfter <= MAX_WAIT) cooldown.extend(retryAfter);
			throw error;
		}
	};
}
