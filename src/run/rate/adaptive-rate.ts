import type { Clock } from "../types.ts";

/**
 * Lateness of timers that is made up for, in milliseconds: timers are no finer than 1 ms, too coarse for 1,000 requests
 * a second.
 */
const TIMER_SLACK_MS = 5;

/** The longest wait before the rate is read again, in milliseconds: it rises meanwhile. */
const LONGEST_WAIT_MS = 250;

/**
 * The rate of a run: it falls where the service asks to slow down and after a pause, and rises to the full rate again.
 * While it is below the full rate, requests are spaced; otherwise they pass at once.
 *
 * It stands before the limiter, never after it. A request that waits here has no token yet. If the rate is lifted and
 * all waiting requests come at once, the limiter still checks the real times of sending.
 */
export class AdaptiveRate {
	readonly #clock: Clock;
	readonly #meter = new AnswerMeter();
	readonly #lowered: LoweredRate;
	/** when the last request was due, which may be a little after it passed */
	#due = Number.NEGATIVE_INFINITY;
	#last: Promise<void> = Promise.resolve();

	/** @param rate requests a second; undefined for no cap: then the rate falls from that at which the service answers */
	constructor(clock: Clock, rate: () => number | undefined) {
		this.#clock = clock;
		this.#lowered = new LoweredRate(() => rate() ?? this.#meter.rate);
	}

	/** Adapts to a changed full rate. */
	rateChanged(): void {
		this.#lowered.fullChanged(this.#clock.now());
	}

	answered(): void {
		this.#meter.answered(this.#clock.now());
	}

	/** Requests a second that may start now, and the full rate; undefined while the rate is not lowered. */
	get lowered(): { readonly now: number; readonly full: number } | undefined {
		const now = this.#lowered.at(this.#clock.now());
		const { full } = this.#lowered;
		return now === undefined || full === undefined ? undefined : { now, full };
	}

	/** The service asked to slow down. */
	lower(): void {
		this.#lowered.cut(this.#clock.now());
	}

	/** Nothing is sent for so many milliseconds, and little at first: the waiting requests must not all be sent at once. */
	startSlowlyAfter(milliseconds: number): void {
		const now = this.#clock.now();
		this.#lowered.startSlowly(now, now + milliseconds);
	}

	/** Resolves when a request may go on to the limiter; undefined where it may at once. Rejects when the signal aborts. */
	take(signal: AbortSignal): Promise<void> | undefined {
		if (this.#lowered.at(this.#clock.now()) === undefined) return undefined;
		const mine = this.#last.then(() => this.#pass(signal));
		this.#last = mine.catch(() => undefined);
		return mine;
	}

	async #pass(signal: AbortSignal): Promise<void> {
		for (;;) {
			signal.throwIfAborted();
			const now = this.#clock.now();
			const rate = this.#lowered.at(now);
			if (rate === undefined) return;
			const due = this.#due + 1000 / rate;
			const wait = due - TIMER_SLACK_MS - now;
			if (wait <= 0) {
				this.#due = Math.max(due, now - TIMER_SLACK_MS);
				return;
			}
			await this.#clock.sleep(Math.min(wait, LONGEST_WAIT_MS), signal);
		}
	}
}

/** Share of the rate that is kept when the service asks to slow down, and the milliseconds from one such cut to the next. */
const CUT = 0.7;
const CUT_EVERY_MS = 1_000;

/** The lowest rate, in requests a second. Below it a run would seem to have stopped, and no service gains from that. */
const FLOOR = 0.5;

/** Share of the full rate that is added each second. */
const RISE = 0.05;

/** Share of the rate with which a run starts after a pause, and the factor by which it grows each second. */
const START = 0.25;
const GROWTH = 2;

/**
 * The lowered rate over time: after the service asked to slow down, and when the run starts again after a pause or an
 * outage. Never above the full rate. It has a state, and no clock: times in, a rate out.
 */
export class LoweredRate {
	readonly #measure: () => number;
	#full: number | undefined;
	#level = 0;
	#risesFrom = 0;
	#cutAt = Number.NEGATIVE_INFINITY;
	#startsAt: number | undefined;

	/** @param full gives the full rate; called each time that the rate is lowered, and when the full rate changes */
	constructor(full: () => number) {
		this.#measure = full;
	}

	/** The rate that it rises to; undefined while the rate is not lowered. */
	get full(): number | undefined {
		return this.#full;
	}

	/** The rate rises to another full rate from now on. */
	fullChanged(now: number): void {
		if (this.#full === undefined) return;
		const level = this.#levelAt(now);
		this.#full = this.#measure();
		this.#level = Math.min(level, this.#full);
		this.#risesFrom = Math.max(now, this.#risesFrom);
	}

	/** The service asked to slow down. */
	cut(now: number): void {
		if (now - this.#cutAt < CUT_EVERY_MS) return;
		const level = this.#levelAt(now);
		this.#level = Math.max(this.#floor(), level * CUT);
		this.#cutAt = now;
		this.#risesFrom = Math.max(now, this.#risesFrom);
	}

	/** Nothing is sent until `at`, and little at first: the waiting requests must not all be sent at once. */
	startSlowly(now: number, at: number): void {
		this.#level = this.#levelAt(now);
		this.#risesFrom = at;
		this.#startsAt = at;
	}

	/** Requests a second that may start; undefined where the rate is not lowered. */
	at(now: number): number | undefined {
		if (this.#full === undefined) return undefined;
		const level = this.#levelAt(now);
		let rate = level;
		if (this.#startsAt !== undefined) {
			const seconds = Math.floor(Math.max(0, now - this.#startsAt) / 1000);
			rate = Math.max(this.#floor(), level * START * GROWTH ** seconds);
			if (rate >= level) this.#startsAt = undefined;
		}
		if (Math.min(rate, level) < this.#full) return Math.min(rate, level);
		this.#full = undefined;
		return undefined;
	}

	#levelAt(now: number): number {
		if (this.#full === undefined) {
			this.#full = this.#measure();
			this.#level = this.#full;
			this.#risesFrom = now;
			this.#startsAt = undefined;
		}
		const seconds = Math.max(0, now - this.#risesFrom) / 1000;
		return Math.min(this.#full, this.#level + RISE * this.#full * seconds);
	}

	/** The lowest rate, or the full rate where that is lower. */
	#floor(): number {
		return Math.min(FLOOR, this.#full ?? FLOOR);
	}
}

/** The lowest rate that is assumed, in requests a second, as few requests may have been answered yet. */
const LEAST_RATE = 10;

/** The rate at which a service answers, over the last two seconds with answers. A run without a cap is lowered from it. */
export class AnswerMeter {
	#second = Number.NaN;
	#count = 0;
	#before = 0;

	answered(now: number): void {
		const second = Math.floor(now / 1000);
		if (second !== this.#second) {
			this.#before = this.#count;
			this.#count = 0;
			this.#second = second;
		}
		this.#count += 1;
	}

	get rate(): number {
		return Math.max(LEAST_RATE, this.#before, this.#count);
	}
}
