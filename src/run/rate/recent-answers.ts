/** Milliseconds of latencies of which the smallest counts, and of answers that say how many the service takes. */
const LATENCIES_MS = 10_000;
const RATE_MS = 2_000;

/** Milliseconds of answers that are the fewest: in less, chance decides. */
const LEAST_MS = 100;

/** Milliseconds that are enough to count answers a second. */
const SHOWN_MS = 250;

/** Answers whose mean is a latency: fewer may be quick by chance. */
const ENOUGH = 8;

/** Growth of the latency, and requests that wait at the service, from which they are the run's own queue. */
const GROWTH = 1.5;
const QUEUE = 2;

/** Milliseconds of growth that are this machine's own: its pauses make all answers late that come meanwhile. */
const OWN_DELAY_MS = 20;

/** The answers of the last seconds. */
export class RecentAnswers {
	/** when the first of those that count may have come */
	began: number;
	/** the times of those that may count for the rate */
	#recent: number[] = [];
	/** the mean latency of each judged time of the last ten seconds */
	#means: { readonly at: number; readonly mean: number }[] = [];
	/** the smallest of them: each request asks for it */
	#least: number | undefined;
	/** since the rate was judged: when that was, requests that were sent, and those that found few places free */
	since: number;
	sends = 0;
	#full = 0;
	/** since then, of requests that were sent since then: their number, and the sum of their milliseconds */
	count = 0;
	#sum = 0;
	#all = 0;
	#quickest = Number.POSITIVE_INFINITY;
	/** milliseconds that answers took when the rate was judged last, and answers a second then */
	latency = 0;
	answered = 0;

	constructor(now: number) {
		this.began = this.since = now;
	}

	/** The first of those that count. */
	begin(now: number): void {
		this.judged(now);
		this.began = now;
	}

	/** The smallest mean latency of the last ten seconds, in milliseconds; undefined before the first answers. */
	get least(): number | undefined {
		return this.#least ?? (this.count === 0 ? undefined : this.#firstMean);
	}

	/** The first answers come all at once, and may wait for each other. */
	get #firstMean(): number {
		return Math.min(this.#sum / this.count, 2 * this.#quickest);
	}

	/** Requests that waited at the service when the rate was judged last; 0 where answers took hardly longer than at best. */
	get queue(): number {
		const { least = 0, latency } = this;
		const queue = (this.answered * (latency - least)) / 1000;
		return latency > GROWTH * least && latency > least + OWN_DELAY_MS && queue > QUEUE ? queue : 0;
	}

	/** Whether half of the requests found few places free. */
	get isFull(): boolean {
		return this.#full >= this.sends / 2;
	}

	sent(isFull: boolean): void {
		this.sends += 1;
		if (isFull) this.#full += 1;
	}

	add(sent: number, now: number): void {
		this.#recent.push(now);
		this.#all += 1;
		if (sent < this.since) return;
		this.count += 1;
		this.#sum += now - sent;
		this.#quickest = Math.min(this.#quickest, now - sent);
	}

	/** Answers a second over the last two seconds, or since a time that is later. */
	rate(now: number, from: number): number {
		const lasted = Math.max(LEAST_MS, Math.min(RATE_MS, now - Math.max(from, this.began)));
		return (this.#recent.filter((time) => time > now - lasted).length * 1000) / lasted;
	}

	/** The rate was judged, or has changed: the next answers are counted by themselves. */
	judged(now: number): void {
		const lasted = now - this.since;
		if (lasted >= SHOWN_MS) this.answered = (this.#all * 1000) / lasted;
		if (this.count > 0) this.latency = this.#sum / this.count;
		const isFirst = this.#means.length === 0;
		if (this.count >= ENOUGH || (isFirst && this.count > 0)) {
			this.#means = this.#means.filter(({ at }) => now - at < LATENCIES_MS);
			this.#means.push({ at: now, mean: isFirst ? this.#firstMean : this.latency });
			this.#least = Math.min(...this.#means.map(({ mean }) => mean));
		}
		this.#recent = this.#recent.filter((time) => time > now - RATE_MS);
		this.since = now;
		this.sends = this.#full = this.count = this.#sum = this.#all = 0;
	}
}
