/** What answers of 503 without the API's envelope turned out to be: a proxy's limit, or a fault. */
type Verdict = "unknown" | "limit" | "fault";

/** What a controller does after an answer: it takes a share of its rate for a trial, or learns the verdict. */
export type Step =
	| { readonly verdict: "trial"; readonly take: number }
	/** `passed`: the share that was not 503 before the trial */
	| { readonly verdict: "limit"; readonly passed: number }
	| { readonly verdict: "fault" };

/** Answers that are counted after a 503, and how many 503 among them make a limit likely. */
const WATCHED = 20;
const MANY = 3;

/** Answers of a trial: the fewest and the most, the 503 to be expected among them if they are faults, and those of a limit. */
const LEAST_TRIAL = 20;
const LONGEST_TRIAL = 200;
const EXPECTED = 6;
const BY_CHANCE = 1;

/** Share of the rate in a trial: half of it, or a little less than what passed. */
const HALF = 0.5;
const BELOW = 0.9;

/** Milliseconds for which a verdict holds without another 503, and after which a trial ends with what it has seen. */
const HOLDS_MS = 60_000;
const TRIAL_MS = 6_000;

/** Slower rates after which 503 came soon again, and the answers that are soon: then a limit is doubted. */
const DOUBTED_CUTS = 4;
const SOON = 50;

type Count = { readonly from: number; answers: number; unavailable: number };

/**
 * Whether 503 means "too fast". nginx refuses with 503 by default, and an overloaded service fails with it.
 *
 * Under a limit, half the rate is hardly refused; a fault is as frequent as before. So the rate is lowered for a moment once
 * 503 are frequent, and their share decides.
 */
export class Unavailable {
	#verdict: Verdict = "unknown";
	#until = Number.NEGATIVE_INFINITY;
	/** after a first 503, whether they are frequent; then, without that choice of a moment, how frequent */
	#watch: (Count & { readonly isMeasured: boolean }) | undefined;
	#trial: (Count & { readonly share: number; readonly needed: number }) | undefined;
	/** the answers since the rate was lowered, over several times that helped little */
	readonly #cuts = { count: 0, answers: 0, unavailable: 0 };

	/** Whether the rate must not change meanwhile. */
	get isOpen(): boolean {
		return this.#trial !== undefined || this.#watch !== undefined;
	}

	isLimit(now: number): boolean {
		return this.#verdict === "limit" && now < this.#until;
	}

	/** An answer came. @param sent when its request was sent, in milliseconds */
	answered(isUnavailable: boolean, sent: number, now: number): Step | undefined {
		if (this.#trial !== undefined) return this.#tried(isUnavailable, sent, now);
		if (isUnavailable && this.#verdict === "limit") this.#until = now + HOLDS_MS;
		if (now < this.#until) return undefined;
		const watch = this.#watch;
		if (watch === undefined) {
			if (isUnavailable) this.#watch = newWatch(now, false);
			return undefined;
		}
		count(watch, isUnavailable, sent);
		const { answers, unavailable, isMeasured } = watch;
		if (isMeasured && answers >= WATCHED) return this.#try(unavailable / answers, now);
		if (!isMeasured && unavailable >= MANY) this.#watch = newWatch(now, true);
		else if (answers >= WATCHED) this.#watch = undefined;
		return undefined;
	}

	/** The rate was lowered for a limit. @param answers since it was lowered before, of which so many were 503 */
	lowered(answers: number, unavailable: number, now: number): Step | undefined {
		const cuts = this.#cuts;
		const isSoon = answers < SOON;
		cuts.count = isSoon ? cuts.count + 1 : 0;
		cuts.answers = isSoon ? cuts.answers + answers : 0;
		cuts.unavailable = isSoon ? cuts.unavailable + unavailable : 0;
		if (cuts.count < DOUBTED_CUTS) return undefined;
		cuts.count = 0;
		return this.#try(cuts.unavailable / Math.max(1, cuts.answers), now);
	}

	#try(share: number, now: number): Step | undefined {
		this.#watch = undefined;
		// Where nothing succeeds, an outage is decided elsewhere.
		if (share <= 0 || share >= 1) return undefined;
		const needed = Math.min(LONGEST_TRIAL, Math.max(LEAST_TRIAL, Math.ceil(EXPECTED / share)));
		this.#trial = { from: now, answers: 0, unavailable: 0, share, needed };
		return { verdict: "trial", take: Math.min(HALF, BELOW * (1 - share)) };
	}

	#tried(isUnavailable: boolean, sent: number, now: number): Step | undefined {
		const trial = this.#trial;
		if (trial === undefined) return undefined;
		count(trial, isUnavailable, sent);
		const { from, answers, unavailable, needed, share } = trial;
		if (answers < needed && now - from < TRIAL_MS) return undefined;
		this.#trial = undefined;
		this.#until = now + HOLDS_MS;
		const isLimit = unavailable <= Math.max(BY_CHANCE, (share * answers) / 4);
		this.#verdict = isLimit ? "limit" : "fault";
		return isLimit ? { verdict: "limit", passed: 1 - share } : { verdict: "fault" };
	}
}

function newWatch(from: number, isMeasured: boolean): Count & { readonly isMeasured: boolean } {
	return { from, answers: 0, unavailable: 0, isMeasured };
}

function count(into: Count, isUnavailable: boolean, sent: number): void {
	if (sent < into.from) return;
	into.answers += 1;
	if (isUnavailable) into.unavailable += 1;
}
