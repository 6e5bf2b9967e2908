/** Share of the rate that is kept when the service asks to slow down, and the milliseconds between two such cuts. */
const CUT = 0.7;
const CUT_EVERY = 1_000;

/** The lowest rate, in requests a second. Below it a run would seem to have stopped, and no service gains from that. */
const FLOOR = 0.5;

/** Share of the full rate that is added each second. */
const RISE = 0.05;

/** Share of the rate with which a run starts after a pause, and the factor by which it grows each second. */
const START = 0.25;
const GROWTH = 2;

/**
 * The rate below `--rate` that a run keeps for some time: after the service asked to slow down, and when the run starts
 * again after a pause or an outage. Never above the full rate. It has a state, and no clock: times in, a rate out.
 */
export class LoweredRate {
	readonly #measure: () => number;
	/** the rate that it rises to; undefined while the rate is not lowered */
	#full: number | undefined;
	#level = 0;
	#risesFrom = 0;
	#cutAt = Number.NEGATIVE_INFINITY;
	#startsAt: number | undefined;

	/** @param full gives the full rate; called each time that the rate is lowered */
	constructor(full: () => number) {
		this.#measure = full;
	}

	/** The service asked to slow down. */
	cut(now: number): void {
		if (now - this.#cutAt < CUT_EVERY) return;
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
