import type { Clock, Limiter } from "../types.ts";
import { Permits } from "./permits.ts";
import { SlidingWindow } from "./sliding-window.ts";

/** A limiter whose rate changes while requests wait, and which can be paused. */
export type AdjustableLimiter = Limiter & {
	/** @param rate requests a second; undefined for no cap */
	setRate(rate: number | undefined): void;
	/** No request starts until `resume`. */
	pause(): void;
	resume(): void;
	/** From now on each request also takes a permit of a cap that other processes share. */
	share(cap: PermitQueue): void;
};

/** A cap that other processes share. */
type PermitQueue = {
	/** Waits for a permit for one request. @returns until when it is good, on the clock; a later request takes another one */
	take(signal: AbortSignal | undefined): Promise<number>;
	/** milliseconds that a request waits for its permit even if no other process needs any */
	readonly lead: number;
};

/** Milliseconds: a request that waits sees a new pace, or a pause, no later than that. */
const LONGEST_WAIT_MS = 250;

/**
 * Milliseconds of requests at a pace that may be sent late, or at once after a silence. Timers are no finer than one
 * millisecond, and those of a busy machine are late.
 */
const LATE_MS = 50;

/**
 * The share of a cap above 100 requests a second that is used. On their way requests come closer together: with all of it, up
 * to 1.022 of a cap of 1,000 came within one second of the server's clock. This leaves 5 milliseconds of each second for that.
 * Up to 100 a second that is one request at most.
 */
const USED_SHARE = 0.995;
const FEW_PER_SECOND = 100;

/** A request that waits for its turn. */
type Waiting = {
	readonly go: () => void;
	readonly refuse: (error: unknown) => void;
};

/**
 * A limiter that lets no more than `rate` requests start in any sliding second. Bottleneck spaces them; the sliding window
 * checks the real times of sending, as late timers let bursts pass.
 *
 * @param rate requests a second at most; undefined for no cap
 * @param pace requests a second to space for now, below the cap; undefined for none. Without both, no request waits
 */
export function createLimiter(
	rate: number | undefined,
	clock: Clock,
	pace: () => number | undefined = () => undefined,
): AdjustableLimiter {
	return new RateLimiter(rate, clock, pace);
}

class RateLimiter implements AdjustableLimiter {
	readonly #clock: Clock;
	readonly #pace: () => number | undefined;
	#rate: number | undefined;
	#permits: Permits | undefined;
	#window: SlidingWindow | undefined;
	#shared: PermitQueue | undefined;
	/** first come, first served */
	#waiting: Waiting[] = [];
	#isServing = false;
	#isPaused = false;
	#isClosed = false;
	/** when the latest request was due, which may be a little before it was sent */
	#due = Number.NEGATIVE_INFINITY;
	#timer = new AbortController();

	constructor(rate: number | undefined, clock: Clock, pace: () => number | undefined) {
		this.#clock = clock;
		this.#pace = pace;
		this.setRate(rate);
	}

	take(signal?: AbortSignal): Promise<void> | undefined {
		const isLimited = this.#rate !== undefined || this.#shared !== undefined || this.#pace() !== undefined;
		if (isLimited || this.#isPaused) return this.#take(signal);
		signal?.throwIfAborted();
		return undefined;
	}

	get lead(): number {
		return this.#shared?.lead ?? 0;
	}

	share(cap: PermitQueue): void {
		this.#shared = cap;
	}

	setRate(cap: number | undefined): void {
		this.#rate = cap === undefined ? undefined : cap * (cap > FEW_PER_SECOND ? USED_SHARE : 1);
		const count = Math.ceil(cap ?? 0);
		this.#window =
			this.#rate === undefined ? undefined : new SlidingWindow(count, (count * 1000) / this.#rate, this.#window);
		this.#permits?.close();
		this.#permits = this.#rate === undefined ? undefined : new Permits(this.#rate, () => this.#timer.abort());
		this.#permits?.order(this.#waiting.length);
		this.#timer.abort();
	}

	pause(): void {
		this.#isPaused = true;
	}

	resume(): void {
		this.#isPaused = false;
		this.#timer.abort();
	}

	close(): void {
		this.#isClosed = true;
		for (const { refuse } of this.#waiting.splice(0)) refuse(closed());
		this.#permits?.close();
		this.#timer.abort();
	}

	async #take(signal: AbortSignal | undefined): Promise<void> {
		for (;;) {
			await this.#turn(signal);
			// After its turn: a permit is good for a moment alone.
			while (this.#shared !== undefined && !this.#isClosed) {
				const goodUntil = await this.#shared.take(signal);
				if (this.#clock.now() <= goodUntil) break;
			}
			if (this.#isClosed) throw closed();
			if (!this.#isPaused) return;
		}
	}

	#turn(signal: AbortSignal | undefined): Promise<void> {
		return new Promise((resolve, reject) => {
			if (this.#isClosed) return reject(closed());
			// The contract is to reject with the signal's reason, which need not be an Error.
			if (signal?.aborted === true) return reject(signal.reason);
			const aborted = (): void => {
				this.#waiting = this.#waiting.filter((each) => each !== waiting);
				if (this.#waiting.length === 0) this.#timer.abort();
				reject(signal?.reason);
			};
			const ended =
				<Value>(end: (value: Value) => void) =>
				(value: Value): void => {
					signal?.removeEventListener("abort", aborted);
					end(value);
				};
			const waiting: Waiting = { go: ended(resolve), refuse: ended(reject) };
			signal?.addEventListener("abort", aborted, { once: true });
			this.#waiting.push(waiting);
			this.#permits?.order(this.#waiting.length);
			if (!this.#isServing) void this.#serve();
		});
	}

	/** Lets the waiting requests go, each in its turn. */
	async #serve(): Promise<void> {
		this.#isServing = true;
		while (this.#waiting.length > 0) {
			const wait = this.#delay(this.#clock.now());
			if (wait <= 0) this.#next();
			else {
				this.#timer = new AbortController();
				await this.#clock.sleep(Math.min(wait, LONGEST_WAIT_MS), this.#timer.signal);
			}
		}
		this.#isServing = false;
	}

	#next(): void {
		const now = this.#clock.now();
		this.#due = Math.max(this.#due + this.#spacing, now - LATE_MS);
		this.#permits?.use();
		this.#window?.sent(now);
		this.#waiting.shift()?.go();
	}

	/** Milliseconds until the next request may be sent. */
	#delay(now: number): number {
		// The end of the pause, and a permit, end this wait.
		if (this.#isPaused || this.#permits?.isEmpty === true) return LONGEST_WAIT_MS;
		return Math.max(this.#due + this.#spacing - now, this.#window?.delay(now) ?? 0);
	}

	/** Milliseconds from one request to the next at the pace of the controller. */
	get #spacing(): number {
		const pace = this.#pace();
		return pace === undefined ? 0 : 1000 / pace;
	}
}

function closed(): Error {
	return new Error("the limiter is closed");
}
