import Bottleneck from "bottleneck";
import type { Clock, Limiter } from "../types.ts";
import { SlidingWindow } from "./sliding-window.ts";

/** Jobs a second above which bottleneck's serial timers are late (measured: at most about 425 jobs a second). */
const JOBS_PER_SECOND = 100;

/** Spacing, as a share of what the cap asks for: time lost to late timers can then be made up within the window. */
const SPACING = 0.97;

/** The division of a cap into bottleneck jobs: `jobs` of `batch` permits each in every `window` milliseconds. */
export type Division = { readonly batch: number; readonly jobs: number; readonly window: number };

/** A request that waits for a permit. */
type Taker = { readonly grant: () => void; readonly refuse: (error: Error) => void };

const CLOSED = "the limiter is closed";

/** Divides a cap (requests a second, any positive number) so that `jobs × batch` in `window` is exactly that cap. */
export function divide(rate: number): Division {
	const batch = Math.max(1, Math.ceil(rate / JOBS_PER_SECOND));
	const jobs = Math.max(1, Math.floor(rate / batch));
	return { batch, jobs, window: (jobs * batch * 1000) / rate };
}

/** A limiter whose rate changes while requests wait, and which can be paused. */
export type AdjustableLimiter = Limiter & {
	/** @param rate requests a second; undefined for no cap */
	setRate(rate: number | undefined): void;
	/** No request starts until `resume`. */
	pause(): void;
	resume(): void;
};

/** Milliseconds: a request that waits at the sliding window sees a new rate no later than that. */
const LONGEST_WINDOW_WAIT_MS = 250;

/** Milliseconds, 12 days: a timer that does nothing but keep the process alive. */
const KEEP_ALIVE_MS = 2 ** 30;

/**
 * A limiter that lets no more than `rate` requests start in any sliding second, and about that many in every one.
 *
 * Bottleneck runs with a reservoir whose tokens come back one window after each was used. Its own refresh and increase
 * settings let bursts of 181 through. The sliding window checks the real times of sending, as late timers let bursts
 * pass.
 *
 * @param rate requests a second; undefined for no cap: then no request waits, and bottleneck is not used
 */
export function createLimiter(rate: number | undefined, clock: Clock): AdjustableLimiter {
	return new RateLimiter(rate, clock);
}

class RateLimiter implements AdjustableLimiter {
	readonly #clock: Clock;
	#rate: number | undefined;
	#source: PermitSource | undefined;
	#window: SlidingWindow | undefined;
	readonly #waiting: Taker[] = [];
	#permits = 0;
	#closed = false;
	/** set while it is paused: nothing else keeps the process alive then */
	#paused: NodeJS.Timeout | undefined;
	/** Requests pass the window one after another, so that two can't both take the last free place. */
	#door: Promise<void> = Promise.resolve();

	constructor(rate: number | undefined, clock: Clock) {
		this.#clock = clock;
		this.setRate(rate);
	}

	take(signal?: AbortSignal): Promise<void> | undefined {
		if (this.#rate !== undefined || this.#paused !== undefined) return this.#wait(signal);
		signal?.throwIfAborted();
		return undefined;
	}

	setRate(rate: number | undefined): void {
		this.#rate = rate;
		// Not the division's own window: where that is below a second, two bursts would fit into one second.
		const count = Math.ceil(rate ?? 0);
		this.#window = rate === undefined ? undefined : new SlidingWindow(count, (count * 1000) / rate, this.#window);
		this.#restart();
	}

	pause(): void {
		this.#paused ??= setInterval(() => undefined, KEEP_ALIVE_MS);
		this.#restart();
	}

	resume(): void {
		clearInterval(this.#paused);
		this.#paused = undefined;
		this.#restart();
	}

	close(): void {
		this.#closed = true;
		clearInterval(this.#paused);
		for (const taker of this.#waiting.splice(0)) taker.refuse(new Error(CLOSED));
		this.#source?.stop();
	}

	/** Begins to hand out permits at the present rate. The requests that wait stay in their order. */
	#restart(): void {
		this.#source?.stop();
		this.#source = undefined;
		this.#permits = 0;
		if (this.#closed || this.#paused !== undefined) return;
		if (this.#rate === undefined) {
			for (const taker of this.#waiting.splice(0)) taker.grant();
			return;
		}
		this.#source = new PermitSource(this.#rate, (count) => {
			this.#permits += count;
			this.#handOut();
		});
		this.#source.order(this.#waiting.length);
	}

	async #wait(signal: AbortSignal | undefined): Promise<void> {
		this.#check(signal);
		await this.#permit(signal);
		const mine = this.#door.then(() => this.#pass(signal));
		this.#door = mine.catch(() => undefined);
		await mine;
	}

	async #pass(signal: AbortSignal | undefined): Promise<void> {
		for (;;) {
			// Also before the first delay: the signal may have aborted while this request waited for the others.
			this.#check(signal);
			if (this.#paused !== undefined) {
				// The pause has dropped its permit.
				await this.#permit(signal);
				continue;
			}
			const delay = this.#window?.delay(this.#clock.now()) ?? 0;
			if (delay === 0) break;
			await this.#clock.sleep(Math.min(delay, LONGEST_WINDOW_WAIT_MS), signal);
		}
		this.#window?.sent(this.#clock.now());
	}

	#permit(signal: AbortSignal | undefined): Promise<void> {
		return new Promise((resolve, reject) => {
			const aborted = (): void => {
				const place = this.#waiting.indexOf(taker);
				if (place >= 0) this.#waiting.splice(place, 1);
				reject(signal?.reason);
			};
			const taker: Taker = {
				grant: () => {
					signal?.removeEventListener("abort", aborted);
					resolve();
				},
				refuse: (error) => {
					signal?.removeEventListener("abort", aborted);
					reject(error);
				},
			};
			signal?.addEventListener("abort", aborted, { once: true });
			this.#waiting.push(taker);
			// The rest of an earlier batch is given out first: nothing else would give it out.
			this.#handOut();
			this.#source?.order(this.#waiting.length - this.#permits);
		});
	}

	#handOut(): void {
		while (this.#permits > 0) {
			const next = this.#waiting.shift();
			if (next === undefined) return;
			this.#permits -= 1;
			next.grant();
		}
	}

	#check(signal: AbortSignal | undefined): void {
		signal?.throwIfAborted();
		if (this.#closed) throw new Error(CLOSED);
	}
}

/** The permits of one rate. */
class PermitSource {
	readonly #bottleneck: Bottleneck;
	readonly #batch: number;
	readonly #onPermits: (count: number) => void;
	// A token comes back one window after its use, not at fixed times: that keeps the cap in every sliding second.
	// These timers also keep the process alive: a run that waits for its next token has nothing else that does.
	readonly #returning = new Set<NodeJS.Timeout>();
	#ordered = 0;
	#stopped = false;

	constructor(rate: number, onPermits: (count: number) => void) {
		const { batch, jobs, window } = divide(rate);
		this.#batch = batch;
		this.#onPermits = onPermits;
		const bottleneck = new Bottleneck({ reservoir: jobs, minTime: (SPACING * window) / jobs });
		this.#bottleneck = bottleneck;
		bottleneck.on("executing", () => {
			if (this.#stopped) return;
			const timer = setTimeout(() => {
				this.#returning.delete(timer);
				void bottleneck.incrementReservoir(1);
			}, window);
			this.#returning.add(timer);
		});
	}

	/** Orders permits for so many requests, in all. */
	order(count: number): void {
		// One job for each batch of requests: one for each request would be too many above a few hundred a second.
		while (this.#ordered < count) {
			this.#ordered += this.#batch;
			this.#bottleneck
				.schedule(async () => {
					this.#ordered -= this.#batch;
					if (!this.#stopped) this.#onPermits(this.#batch);
				})
				// Only `stop` makes a job fail, and the waiting requests are another source's or refused by then.
				.catch(() => undefined);
		}
	}

	stop(): void {
		if (this.#stopped) return;
		this.#stopped = true;
		for (const timer of this.#returning) clearTimeout(timer);
		void this.#bottleneck.stop({ dropWaitingJobs: true }).catch(() => undefined);
	}
}
