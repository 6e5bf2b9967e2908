import Bottleneck from "bottleneck";
import type { Clock, Limiter } from "../types.ts";

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

/**
 * A limiter that lets no more than `rate` requests start in any sliding second, and about that many in every one.
 *
 * Bottleneck runs with a reservoir whose tokens come back one window after each was used. Its own refresh and increase
 * settings let bursts of 181 through. The sliding window checks the real times of sending, as late timers let bursts
 * pass.
 */
export function createLimiter(rate: number, clock: Clock): Limiter {
	const { batch, jobs, window } = divide(rate);
	const bottleneck = new Bottleneck({ reservoir: jobs, minTime: (SPACING * window) / jobs });
	// Not the division's own window: where that is below a second, two bursts would fit into one second.
	const count = Math.ceil(rate);
	const gate = new SlidingWindow(count, (count * 1000) / rate);
	const waiting: Taker[] = [];
	let closed = false;
	let permits = 0;
	let ordered = 0;

	// A token comes back one window after its use, not at fixed times: that keeps the cap in every sliding second.
	// These timers also keep the process alive: a run that waits for its next token has nothing else that does.
	const returning = new Set<NodeJS.Timeout>();
	bottleneck.on("executing", () => {
		if (closed) return;
		const timer = setTimeout(() => {
			returning.delete(timer);
			void bottleneck.incrementReservoir(1);
		}, window);
		returning.add(timer);
	});

	const handOut = (): void => {
		while (permits > 0) {
			const next = waiting.shift();
			if (next === undefined) return;
			permits -= 1;
			next.grant();
		}
	};
	const order = (): void => {
		// One job for each batch of requests: one for each request would be too many above a few hundred a second.
		while (ordered < waiting.length - permits) {
			ordered += batch;
			bottleneck
				.schedule(async () => {
					ordered -= batch;
					permits += batch;
					handOut();
				})
				// Only `close` makes a job fail, and it refuses the waiting requests by itself.
				.catch(() => undefined);
		}
	};
	const permit = (signal: AbortSignal | undefined): Promise<void> =>
		new Promise((resolve, reject) => {
			const aborted = (): void => {
				const place = waiting.indexOf(taker);
				if (place >= 0) waiting.splice(place, 1);
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
			waiting.push(taker);
			// The rest of an earlier batch is given out first: nothing else would give it out.
			handOut();
			order();
		});

	const check = (signal: AbortSignal | undefined): void => {
		signal?.throwIfAborted();
		if (closed) throw new Error(CLOSED);
	};

	// Requests pass the window one after another, so that two can't both take the last free place.
	let door: Promise<void> = Promise.resolve();
	const pass = async (signal: AbortSignal | undefined): Promise<void> => {
		for (;;) {
			// Also before the first delay: the signal may have aborted while this request waited for the others.
			check(signal);
			const delay = gate.delay(clock.now());
			if (delay === 0) break;
			await clock.sleep(delay, signal);
		}
		gate.sent(clock.now());
	};

	return {
		take: async (signal) => {
			check(signal);
			await permit(signal);
			const mine = door.then(() => pass(signal));
			door = mine.catch(() => undefined);
			await mine;
		},
		close: () => {
			if (closed) return;
			closed = true;
			for (const taker of waiting.splice(0)) taker.refuse(new Error(CLOSED));
			for (const timer of returning) clearTimeout(timer);
			void bottleneck.stop({ dropWaitingJobs: true }).catch(() => undefined);
		},
	};
}

/** No cap: no request waits, and bottleneck is not used (with no rate set it runs 420 jobs a second). */
export const unlimited: Limiter = {
	take: (signal) => {
		signal?.throwIfAborted();
		return undefined;
	},
	close: () => undefined,
};

/**
 * The times of the last sends that really happened, and how long the next must wait.
 *
 * A limiter that only spaces by timers lets 102 to 107 requests into a second after the machine has stalled. One that
 * checks the real times of sending does not.
 */
export class SlidingWindow {
	readonly #times: Float64Array;
	readonly #window: number;
	#next = 0;

	/** At most `count` sends in any `window` milliseconds. */
	constructor(count: number, window: number) {
		this.#times = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
		this.#window = window;
	}

	/** Milliseconds until one more send is allowed; 0 where it is allowed now. */
	delay(now: number): number {
		const oldest = this.#times[this.#next] ?? Number.NEGATIVE_INFINITY;
		return Math.max(0, oldest + this.#window - now);
	}

	sent(now: number): void {
		this.#times[this.#next] = now;
		this.#next = (this.#next + 1) % this.#times.length;
	}
}
