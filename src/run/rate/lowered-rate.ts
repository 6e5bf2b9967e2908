/** What a request to slow down leaves of the rate, and how long another such request changes nothing, in milliseconds. */
const CUT = 0.7;
const CUT_EVERY = 1_000;
/** Requests a second below which no service is helped by going slower, and a run would look dead. */
const FLOOR = 0.5;
/** Share of the full rate that is won back each second. */
const RISE = 0.05;
/** Share of the rate to start again with after a pause, and what each second makes of it. */
const START = 0.25;
const GROWTH = 2;

/**
 * The rate below `--rate` that a run keeps for a while: after the service asked to slow down, and when it begins again
 * after a pause or an outage. Never above the full rate. Pure but for its memory: times go in, a rate comes out.
 */
export class LoweredRate {
	readonly #measure: () => number;
	/** what it rises to; undefined while nothing is lowered */
	#full: number | undefined;
	#level = 0;
	#risesFrom = 0;
	#cutAt = Number.NEGATIVE_INFINITY;
	#startsAt: number | undefined;

	/** @param full the rate to come back to, asked for each time that it is lowered */
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

	/** Nothing is sent until then, and little at first: a pool must not come back as one. */
	startSlowly(now: number, at: number): void {
		this.#level = this.#levelAt(now);
		this.#risesFrom = at;
		this.#startsAt = at;
	}

	/** Requests a second that may start, or undefined where nothing is lowered. */
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

	/** A cap of its own that is lower still is not raised by a floor. */
	#floor(): number {
		return Math.min(FLOOR, this.#full ?? FLOOR);
	}
}
