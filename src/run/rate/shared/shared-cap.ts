import { Orders } from "./orders.ts";
import { type Batch, type SharedPermit, Unshared } from "./permits.ts";
import { type Answer, LEASE_MS, type Sent } from "./script.ts";
import type { Share, SharedCapOptions } from "./store.ts";

/** Milliseconds between two calls of a run that needs nothing: others count it, and it learns of cooldowns. */
const IDLE_MS = 1000;

/** Milliseconds between two calls while Redis does not answer, and while the first seconds after that are counted. */
const AWAY_MS = 500;
const SETTLING_MS = 100;

/**
 * Milliseconds for which a run keeps to its share after Redis answers again: the others need that time to come back, and a
 * Redis that was started anew knows of no request.
 */
const SETTLED_AFTER_MS = 3000;

/** The longest time, in milliseconds, until Redis learns of requests that were sent, and until it is asked again for permits. */
const REPORT_MS = 20;
const REFUSED_MS = 250;

/** Milliseconds of permits that one call takes at least. Its inverse is the most calls of a run that needs few. */
const BATCH_MS = 10;

/** Milliseconds by which permits are ordered ahead at least: the timers of a busy machine are that late. */
const AHEAD_MS = 30;

/** Times of a call by which permits are ordered ahead, and for which one call takes permits. The next call may be slower. */
const CALLS_AHEAD = 2;

/** The longest time of a call, in milliseconds, that counts: permits of a slower Redis would be taken for too long. */
const LONGEST_CALL_MS = 125;

/**
 * One cap for many runs: permits that Redis counts. One call is under way at a time, and takes as many permits as the cap
 * allows in the time of a call. The next permits are ordered before these may be used, so that no permit is lost to a late
 * answer. While Redis does not answer, each run keeps to its share of the cap.
 */
export class SharedCap {
	readonly #options: SharedCapOptions;
	readonly #reports: Batch[] = [];
	readonly #unshared = new Unshared();
	readonly #closed = new AbortController();
	readonly #orders: Orders;
	#last: Answer;
	#slowDown = false;
	#cooldown = 0;
	/** milliseconds of a call, smoothed */
	#callTime = 0;
	/** on the clock: when the last call ended, and until when Redis has no permit for this run */
	#calledAt = 0;
	#refusedUntil = 0;
	#awaySince: number | undefined;
	#awayMs = 0;
	#settlesAt: number | undefined;
	#wake = (): void => undefined;
	/** so many requests without an order end a pause */
	#wakesAt = Number.POSITIVE_INFINITY;
	readonly #ended: Promise<void>;

	/** Shares the cap from now on. @throws where Redis does not answer */
	static async start(options: SharedCapOptions): Promise<SharedCap> {
		const { store, run, cap } = options;
		const first = { run, cap: cap(), want: 0, slowDown: false, cooldown: 0, sent: [] };
		return new SharedCap(options, await store.call(first));
	}

	private constructor(options: SharedCapOptions, first: Answer) {
		this.#options = options;
		this.#last = first;
		this.#calledAt = options.clock.now();
		this.#orders = new Orders(options.clock, this.#closed.signal, (batch) => {
			if (this.#reports.push(batch) === 1) this.#wake();
		});
		if (first.cooldown > 0) options.onCooldown(first.cooldown);
		this.#ended = this.#run();
	}

	/** Runs that share the cap, this one included, and the lowest cap of them, by the last answer. */
	get share(): Share {
		const { cap, runs } = this.#last;
		return { rate: cap === undefined ? undefined : cap / Math.max(1, runs), cap, runs };
	}

	/** Seconds for which Redis did not answer, in all. */
	get awaySeconds(): number {
		const ongoing = this.#awaySince === undefined ? 0 : this.#options.clock.now() - this.#awaySince;
		return Math.round(this.#awayMs + ongoing) / 1000;
	}

	/** Milliseconds by which permits are ordered ahead: as long, requests wait for theirs even if no other run needs any. */
	get lead(): number {
		return this.#isUnshared() ? 0 : Math.max(AHEAD_MS, CALLS_AHEAD * this.#callTime);
	}

	/** A permit for one request. Rejects with the signal's reason when it aborts. */
	take(signal: AbortSignal | undefined): Promise<SharedPermit> {
		if (this.#isUnshared()) return Promise.resolve(this.#own());
		const permit = this.#orders.take(signal);
		if (this.#orders.missing >= this.#wakesAt) this.#wake();
		return permit;
	}

	/** The service asked this run to slow down: every run does. */
	slowDown(): void {
		this.#slowDown = true;
		this.#wake();
	}

	/** The service asked this run to send nothing for so many milliseconds: no run does. */
	cool(milliseconds: number): void {
		this.#cooldown = Math.max(this.#cooldown, this.#options.clock.now() + milliseconds);
		this.#wake();
	}

	/** Reports the last requests and gives up its share. */
	async close(): Promise<void> {
		this.#closed.abort();
		this.#wake();
		await this.#ended;
		if (this.#awaySince === undefined) await this.#call(0, true);
		this.#options.store.close();
	}

	/** Whether requests need no permit of Redis: it is away, it has just come back, or no run has a cap. */
	#isUnshared(): boolean {
		return this.#awaySince !== undefined || this.#settlesAt !== undefined || this.#last.cap === undefined;
	}

	/** A permit of this run alone. */
	#own(): SharedPermit {
		const { clock } = this.#options;
		return { isGood: () => true, used: () => this.#unshared.sent(clock.now()), drop: () => undefined };
	}

	async #run(): Promise<void> {
		const { signal } = this.#closed;
		while (!signal.aborted) {
			const pause = this.#pauseMs(this.#options.clock.now());
			if (pause > 0) {
				await this.#sleep(pause);
				continue;
			}
			const answer = await this.#call(this.#isUnshared() ? 0 : Math.min(this.#orders.missing, this.#most()));
			if (answer !== undefined) this.#order(answer);
		}
		this.#orders.release(() => this.#own());
		await this.#orders.over();
	}

	/** Milliseconds until the next call. It also decides how many requests, if they come meanwhile, make it due at once. */
	#pauseMs(now: number): number {
		this.#wakesAt = Number.POSITIVE_INFINITY;
		const since = now - this.#calledAt;
		if (this.#awaySince !== undefined) return AWAY_MS - since;
		if (this.#slowDown || this.#cooldown > 0) return 0;
		if (this.#settlesAt !== undefined) return SETTLING_MS - since;
		const idle = (this.#reports.length > 0 ? REPORT_MS : IDLE_MS) - since;
		if (this.#isUnshared()) return idle;
		const early = Math.max(this.#orders.due - this.lead, this.#refusedUntil) - now;
		if (early > 0) return Math.min(idle, early);
		const { missing } = this.#orders;
		// A few requests wait for others to share their call, but not for long.
		this.#wakesAt = missing > 0 && since < BATCH_MS ? this.#most() : 1;
		if (missing >= this.#wakesAt) return 0;
		return missing > 0 ? Math.min(idle, BATCH_MS - since) : idle;
	}

	/** Sleeps until it is time for a call, or something was said that may make one due. */
	async #sleep(milliseconds: number): Promise<void> {
		const timer = new AbortController();
		const isAway = this.#awaySince !== undefined;
		this.#wake = () => {
			if (!isAway || this.#closed.signal.aborted) timer.abort();
		};
		// A timer counts whole milliseconds.
		await this.#options.clock.sleep(Math.ceil(milliseconds), timer.signal);
		this.#wake = () => undefined;
	}

	/** The most permits of one call: what the cap allows in the time that one takes. */
	#most(): number {
		const { cap = 0 } = this.#last;
		return Math.max(1, Math.ceil((cap * Math.max(BATCH_MS, CALLS_AHEAD * this.#callTime)) / 1000));
	}

	async #call(want: number, ends = false): Promise<(Answer & { readonly asked: number }) | undefined> {
		const { store, clock, run, cap } = this.#options;
		const asked = clock.now();
		const [slowDown, cooldown] = [this.#slowDown, Math.max(0, this.#cooldown - asked)];
		const reported = this.#reports.splice(0);
		const sent: Sent[] = [...reported.map((batch) => batch.report(asked)), ...this.#unshared.take(asked)];
		this.#slowDown = false;
		this.#cooldown = 0;
		try {
			const answer = await store.call({ run, cap: cap(), want, ends, slowDown, cooldown, sent });
			if (!ends) this.#answered(answer, asked);
			return { ...answer, asked };
		} catch {
			// It is said again once Redis is back. What was sent is not: Redis keeps a permit until it is too old to be used.
			if (slowDown) this.#slowDown = true;
			if (cooldown > 0) this.#cooldown = asked + cooldown;
			if (!ends) this.#failed(asked);
			return undefined;
		}
	}

	#answered(answer: Answer, asked: number): void {
		const { clock, onCooldown, onShare } = this.#options;
		const now = clock.now();
		this.#last = answer;
		this.#calledAt = now;
		this.#callTime = (this.#callTime * 3 + Math.min(LONGEST_CALL_MS, now - asked)) / 4;
		if (answer.cooldown > 0) onCooldown(answer.cooldown);
		if (this.#awaySince !== undefined) {
			this.#awayMs += now - this.#awaySince;
			this.#awaySince = undefined;
			this.#settlesAt = now + SETTLED_AFTER_MS;
		}
		if (this.#settlesAt !== undefined && now >= this.#settlesAt) {
			this.#settlesAt = undefined;
			onShare(undefined);
		}
		if (answer.cap === undefined) this.#orders.release(() => this.#own());
	}

	#failed(asked: number): void {
		this.#settlesAt = undefined;
		this.#calledAt = this.#options.clock.now();
		if (this.#awaySince === undefined) {
			this.#awaySince = asked;
			this.#options.onShare(this.share);
		}
		this.#orders.release(() => this.#own());
	}

	/** Gives out the permits of an answer when their time has come. */
	#order({ permit, count, wait, asked }: Answer & { readonly asked: number }): void {
		const now = this.#options.clock.now();
		if (count === 0) {
			if (this.#orders.missing > 0) this.#refusedUntil = now + Math.min(wait, REFUSED_MS);
			return;
		}
		// From when Redis was asked: the time of its answer is not known, and a permit must not be used too late.
		this.#orders.add({ name: permit, count, due: now + wait, until: asked + wait + LEASE_MS });
	}
}
