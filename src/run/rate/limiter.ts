import type { Clock } from "../types.ts";
import { Permits } from "./permits.ts";
import type { SharedCap } from "./shared/shared-cap.ts";

/** A cap that other processes share. */
type PermitQueue = Pick<SharedCap, "take" | "lead">;

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

/** Ends the wait of a request for its turn: with an error, or with none where its turn has come. */
type End = (error?: unknown) => void;

/**
 * A limiter that lets no more than `rate` requests start in any sliding second, whose rate changes while requests wait, and
 * which can be paused. Bottleneck spaces them; the sliding window checks the real times of sending, as late timers let bursts
 * pass.
 */
export class RateLimiter {
	readonly #clock: Clock;
	readonly #pace: () => number | undefined;
	#permits: Permits | undefined;
	#window: SlidingWindow | undefined;
	#shared: PermitQueue | undefined;
	/** first come, first served */
	#waiting: End[] = [];
	#isServing = false;
	#isPaused = false;
	#isClosed = false;
	/** when the latest request was due, which may be a little before it was sent */
	#due = Number.NEGATIVE_INFINITY;
	#timer = new AbortController();

	/**
	 * @param rate requests a second at most; undefined for no cap
	 * @param pace requests a second to space for now, below the cap; undefined for none. Without both, no request waits
	 */
	constructor(rate: number | undefined, clock: Clock, pace: () => number | undefined = () => undefined) {
		this.#clock = clock;
		this.#pace = pace;
		this.setRate(rate);
	}

	/** Milliseconds that each request waits for its permit besides the wait for the cap. */
	get lead(): number {
		return this.#shared?.lead ?? 0;
	}

	/** From now on each request also takes a permit of a cap that other processes share. */
	share(cap: PermitQueue): void {
		this.#shared = cap;
	}

	/** @param cap requests a second; undefined for no cap */
	setRate(cap: number | undefined): void {
		const rate = cap === undefined ? undefined : cap * (cap > FEW_PER_SECOND ? USED_SHARE : 1);
		const count = Math.ceil(cap ?? 0);
		this.#window = rate === undefined ? undefined : new SlidingWindow(count, (count * 1000) / rate, this.#window);
		this.#permits?.close();
		this.#permits = rate === undefined ? undefined : new Permits(rate, () => this.#timer.abort());
		this.#permits?.order(this.#waiting.length);
		this.#timer.abort();
	}

	/** No request starts while it is paused. */
	pause(isPaused: boolean): void {
		this.#isPaused = isPaused;
		this.#timer.abort();
	}

	/** From now on every request is rejected, waiting requests too. */
	close(): void {
		this.#isClosed = true;
		for (const end of this.#waiting.splice(0)) end(closed());
		this.#permits?.close();
		this.#timer.abort();
	}

	/** Resolves when a request may start. Rejects with the signal's reason when that has aborted, or aborts meanwhile. */
	async take(signal?: AbortSignal): Promise<void> {
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
			const end: End = (error) => {
				signal?.removeEventListener("abort", aborted);
				if (error === undefined) resolve();
				else reject(error);
			};
			const aborted = (): void => {
				this.#waiting = this.#waiting.filter((each) => each !== end);
				if (this.#waiting.length === 0) this.#timer.abort();
				reject(signal?.reason);
			};
			this.#waiting.push(end);
			this.#permits?.order(this.#waiting.length);
			if (!this.#isServing) void this.#serve();
			// Without a cap its turn has come already, as for nearly every request.
			if (this.#waiting.at(-1) === end) signal?.addEventListener("abort", aborted, { once: true });
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
		this.#waiting.shift()?.();
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

	/**
	 * At most `count` sends in any `window` milliseconds.
	 *
	 * @param before the window of the previous rate: its last sends count here too
	 */
	constructor(count: number, window: number, before?: SlidingWindow) {
		this.#times = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
		this.#window = window;
		const kept = before === undefined ? [] : before.#times.toSorted().slice(-count);
		this.#times.set(kept, count - kept.length);
	}

	/** Milliseconds until one more send is allowed; 0 where it is allowed now. */
	delay(now: number): number {
		const oldest = this.#times[this.#next] ?? Number.NEGATIVE_INFINITY;
		return Math.max(0, oldest + this.#window - now);
	}

	/** One more send, at its turn. */
	sent(now: number): void {
		this.#times[this.#next] = now;
		this.#next = (this.#next + 1) % this.#times.length;
	}
}
