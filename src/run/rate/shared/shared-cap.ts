import type { Clock } from "../../types.ts";
import { type Answer, CALL_MS, SLACK_MS, type Store } from "./redis.ts";

/** Milliseconds between two calls of a run that needs no permit: the others count it, and it learns of cooldowns. */
const IDLE_MS = 1000;

/** The same while Redis is away. */
const AWAY_MS = 500;

/** Milliseconds for which a run keeps to its share after Redis is back: the others need that time to come back, too. */
const SETTLING_MS = 2000;

/** Milliseconds after its slot for which a permit is good. A later use would come together with the next ones. */
const GOOD_MS = 25;

/** Milliseconds by which permits are ordered ahead, besides the time of a call: timers of a busy machine are that late. */
const AHEAD_MS = 30;

/** Part of its share that a run uses while Redis is away. Three runs that send at once would go over the cap otherwise. */
const OWN_PART = 0.97;

/** Milliseconds: a request that waits sees that Redis is lost or back, or the run's end, no later than that. */
const LONGEST_WAIT_MS = 250;

/** A run's part of the cap, in requests a second, is `cap / runs`; without a cap, `cap` is undefined. */
export type Share = Pick<Answer, "cap" | "runs">;

type SharedCapOptions = {
	readonly store: Store;
	readonly clock: Clock;
	/** a name that no other run has */
	readonly run: string;
	/** the most requests a second that all runs together may send, as far as this run is asked; undefined for no cap */
	readonly cap: () => number | undefined;
	/** Redis does not answer, refuses, or has lost what it held (no error): the run goes on at its share */
	readonly onAway: (error: unknown, share: Share) => void;
	/** the cap is shared again after that */
	readonly onBack: () => void;
	/** a run was asked to send nothing for so many milliseconds */
	readonly onCooldown: (milliseconds: number) => void;
};

/**
 * One cap for many runs: Redis says when each request may be sent. While Redis is away, and until the others can have noticed
 * that it is back, each run sends at its share of the cap, by its own clock.
 */
export class SharedCap {
	readonly #options: SharedCapOptions;
	readonly #closed = new AbortController();
	readonly #ended: Promise<void>;
	#last: Answer;
	/** the share that was seen before Redis was lost; undefined while the cap is shared */
	#own: Share | undefined;
	/** on the clock: since when Redis is away, and when the cap is shared again after it is back */
	#awaySince: number | undefined;
	#settlesAt = 0;
	#awayMs = 0;
	/** on the clock: the earliest time of the next permit, as far as it is known; the end of a cooldown of this run */
	#next = 0;
	#heldUntil = 0;
	/** milliseconds of a call, smoothed */
	#callTime = 0;
	/** milliseconds from the clock of Redis to this one */
	#ahead = Number.POSITIVE_INFINITY;
	/** Requests order their permits one after another. */
	#door: Promise<unknown> = Promise.resolve();

	/** Shares the cap from now on. @throws where Redis does not answer, or refuses */
	static async start(options: SharedCapOptions): Promise<SharedCap> {
		const { store, clock, run, cap } = options;
		const asked = clock.now();
		return new SharedCap(options, await store.call({ run, cap: cap(), permits: 0, cooldown: 0 }), asked);
	}

	private constructor(options: SharedCapOptions, first: Answer, asked: number) {
		this.#options = options;
		this.#last = first;
		this.#answered(first, asked);
		this.#ended = this.#beat();
	}

	get share(): Share {
		return this.#own ?? this.#last;
	}

	/** Seconds for which Redis was away, in all. */
	get awaySeconds(): number {
		const ongoing = this.#awaySince === undefined ? 0 : this.#options.clock.now() - this.#awaySince;
		return Math.round(this.#awayMs + ongoing) / 1000;
	}

	/** Milliseconds by which permits are ordered ahead. */
	get lead(): number {
		return AHEAD_MS + this.#callTime;
	}

	/** Waits for a permit for one request. @returns until when it is good, on the clock. Rejects with the signal's reason. */
	async take(signal: AbortSignal | undefined): Promise<number> {
		while (this.share.cap !== undefined && !this.#closed.signal.aborted) {
			const turn = this.#door.then(() => this.#turn(signal));
			this.#door = turn.catch(() => undefined);
			const slot = await turn;
			const own = this.#own;
			const due = own === undefined ? await this.#call(1) : slot;
			// Redis is back: a request that this run sends at its share counts there.
			if (own !== undefined && this.#awaySince === undefined) void this.#call(1);
			if (due === undefined) continue;
			await this.#until(() => (own === this.#own ? due : 0), signal);
			if (own === this.#own) return due + GOOD_MS;
		}
		return Number.POSITIVE_INFINITY;
	}

	/** The service asked this run to send nothing for so many milliseconds: no run does. */
	cool(milliseconds: number): void {
		this.#heldUntil = Math.max(this.#heldUntil, this.#options.clock.now() + milliseconds);
		void this.#call(0);
	}

	/** Gives up its share. */
	async close(): Promise<void> {
		const { store, run } = this.#options;
		this.#closed.abort();
		await this.#ended;
		if (this.#awaySince === undefined) await store.leave(run).catch(() => undefined);
		store.close();
	}

	async #beat(): Promise<void> {
		const { signal } = this.#closed;
		while (!signal.aborted) {
			await this.#options.clock.sleep(this.#awaySince === undefined ? IDLE_MS : AWAY_MS, signal);
			if (!signal.aborted) await this.#call(0);
		}
	}

	/** Waits until it is time to order the next permit. @returns its time by this run's own clock */
	async #turn(signal: AbortSignal | undefined): Promise<number> {
		await this.#until(() => this.#next - this.lead, signal);
		const slot = Math.max(this.#next, this.#options.clock.now() - SLACK_MS);
		this.#next = slot + this.#spacing;
		return slot;
	}

	/** @param time on the clock; it may change meanwhile */
	async #until(time: () => number, signal: AbortSignal | undefined): Promise<void> {
		const { clock } = this.#options;
		for (;;) {
			signal?.throwIfAborted();
			const left = time() - clock.now();
			if (left <= 0 || this.#closed.signal.aborted) return;
			// A timer counts whole milliseconds, and none may end too early.
			await clock.sleep(Math.min(LONGEST_WAIT_MS, Math.ceil(left)), signal);
		}
	}

	/** Milliseconds from one permit to the next. */
	get #spacing(): number {
		const { cap = Number.POSITIVE_INFINITY, runs } = this.share;
		return (1000 / cap) * (this.#own === undefined ? 1 : runs / OWN_PART);
	}

	/** @returns the time of the permit, on the clock; undefined where there is none */
	async #call(permits: 0 | 1): Promise<number | undefined> {
		const { store, clock, run, cap } = this.#options;
		const asked = clock.now();
		try {
			const cooldown = Math.max(0, this.#heldUntil - asked);
			return this.#answered(await store.call({ run, cap: cap(), permits, cooldown }), asked);
		} catch (error) {
			// So late no timer ends a call unless this process stood still.
			if (clock.now() - asked < 1.2 * CALL_MS) this.#failed(error, asked);
			return undefined;
		}
	}

	/** @returns the time of the permit, on the clock */
	#answered(answer: Answer, asked: number): number {
		const { clock, onBack, onCooldown } = this.#options;
		const now = clock.now();
		// It answered between the call and now. A run that stood still read its answers late: their permits seemed good, and came
		// together with later ones.
		this.#ahead = Math.min(now - answer.time, Math.max(asked - answer.time, this.#ahead));
		const due = answer.time + this.#ahead + answer.wait;
		const wasAway = this.#awaySince !== undefined;
		// The runs have permits of which an emptied Redis does not know.
		const isNew = answer.born !== this.#last.born;
		if (answer.cooldown > 0) onCooldown(answer.cooldown);
		this.#callTime = (this.#callTime * 3 + Math.min(CALL_MS, now - asked)) / 4;
		this.#awayMs += now - (this.#awaySince ?? now);
		this.#awaySince = undefined;
		if (isNew) this.#keepShare(undefined);
		if (isNew || wasAway) this.#settlesAt = now + SETTLING_MS;
		this.#last = answer;
		if (this.#own === undefined) this.#next = Math.max(this.#next, due);
		else if (now >= this.#settlesAt) {
			this.#own = undefined;
			this.#next = now;
			onBack();
		}
		return due;
	}

	#failed(error: unknown, asked: number): void {
		if (this.#awaySince !== undefined || this.#closed.signal.aborted) return;
		this.#awaySince = asked;
		this.#keepShare(error);
	}

	/** From now on this run sends at its share. The first request waits, as not all runs may send one at once. */
	#keepShare(error: unknown): void {
		if (this.#own !== undefined) return;
		this.#own = { cap: this.#last.cap, runs: this.#last.runs };
		this.#next = this.#options.clock.now() + this.#spacing;
		this.#options.onAway(error, this.share);
	}
}
