import { MAX_CONCURRENCY } from "../../rates.ts";
import { DEEPEST, FLOOR, FREE_PLACES, HeldRate, LEAST_PLACES, leftForQueue, placesFor, risen } from "./curve.ts";
import { type Finding, type FoundRate, foundRate } from "./found-rate.ts";
import { RecentAnswers } from "./recent-answers.ts";
import type { Slowness } from "./slow-seconds.ts";
import { type Step, Unavailable } from "./unavailable.ts";

/** Requests a second with which a run without a cap begins. */
const FIRST_RATE = 20;

/** Requests a second above which a service without a sign is not paced: it took half of that. */
const FREE = 500;

/** How far the rate may be above what the service answers, where it is a trial. */
const AHEAD = 1.5;

/** Refusals, or answers, since the rate was lowered, from which another refusal lowers it again: a few come in one moment. */
const REFUSALS = 3;
const ANSWERS = 30;

/** Milliseconds since the rate was lowered, from which the answers that came say what the service takes. */
const MEASURED_MS = 1_500;

/** Milliseconds until a rate is judged; longer where there are fewer answers, and all places wait for them. */
const JUDGED_MS = 500;
const LONGEST_JUDGED_MS = 2_000;
const LONGEST_FULL_MS = 10_000;
const JUDGED_ANSWERS = 8;

/** Shares of the rate: above the first it is used, so it may rise; below the second the service does not keep up. */
const USED = 0.8;
const KEPT_UP = 0.9;

/** Share of the ceiling with which a run goes on after a refusal. */
const AFTER_REFUSAL = 0.85;

/**
 * The one controller of the pace: it hears every answer and every refusal, and says how many requests a second are sent and
 * how many may be in flight. It has no clock and does no IO. Times are milliseconds on a monotonic clock.
 */
export class Controller {
	readonly #most: () => number;
	readonly #answers: RecentAnswers;
	readonly #unavailable = new Unavailable();
	#cap: number | undefined;
	/** requests a second now; without a cap it doubles until a sign comes */
	#rate: number;
	#isDoubling: boolean;
	#ceiling: Finding | undefined;
	/** the last event, the rate after it, and the seconds since then in which that was used */
	#cutAt = Number.NEGATIVE_INFINITY;
	#low = 0;
	#climbed = 0;
	readonly #since = { answers: 0, refusals: 0 };
	readonly #held = new HeldRate();
	/** the rate before a trial; it, and whether it doubled, before the first since 503 were a fault */
	#before = 0;
	#unlimited: readonly [number, boolean] | undefined;
	/** whether all places were taken, and the service did not keep up with the rate, when it was judged last */
	#isBehind = false;

	/**
	 * @param cap requests a second at most; undefined for none
	 * @param most requests in flight at most
	 */
	constructor(cap: number | undefined, now: number, most: () => number = () => MAX_CONCURRENCY) {
		this.#cap = cap;
		this.#most = most;
		this.#answers = new RecentAnswers(now);
		this.#rate = this.#low = cap ?? FIRST_RATE;
		this.#isDoubling = cap === undefined;
	}

	/** Another cap holds. Facts learnt about the service stay. */
	setCap(cap: number | undefined, now: number): void {
		const isHeld = this.#cap === undefined || this.#rate < this.#cap;
		this.#cap = cap;
		this.#isDoubling = cap === undefined && this.#ceiling === undefined;
		if (cap === undefined) this.#rate = Math.max(FIRST_RATE, this.#rate);
		else this.#rate = isHeld && this.#ceiling !== undefined ? Math.min(cap, this.#rate) : cap;
		this.#answers.judged(now);
	}

	/** The rows begin: the time before them says nothing about the rate. */
	rowsBegin(now: number): void {
		this.#answers.begin(now);
	}

	/** Requests a second that are spaced now; undefined where the cap alone holds, or nothing does. */
	pace(now: number): number | undefined {
		const rate = this.#held.of(this.#rate, now);
		if (this.#isFree) return undefined;
		return this.#cap !== undefined && rate >= this.#cap ? undefined : rate;
	}

	/** Requests that may be in flight. @param lead milliseconds that each waits for the permit of a shared cap */
	places(lead = 0): number {
		const latency = this.#answers.least;
		if (latency === undefined) return Math.min(LEAST_PLACES, this.#most());
		const isFree = this.#isFree;
		const { answered } = this.#answers;
		// Without a cap the rate is a trial: what the service answers says what it needs.
		const isTrial = this.#cap === undefined && answered > 0;
		const rate = isFree ? answered : Math.min(this.#rate, isTrial ? AHEAD * answered : this.#rate);
		const needed = placesFor(rate, latency + lead);
		return Math.min(this.#most(), Math.max(isFree ? FREE_PLACES : LEAST_PLACES, needed));
	}

	/** What was found so far. */
	get found(): FoundRate {
		return foundRate(this.#ceiling, this.#rate);
	}

	/** Why requests are sent more slowly than they may be; undefined where they are not. */
	slowness(now: number): Slowness | undefined {
		const [rate, { answered, latency }] = [this.#held.of(this.#rate, now), this.#answers];
		if (rate < this.#rate) return { cause: "restart", now: rate, at: undefined, latency };
		const lowered = this.#cap === undefined || rate < KEPT_UP * this.#cap ? this.#ceiling : undefined;
		if (lowered !== undefined && lowered.because !== "latency")
			return { cause: lowered.because, now: rate, at: lowered.at, latency };
		return lowered !== undefined || this.#isBehind
			? { cause: "latency", now: answered, at: undefined, latency }
			: undefined;
	}

	/** A request goes out. @param isFull whether few more may be in flight */
	sent(now: number, isFull: boolean): void {
		this.#answers.sent(isFull);
		if (now - this.#answers.since >= JUDGED_MS) this.#judge(now);
	}

	/** The service answered a request. */
	answered(sent: number, now: number): void {
		if (sent >= this.#cutAt) this.#since.answers += 1;
		this.#held.answered(sent);
		this.#answers.add(sent, now);
		this.#step(this.#unavailable.answered(false, sent, now), now);
		if (now - this.#answers.since >= JUDGED_MS) this.#judge(now);
	}

	/** The service, or a proxy, refused a request as it came too fast. */
	refused(sent: number, now: number, status: "429" | "503" = "429"): void {
		// Sent before the rate was lowered: it belongs to the event that lowered it.
		if (sent < this.#cutAt) return;
		const answers = (this.#since.answers += 1);
		const refusals = (this.#since.refusals += 1);
		const isFirst = this.#cutAt === Number.NEGATIVE_INFINITY;
		if (!isFirst && refusals < REFUSALS && answers < ANSWERS) return;
		if (refusals === answers && !isFirst) {
			this.#since.answers = this.#since.refusals = 0;
			if (!this.#held.refusesAll(now)) return;
		}
		const share = isFirst ? 1 : Math.max(DEEPEST, 1 - refusals / answers);
		const isMeasured = now - Math.max(this.#cutAt, this.#answers.began) >= MEASURED_MS;
		const measured = isMeasured ? this.#answers.rate(now, this.#cutAt) : this.#rate * share;
		const rate = Math.min(this.#rate, Math.max(this.#rate * DEEPEST, measured));
		// A service that refuses everything says nothing about its rate.
		const known = refusals === answers ? this.#ceiling : undefined;
		this.#cut(known ?? { rate, because: status, at: this.#rate }, rate * AFTER_REFUSAL, now);
		if (status === "503") this.#step(this.#unavailable.lowered(answers, refusals, now), now);
	}

	/** 503 without the API's envelope. @returns whether it means that the request came too fast */
	unavailable(sent: number, now: number): boolean {
		this.#step(this.#unavailable.answered(true, sent, now), now);
		if (!this.#unavailable.isLimit(now)) return false;
		if (!this.#unavailable.isOpen) this.refused(sent, now, "503");
		return true;
	}

	/** A request failed in another way: only how frequent 503 are is learnt. */
	failed(sent: number, now: number): void {
		this.#step(this.#unavailable.answered(false, sent, now), now);
	}

	/** Nothing is sent until `at`, and little at first. */
	startSlowly(at: number): void {
		if (this.#isFree) this.#rate = Math.max(FIRST_RATE, this.#answers.answered);
		this.#held.until(at);
	}

	/** Whether only the places in flight are a limit. */
	get #isFree(): boolean {
		return this.#isDoubling && this.#rate > FREE;
	}

	#step(step: Step | undefined, now: number): void {
		if (step === undefined) return;
		if (step.verdict === "trial") {
			this.#before = this.#rate;
			this.#unlimited ??= [this.#rate, this.#isDoubling];
			this.#rate = Math.max(FLOOR, this.#rate * step.take);
			this.#isDoubling = false;
			this.#cutAt = now;
			return;
		}
		const at = this.#before;
		if (step.verdict === "limit") {
			this.#cut({ rate: at * step.passed, because: "503", at }, at * step.passed * AFTER_REFUSAL, now);
		} else {
			// It was none before either: what was lowered for it would take minutes to rise.
			[this.#rate, this.#isDoubling] = this.#unlimited ?? [at, false];
			this.#unlimited = undefined;
		}
		this.#answers.judged(now);
	}

	#cut(ceiling: Finding, low: number, now: number): void {
		this.#ceiling = ceiling;
		this.#rate = this.#low = Math.max(FLOOR, low);
		this.#isDoubling = false;
		this.#climbed = 0;
		this.#cutAt = now;
		this.#since.answers = this.#since.refusals = 0;
		this.#answers.judged(now);
	}

	/** Raises or lowers the rate by what was seen at it. */
	#judge(now: number): void {
		const answers = this.#answers;
		const lasted = now - answers.since;
		const longest = answers.isFull ? LONGEST_FULL_MS : LONGEST_JUDGED_MS;
		if (answers.count < JUDGED_ANSWERS && lasted < longest) return;
		const { sends, isFull, count } = answers;
		answers.judged(now);
		if (this.#unavailable.isOpen) return;
		const used = (sends * 1000) / lasted / this.#held.of(this.#rate, now);
		this.#isBehind = isFull && used < KEPT_UP && !this.#isFree;
		const { answered, queue } = answers;
		if (this.#isBehind && count >= JUDGED_ANSWERS && queue > 0) {
			const rate = Math.min(this.#rate, answered);
			this.#cut({ rate, because: "latency", at: this.#rate }, rate * leftForQueue(queue, answered), now);
		} else if (used >= USED) this.#raise(lasted / 1000);
	}

	/** @param seconds in which the rate was used */
	#raise(seconds: number): void {
		const most = this.#cap ?? Number.POSITIVE_INFINITY;
		if (this.#isDoubling) this.#rate = Math.min(most, this.#rate * 2, 1024 * FREE);
		if (this.#isDoubling || this.#ceiling === undefined) return;
		this.#climbed += seconds;
		const climb = { ceiling: this.#ceiling.rate, low: this.#low, now: this.#rate, climbed: this.#climbed };
		this.#rate = Math.min(most, risen(climb));
	}
}
