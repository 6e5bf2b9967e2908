/** Requests of any row that fail one after another, after which the service counts as gone. */
const IN_A_ROW = 20;

/** The other sign of an outage, where a few requests succeed: of at least `LEAST` within `SECONDS`, this share failed. */
const SECONDS = 30;
const LEAST = 100;
const SHARE = 0.95;

/** Tells an outage from single failures: it takes how each request ended, and says whether the service counts as gone. */
export class Failures {
	#inARow = 0;
	readonly #tries = new Uint32Array(SECONDS);
	readonly #failed = new Uint32Array(SECONDS);
	#second = Number.NEGATIVE_INFINITY;

	/**
	 * One request has ended.
	 *
	 * @param failed whether it failed in a way that may pass; a refusal shows that the service answers
	 * @param now milliseconds on a monotonic clock
	 */
	add(failed: boolean, now: number): boolean {
		const place = this.#advance(Math.floor(now / 1000));
		this.#tries[place] = (this.#tries[place] ?? 0) + 1;
		this.#inARow = failed ? this.#inARow + 1 : 0;
		if (!failed) return false;
		this.#failed[place] = (this.#failed[place] ?? 0) + 1;
		if (this.#inARow >= IN_A_ROW) return true;
		const tries = sum(this.#tries);
		return tries >= LEAST && sum(this.#failed) >= SHARE * tries;
	}

	/** The service is back: earlier failures no longer count. */
	forget(): void {
		this.#inARow = 0;
		this.#tries.fill(0);
		this.#failed.fill(0);
	}

	/** Empties the seconds that have passed since the last request. */
	#advance(second: number): number {
		const from = Math.max(this.#second + 1, second - SECONDS + 1);
		for (let each = from; each <= second; each += 1) {
			this.#tries[each % SECONDS] = 0;
			this.#failed[each % SECONDS] = 0;
		}
		this.#second = Math.max(this.#second, second);
		return second % SECONDS;
	}
}

function sum(counts: Uint32Array): number {
	return counts.reduce((total, count) => total + count, 0);
}
