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

/**
 * Share of 503 from which it says nothing about the rate: a service that counts what it refuses refuses everything. So a trial
 * at half the rate comes first, and deeper ones follow as long as they bring the share of 503 to this part of it.
 */
const ALL = 0.9;
const HELPS = 0.9;
const MOSTLY = 0.5;
const DEEPEST = 0.05;

/** Milliseconds for which a verdict holds without another 503, and after which a trial ends with what it has seen. */
const HOLDS_MS = 60_000;
const TRIAL_MS = 6_000;

/** The same where fewer came than `LEAST_TRIAL`, at a low rate: so few seem to be a limit whatever they are. */
const SLOW_TRIAL_MS = 30_000;

/** Slower rates after which 503 came soon again, and the answers that are soon: then a limit is doubted. */
const DOUBTED_CUTS = 4;
const SOON = 50;

/** Milliseconds after which a 503 counts though no request that was sent later has succeeded. */
const LONGEST_ANSWER_MS = 2_000;

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
	#trial: (Count & { readonly share: number; readonly needed: number; readonly isDeep: boolean }) | undefined;
	/**
	 * when the 503 were sent that are not counted yet. They come at once, and a success takes its time: counted as they come,
	 * they would be all that there is
	 */
	readonly #early: number[] = [];
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
		if (isUnavailable && this.#verdict === "limit") this.#until = Math.max(this.#until, now + HOLDS_MS);
		if (isUnavailable) this.#early.push(sent);
		const counted = Math.max(now - LONGEST_ANSWER_MS, isUnavailable ? Number.NEGATIVE_INFINITY : sent);
		for (let first = this.#early[0]; first !== undefined && first <= counted; first = this.#early[0]) {
			this.#early.shift();
			const step = this.#count(true, first, now);
			if (step !== undefined) return step;
		}
		return isUnavailable ? undefined : this.#count(false, sent, now);
	}

	#count(isUnavailable: boolean, sent: number, now: number): Step | undefined {
		if (this.#trial !== undefined) return this.#tried(isUnavailable, sent, now);
		if (now < this.#until) return undefined;
		const watch = this.#watch;
		if (watch === undefined) {
			if (isUnavailable) this.#watch = newWatch(sent, false);
			return undefined;
		}
		count(watch, isUnavailable, sent);
		const { answers, unavailable, isMeasured } = watch;
		if (isMeasured && answers >= WATCHED) return this.#try(unavailable / answers, now);
		if (!isMeasured && unavailable >= MANY) this.#watch = newWatch(sent, true);
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

	#try(share: number, now: number, isDeep = share < ALL): Step | undefined {
		this.#watch = undefined;
		if (share <= 0) return undefined;
		const needed = Math.min(LONGEST_TRIAL, Math.max(LEAST_TRIAL, Math.ceil(EXPECTED / share)));
		this.#trial = { from: now, answers: 0, unavailable: 0, share, needed, isDeep };
		return { verdict: "trial", take: isDeep ? Math.min(HALF, BELOW * Math.max(DEEPEST, 1 - share)) : HALF };
	}

	#tried(isUnavailable: boolean, sent: number, now: number): Step | undefined {
		const trial = this.#trial;
		if (trial === undefined) return undefined;
		count(trial, isUnavailable, sent);
		// Where refusals count, too, they end a moment after the rate was lowered: what comes then is counted.
		if (!trial.isDeep && trial.unavailable === trial.answers && now - trial.from < TRIAL_MS) {
			trial.answers = trial.unavailable = 0;
			return undefined;
		}
		const { from, answers, unavailable, needed, share, isDeep } = trial;
		const longest = answers < LEAST_TRIAL ? SLOW_TRIAL_MS : TRIAL_MS;
		if (answers < needed && now - from < longest) return undefined;
		this.#trial = undefined;
		const isLimit = unavailable < answers && unavailable <= Math.max(BY_CHANCE, (share * answers) / 4);
		const left = unavailable / answers;
		const mayHelp = isDeep ? share >= MOSTLY && left < HELPS * share : left < 1;
		if (!isLimit && mayHelp) return this.#try(left, now, true);
		this.#until = now + HOLDS_MS;
		this.#verdict = isLimit ? "limit" : "fault";
		const passed = isDeep ? Math.max(DEEPEST, 1 - share) : HALF;
		return isLimit ? { verdict: "limit", passed } : { verdict: "fault" };
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
