import Bottleneck from "bottleneck";

/** Jobs a second above which bottleneck's serial timers are late (measured: at most about 425 jobs a second). */
const JOBS_PER_SECOND = 100;

/** Spacing as a share of what a cap asks for: time that late timers lost can be made up within the window. */
const SPACING = 0.97;
const SPACING_OF_BATCHES = 0.9;

/**
 * Milliseconds of a cap that are kept ready. A single request would wait for three timers of bottleneck otherwise. They leave
 * at once when a run begins, and their connections are made meanwhile: 100 ms were up to 1.10 of a cap of 1,000 in a second.
 */
const READY_MS = 30;

/** Milliseconds by which the wall clock must be set to count as set. Time synchronisation slews both clocks alike. */
const CLOCK_SET_MS = 500;

/**
 * The permits of one cap, spaced by bottleneck. The sliding window of the limiter counts the sends.
 *
 * Bottleneck counts by the wall clock, and one that is set back by an hour would hold each request for an hour: then a new
 * bottleneck goes on.
 */
export class Permits {
	readonly #rate: number;
	/** permits of one job: one job for each request would be too many above a few hundred a second */
	readonly #batch: number;
	/** permits that are ordered before a request waits for them */
	readonly #ahead: number;
	readonly #onPermits: () => void;
	#bottleneck: Bottleneck;
	#lead = wallClockLead();
	#ordered = 0;
	/** permits that may be used now */
	#left = 0;

	/** @param rate requests a second, any positive number */
	constructor(rate: number, onPermits: () => void) {
		this.#rate = rate;
		this.#batch = Math.max(1, Math.ceil(rate / JOBS_PER_SECOND));
		this.#ahead = Math.floor((rate * READY_MS) / 1000);
		this.#onPermits = onPermits;
		this.#bottleneck = this.#begin();
	}

	/** Uses one permit, of which there is one. */
	use(): void {
		this.#left -= 1;
	}

	/** Whether there is none. It is asked again every quarter of a second while requests wait. */
	get isEmpty(): boolean {
		const lead = wallClockLead();
		if (Math.abs(lead - this.#lead) > CLOCK_SET_MS) {
			const ordered = this.#ordered;
			this.close();
			[this.#lead, this.#bottleneck] = [lead, this.#begin()];
			this.order(ordered);
		}
		return this.#left === 0;
	}

	/** Orders permits for so many requests that wait, and those that are kept ready. */
	order(waiting: number): void {
		const bottleneck = this.#bottleneck;
		while (this.#ordered + this.#left < waiting + this.#ahead) {
			this.#ordered += this.#batch;
			bottleneck
				.schedule(async () => {
					if (bottleneck !== this.#bottleneck) return;
					this.#ordered -= this.#batch;
					this.#left += this.#batch;
					this.#onPermits();
				})
				// Only the end of this bottleneck makes a job fail, and its permits are ordered anew.
				.catch(() => undefined);
		}
	}

	close(): void {
		this.#ordered = 0;
		void this.#bottleneck.stop({ dropWaitingJobs: true }).catch(() => undefined);
	}

	#begin(): Bottleneck {
		const spacing = this.#batch > 1 ? SPACING_OF_BATCHES : SPACING;
		return new Bottleneck({ minTime: (spacing * this.#batch * 1000) / this.#rate });
	}
}

/** Milliseconds from the monotonic clock to the wall clock: it changes only when that is set. */
function wallClockLead(): number {
	return Date.now() - performance.now();
}
