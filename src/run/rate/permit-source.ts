import Bottleneck from "bottleneck";

/** Jobs a second above which bottleneck's serial timers are late (measured: at most about 425 jobs a second). */
const JOBS_PER_SECOND = 100;

/**
 * Spacing, as a share of what the cap asks for: time lost to late timers can then be made up within the window. A process that
 * sends thousands a second is busy, and loses more.
 */
const SPACING = 0.97;
const SPACING_OF_BATCHES = 0.9;

/**
 * Batches that are ordered before a request waits for them. Otherwise a batch would be ordered only when the one before it
 * was used up, and each late timer would be lost time.
 */
const BATCHES_AHEAD = 10;

/**
 * Milliseconds of a cap of one permit a batch that are kept ready. A single request would wait for three timers of bottleneck
 * otherwise, which take 3.4 ms. At 100 a second three requests more may start at once, and at 33 none.
 */
const READY_MS = 30;

/**
 * Milliseconds by which the wall clock must be set to count as set. bottleneck counts by it: one that is set back by an hour
 * would hold each request for an hour. Time synchronisation slews both clocks alike.
 */
const CLOCK_SET_MS = 500;

/** Milliseconds between two looks at the clocks: for so long requests may stand. */
const LOOK_MS = 250;

/** The division of a cap into bottleneck jobs: `jobs` of `batch` permits each in every `window` milliseconds. */
type Division = { readonly batch: number; readonly jobs: number; readonly window: number };

/** Divides a cap (requests a second, any positive number) so that `jobs × batch` in `window` is exactly that cap. */
export function divide(rate: number): Division {
	const batch = Math.max(1, Math.ceil(rate / JOBS_PER_SECOND));
	const jobs = Math.max(1, Math.floor(rate / batch));
	return { batch, jobs, window: (jobs * batch * 1000) / rate };
}

/** The permits of one rate. */
export class PermitSource {
	readonly #bottleneck: Bottleneck;
	readonly #batch: number;
	/** permits that are ordered before a request waits for them */
	readonly #ahead: number;
	readonly #onPermits: (count: number) => void;
	// A token comes back one window after its use, not at fixed times: that keeps the cap in every sliding second.
	// These timers also keep the process alive: a run that waits for its next token has nothing else that does.
	readonly #returning = new Set<NodeJS.Timeout>();
	readonly #clocks: NodeJS.Timeout;
	#ordered = 0;
	#stopped = false;

	/** @param onClockSet the wall clock was set: no permit may follow in time, so another source is needed */
	constructor(rate: number, onPermits: (count: number) => void, onClockSet: () => void) {
		const { batch, jobs, window } = divide(rate);
		this.#batch = batch;
		this.#ahead = batch > 1 ? BATCHES_AHEAD * batch : Math.floor((rate * READY_MS) / 1000);
		this.#onPermits = onPermits;
		const spacing = batch > 1 ? SPACING_OF_BATCHES : SPACING;
		const bottleneck = new Bottleneck({ reservoir: jobs, minTime: (spacing * window) / jobs });
		this.#bottleneck = bottleneck;
		bottleneck.on("executing", () => {
			if (this.#stopped) return;
			const timer = setTimeout(() => {
				this.#returning.delete(timer);
				void bottleneck.incrementReservoir(1);
			}, window);
			this.#returning.add(timer);
		});
		const difference = wallClockLead();
		this.#clocks = setInterval(() => {
			if (Math.abs(wallClockLead() - difference) > CLOCK_SET_MS) onClockSet();
		}, LOOK_MS).unref();
	}

	/**
	 * Orders permits for so many requests, in all, and those that are kept ready.
	 *
	 * @param count below 0 where so many permits are left
	 */
	order(count: number): void {
		// One job for each batch of requests: one for each request would be too many above a few hundred a second.
		while (this.#ordered < count + this.#ahead) {
			this.#ordered += this.#batch;
			this.#bottleneck
				.schedule(async () => {
					this.#ordered -= this.#batch;
					if (!this.#stopped) this.#onPermits(this.#batch);
				})
				// Only `stop` makes a job fail, and the waiting requests are another source's or refused by then.
				.catch(() => undefined);
		}
	}

	/** No permit follows. */
	stop(): void {
		if (this.#stopped) return;
		this.#stopped = true;
		clearInterval(this.#clocks);
		for (const timer of this.#returning) clearTimeout(timer);
		void this.#bottleneck.stop({ dropWaitingJobs: true }).catch(() => undefined);
	}
}

/** Milliseconds from the monotonic clock to the wall clock: it changes only when that is set. */
function wallClockLead(): number {
	return Date.now() - performance.now();
}
