import { Batch, type SharedPermit, Unshared } from "./permits.ts";
import { type Answer, LEASE_MS, type Sent } from "./script.ts";
import type { Share, SharedCapOptions } from "./store.ts";

/** Milliseconds between two calls of a run that needs nothing: others count it, and it learns of cooldowns. */
const IDLE_MS = 1000;

/** Milliseconds between two calls while Redis does not answer, and while the first second after that is counted. */
const AWAY_MS = 500;
const SETTLING_MS = 100;

/**
 * Milliseconds for which a run keeps to its share after Redis answers again: the others need that time to come back, and a
 * Redis that was started anew knows of no request.
 */
const SETTLED_AFTER_MS = 3000;

/** Milliseconds that a batch's last request is waited for before the next call, and the longest wait for a report. */
const REPORT_MS = 20;

/** Calls a second of one run that never waits for another: their number bounds the permits of one call from below. */
const CALLS_A_SECOND = 100;

/** A request that waits for a permit. */
type Taker = (permit: SharedPermit) => void;

/**
 * One cap for many runs: permits that Redis counts. One call is under way at a time, and takes as many permits as the cap
 * allows in the time that a call takes. While Redis does not answer, each run keeps to its share of the cap.
 */
export class SharedCap {
	readonly #options: SharedCapOptions;
	readonly #waiting: Taker[] = [];
	readonly #reports: Batch[] = [];
	readonly #unshared = new Unshared();
	readonly #closed = new AbortController();
	#last: Answer;
	#slowDown = false;
	#cooldown = 0;
	/** milliseconds that a permit takes besides its wait, smoothed: the call, and a busy machine */
	#lostTime = 0;
	#awaySince: number | undefined;
	#awayMs = 0;
	#settlesAt: number | undefined;
	#wake = (): void => undefined;
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

	/** A permit for one request. Rejects with the signal's reason when it aborts. */
	take(signal: AbortSignal | undefined): Promise<SharedPermit> {
		return new Promise((resolve, reject) => {
			if (this.#isUnshared()) {
				resolve(this.#own());
				return;
			}
			const taker: Taker = (permit) => {
				signal?.removeEventListener("abort", aborted);
				resolve(permit);
			};
			const aborted = (): void => {
				const place = this.#waiting.indexOf(taker);
				if (place >= 0) this.#waiting.splice(place, 1);
				reject(signal?.reason);
			};
			signal?.addEventListener("abort", aborted, { once: true });
			this.#waiting.push(taker);
			this.#wake();
		});
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
		while (!this.#closed.signal.aborted) {
			if (this.#waiting.length === 0 || this.#isUnshared()) await this.#pause();
			if (this.#closed.signal.aborted) break;
			const answer = await this.#call(this.#isUnshared() ? 0 : Math.min(this.#waiting.length, this.#most()));
			if (answer !== undefined) await this.#grant(answer);
		}
		this.#release();
	}

	/** Waits until something is to be told or asked. */
	async #pause(): Promise<void> {
		const hasNews = this.#slowDown || this.#cooldown > 0;
		if (hasNews && this.#awaySince === undefined) return;
		const { clock } = this.#options;
		const timer = new AbortController();
		this.#wake = () => timer.abort();
		if (this.#awaySince !== undefined) this.#wake = () => void (this.#closed.signal.aborted && timer.abort());
		await clock.sleep(this.#pauseMs(), timer.signal);
		this.#wake = () => undefined;
	}

	#pauseMs(): number {
		if (this.#awaySince !== undefined) return AWAY_MS;
		if (this.#settlesAt !== undefined) return SETTLING_MS;
		return this.#reports.length > 0 ? REPORT_MS : IDLE_MS;
	}

	/** The most permits of one call: what the cap allows in the time that one takes. */
	#most(): number {
		const { cap = 0 } = this.#last;
		const time = Math.max(1000 / CALLS_A_SECOND, 2 * this.#lostTime);
		return Math.max(1, Math.ceil((cap * Math.min(time, 1000 / 4)) / 1000));
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
			if (!ends) this.#answered(answer);
			return { ...answer, asked };
		} catch {
			// It is said again once Redis is back. What was sent is not: Redis keeps a permit until it is too old to be used.
			if (slowDown) this.#slowDown = true;
			if (cooldown > 0) this.#cooldown = asked + cooldown;
			if (!ends) this.#failed(asked);
			return undefined;
		}
	}

	#answered(answer: Answer): void {
		const { clock, onCooldown, onShare } = this.#options;
		const now = clock.now();
		this.#last = answer;
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
		if (answer.cap === undefined) this.#release();
	}

	#failed(asked: number): void {
		this.#settlesAt = undefined;
		if (this.#awaySince === undefined) {
			this.#awaySince = asked;
			this.#options.onShare(this.share);
		}
		this.#release();
	}

	/** Gives the requests that wait a permit of this run alone. */
	#release(): void {
		for (const taker of this.#waiting.splice(0)) taker(this.#own());
	}

	/** Gives out the permits of an answer when their time has come. */
	async #grant({ permit, count, wait, asked }: Answer & { readonly asked: number }): Promise<void> {
		const { clock } = this.#options;
		const { signal } = this.#closed;
		if (count === 0) {
			if (this.#waiting.length > 0) await clock.sleep(Math.min(wait, IDLE_MS / 4), signal);
			return;
		}
		let settled = (): void => undefined;
		const all = new Promise<void>((resolve) => (settled = resolve));
		// From when Redis was asked: the time of its answer is not known, and a permit must not be used too late.
		const batch = new Batch(
			{ name: permit, count, until: asked + wait + LEASE_MS },
			() => clock.now(),
			(done) => {
				this.#reports.push(done);
				settled();
			},
		);
		for (const due = clock.now() + wait; clock.now() < due && !signal.aborted;) {
			// A timer counts whole milliseconds, and none may end too early.
			await clock.sleep(Math.ceil(due - clock.now()), signal);
		}
		const takers = signal.aborted ? [] : this.#waiting.splice(0, count);
		for (const taker of takers) taker(batch.one());
		if (takers.length < count) batch.drop(count - takers.length);
		const timer = new AbortController();
		await Promise.race([all, clock.sleep(REPORT_MS, timer.signal)]);
		timer.abort();
		this.#lostTime = (this.#lostTime * 3 + (clock.now() - asked - wait)) / 4;
	}
}
