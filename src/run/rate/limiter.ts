import type { Clock, Limiter } from "../types.ts";
import type { SharedPermit } from "./shared/permits.ts";
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
	/** @param rate requests a second, whatever rate is set; undefined for no such limit */
	setCeiling(rate: number | undefined): void;
};

/** A cap that other processes share. */
export type PermitQueue = {
	take(signal: AbortSignal | undefined): Promise<SharedPermit>;
	/** milliseconds that a request waits for its permit even if no other process needs any */
	readonly lead: number;
};

/** Milliseconds: a request that waits sees a new pace, or a pause, no later than that. */
const LONGEST_WAIT_MS = 250;

/**
 * Milliseconds of requests that may be sent late, or at once after a silence. Timers are no finer than one millisecond, and
 * those of a busy machine are late; the sliding window keeps to the cap.
 */
const LATE_MS = 25;

/** Spacing as a share of what a cap asks for: time that late timers lost can be made up within the window. */
const SPACING = 0.97;

/**
 * The share of a cap above 100 requests a second that is used. On their way requests come closer together: with all of it, up
 * to 1.022 of a cap of 1,000 came within one second of the server's clock. This leaves 5 milliseconds of each second for that.
 * Up to 100 a second that is one request at most.
 */
const USED_SHARE = 0.995;
const FEW_PER_SECOND = 100;

/** A request that waits for its turn. `go` says whether it may be sent: a permit that got too old needs another one. */
type Waiting = {
	readonly permit: SharedPermit | undefined;
	readonly go: (isSent: boolean) => void;
	readonly refuse: (error: unknown) => void;
};

/**
 * A limiter that lets no more than `rate` requests start in any sliding second, and spaces them. It counts by the monotonic
 * clock alone, so a wall clock that is set changes nothing.
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
	/** the rate of this process alone, and its bound while other processes take the rest */
	#own: number | undefined;
	#ceiling: number | undefined;
	/** the lower of both */
	#rate: number | undefined;
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

	setCeiling(rate: number | undefined): void {
		this.#ceiling = rate;
		this.setRate(this.#own);
	}

	setRate(own: number | undefined): void {
		this.#own = own;
		const cap = Math.min(own ?? Number.POSITIVE_INFINITY, this.#ceiling ?? Number.POSITIVE_INFINITY);
		this.#rate = cap === Number.POSITIVE_INFINITY ? undefined : cap * (cap > FEW_PER_SECOND ? USED_SHARE : 1);
		const count = Math.ceil(cap);
		this.#window =
			this.#rate === undefined ? undefined : new SlidingWindow(count, (count * 1000) / this.#rate, this.#window);
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
		this.#timer.abort();
	}

	async #take(signal: AbortSignal | undefined): Promise<void> {
		for (;;) {
			// Before its turn: the window must see when the request really goes out.
			const permit = await this.#shared?.take(signal);
			let isSent = false;
			try {
				isSent = await this.#turn(permit, signal);
			} finally {
				if (!isSent) permit?.drop();
			}
			if (isSent) return;
		}
	}

	#turn(permit: SharedPermit | undefined, signal: AbortSignal | undefined): Promise<boolean> {
		return new Promise((resolve, reject) => {
			if (this.#isClosed) return reject(closed());
			// The contract is to reject with the signal's reason, which need not be an Error.
			if (signal?.aborted === true) return reject(signal.reason);
			const aborted = (): void => {
				this.#waiting = this.#waiting.filter((each) => each !== waiting);
				reject(signal?.reason);
			};
			const ended =
				<Value>(end: (value: Value) => void) =>
				(value: Value): void => {
					signal?.removeEventListener("abort", aborted);
					end(value);
				};
			const waiting: Waiting = { permit, go: ended(resolve), refuse: ended(reject) };
			signal?.addEventListener("abort", aborted, { once: true });
			this.#waiting.push(waiting);
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
		const next = this.#waiting.shift();
		if (next?.permit?.isGood() === false) return next.go(false);
		const now = this.#clock.now();
		this.#due = Math.max(this.#due + this.#spacing, now - LATE_MS);
		this.#window?.sent(now);
		next?.permit?.used();
		next?.go(true);
	}

	/** Milliseconds until the next request may be sent. */
	#delay(now: number): number {
		if (this.#isPaused) return LONGEST_WAIT_MS;
		return Math.max(this.#due + this.#spacing - now, this.#window?.delay(now) ?? 0);
	}

	/** Milliseconds from one request to the next. */
	get #spacing(): number {
		const cap = this.#rate === undefined ? 0 : (SPACING * 1000) / this.#rate;
		const pace = this.#pace();
		return pace === undefined ? cap : Math.max(cap, 1000 / pace);
	}
}

function closed(): Error {
	return new Error("the limiter is closed");
}
