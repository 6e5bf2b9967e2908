/** Requests a second: the lowest rate. */
export const FLOOR = 0.5;

/** Milliseconds for which a service may refuse everything for what came before, and requests a second that are sent then. */
const SECOND_MS = 1_000;
const PROBES = 5;

/** What of the rate is sent for a moment: little after a wait, and little to a service that refuses everything. */
export class HeldRate {
	/** the end of the last wait */
	#wait: number | undefined;
	/** since when everything is refused */
	#refused: number | undefined;

	/** Requests a second of those that the rate allows. */
	of(rate: number, now: number): number {
		if (this.#refused !== undefined) return Math.min(PROBES, rate);
		if (this.#wait === undefined) return rate;
		const share = shareAfterWait(now - this.#wait);
		if (share >= 1) this.#wait = undefined;
		return Math.max(Math.min(FLOOR, rate), rate * Math.min(1, share));
	}

	/** Nothing is sent until then. */
	until(at: number): void {
		this.#wait = Math.max(at, this.#wait ?? at);
	}

	/**
	 * Everything was refused lately. A service that counts by the second, or counts what it refuses, does so until its second
	 * is over.
	 *
	 * @returns whether that has lasted for longer, so that the rate must fall
	 */
	refusesAll(now: number): boolean {
		const since = (this.#refused ??= now);
		if (now - since < SECOND_MS) return false;
		this.#refused = now;
		return true;
	}

	/** A request that was sent at that time was answered. */
	answered(sent: number): void {
		if (this.#refused !== undefined && sent >= this.#refused) this.#refused = undefined;
	}
}

/** Share of the rate after a wait, doubled each second: the waiting requests must not all be sent at once. */
const RAMP = 0.25;
const RAMP_MS = 1_000;

/** The share of the rate so many milliseconds after a wait; 1 or more where it is over. */
function shareAfterWait(milliseconds: number): number {
	return RAMP * 2 ** Math.floor(Math.max(0, milliseconds) / RAMP_MS);
}
