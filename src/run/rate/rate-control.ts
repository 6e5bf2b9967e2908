import { minuteOfDay, type Rate, rateAt, type RateChoice, type RateSetting } from "../../rates.ts";
import type { Clock } from "../types.ts";
import { MAX_CONCURRENCY } from "./concurrency-search.ts";
import { CapHistory } from "./cap-history.ts";
import { type AdjustableLimiter, createLimiter } from "./limiter.ts";
import { type Answered, RateFinder } from "./rate-finder.ts";
import { type FoundRate, newRateSearch, rateSearchFrom } from "./rate-search.ts";
import type { RunMonitor } from "./run-monitor.ts";

/** The causes of a change of the rate, or of a pause. */
export type AdjustedBy = "runs adjust" | "timetable";

/** A change of the rate, or the beginning or end of a pause. */
export type Adjustment = { readonly time: Date; readonly by: AdjustedBy } & (
	| { readonly kind: "rate"; readonly from: RateChoice; readonly to: RateChoice }
	| { readonly kind: "paused" | "continued" }
);

export type RateControlOptions = {
	readonly setting: RateSetting;
	readonly clock: Clock;
	/** the wall clock, for timetables and for when the rate was changed */
	readonly date: () => Date;
	readonly monitor: Pick<RunMonitor, "paused" | "continued">;
	/** whether the user gave the rate */
	readonly isAsked?: boolean;
	/** requests in flight at most for a rate that the user gave */
	readonly mostAsked?: number;
	/** what an earlier run found at this address */
	readonly kept?: FoundRate | undefined;
};

/** Members of `RunOptions`. */
type RatesOfRows = {
	readonly unpaused: Clock;
	readonly rate: () => number | undefined;
	readonly onRateChange: (call: () => void) => () => void;
	readonly mostInFlight: () => number;
	readonly isFound: () => boolean;
};

/**
 * The most requests a second of a session: a rate or a timetable, which may be changed, and paused, while requests wait. It
 * is not asked at each request: it changes the limiter when it changes.
 */
export class RateControl {
	readonly limiter: AdjustableLimiter;
	/** a clock that stands still during pauses: no outage lasts longer because the user paused */
	readonly unpaused: Clock;
	readonly #options: RateControlOptions;
	readonly #listeners = new Set<(change: Adjustment) => void>();
	#setting: RateSetting;
	#isAsked: boolean;
	/** the rate of the timetable that was applied last */
	#scheduled: RateChoice;
	#choice: RateChoice;
	#now: Rate;
	/** finds the rate while the choice is `auto`; kept for the next time of a timetable */
	#finder: RateFinder | undefined;
	/** called after each change of the rate, also of one that is found */
	readonly #followers = new Set<() => void>();
	#pausedSince: number | undefined;
	#pausedMs = 0;
	readonly #caps = new CapHistory();
	#adjusted: readonly Adjustment[] = [];

	constructor(options: RateControlOptions) {
		const { setting, clock, date } = options;
		this.#options = options;
		this.#setting = setting;
		this.#isAsked = options.isAsked ?? false;
		this.#choice = this.#scheduled = rateAt(setting, minuteOfDay(date()));
		this.#now = this.#rateOf(this.#choice, undefined);
		this.#caps.add(clock.now(), this.rate);
		this.limiter = createLimiter(this.rate, clock);
		this.unpaused = {
			now: () => (this.#pausedSince ?? clock.now()) - this.#pausedMs,
			sleep: (milliseconds, signal) => clock.sleep(milliseconds, signal),
			random: () => clock.random(),
		};
	}

	/** Requests a second that may start now; undefined for no cap. A pause does not change it. */
	get rate(): number | undefined {
		return this.#now === "unlimited" ? undefined : this.#now;
	}

	/** The rate that was chosen, or is scheduled now. */
	get now(): RateChoice {
		return this.#choice;
	}

	get setting(): RateSetting {
		return this.#setting;
	}

	/**
	 * Requests that `--concurrency auto` may have in flight: 64, or as many as a rate needs that the user asked for. The default
	 * rate and no cap are no such wish.
	 */
	get mostInFlight(): number {
		const { mostAsked = MAX_CONCURRENCY } = this.#options;
		return this.#isAsked && typeof this.#choice === "number" ? Math.max(MAX_CONCURRENCY, mostAsked) : MAX_CONCURRENCY;
	}

	/** What the rows of a run need of it. */
	get forRows(): RatesOfRows {
		return {
			unpaused: this.unpaused,
			rate: () => this.rate,
			onRateChange: (call) => {
				this.#followers.add(call);
				return () => void this.#followers.delete(call);
			},
			mostInFlight: () => this.mostInFlight,
			isFound: () => this.#choice === "auto",
		};
	}

	/** What was found so far; undefined where no rate was looked for. */
	get found(): FoundRate | undefined {
		return this.#finder?.found;
	}

	/** Requests a second that `auto` allows now; undefined where the rate is not looked for now. */
	get searched(): number | undefined {
		return this.#choice === "auto" ? this.rate : undefined;
	}

	/** A request was answered: the rate may change where it is looked for. */
	answered(answer: Answered): void {
		const finder = this.#finder;
		if (this.#choice === "auto" && finder?.answered(answer) === true) this.#set(finder.rate);
	}

	get isPaused(): boolean {
		return this.#pausedSince !== undefined;
	}

	/** The changes so far, in their order. */
	get adjusted(): readonly Adjustment[] {
		return this.#adjusted;
	}

	/** Calls back after each change, until the returned function is called. */
	onChange(call: (change: Adjustment) => void): () => void {
		this.#listeners.add(call);
		return () => void this.#listeners.delete(call);
	}

	/** From now on this rate or timetable holds. */
	change(setting: RateSetting, by: AdjustedBy): void {
		this.#setting = setting;
		this.#isAsked = true;
		this.#scheduled = rateAt(setting, minuteOfDay(this.#options.date()));
		this.#apply(this.#scheduled, by);
	}

	/** Takes the rate that the timetable has now. Called each second. */
	tick(): void {
		if (typeof this.#setting !== "object") return;
		const scheduled = rateAt(this.#setting, minuteOfDay(this.#options.date()));
		if (scheduled === this.#scheduled) return;
		this.#scheduled = scheduled;
		this.#apply(scheduled, "timetable");
	}

	pause(by: AdjustedBy): void {
		if (this.isPaused) return;
		this.#pausedSince = this.#options.clock.now();
		this.limiter.pause();
		this.#options.monitor.paused(by);
		this.#note({ kind: "paused", by, time: this.#options.date() });
	}

	continue(by: AdjustedBy): void {
		if (this.#pausedSince === undefined) return;
		this.#pausedMs += this.#options.clock.now() - this.#pausedSince;
		this.#pausedSince = undefined;
		this.#options.monitor.continued();
		this.limiter.resume();
		this.#note({ kind: "continued", by, time: this.#options.date() });
	}

	/** The mean of the most requests a second since a time on the clock; undefined where a part of it had no cap. */
	meanSince(start: number): number | undefined {
		return this.#caps.meanSince(start, this.#options.clock.now());
	}

	#apply(choice: RateChoice, by: AdjustedBy): void {
		const from = this.#choice;
		if (choice === from) return;
		const before = this.rate;
		this.#choice = choice;
		this.#set(this.#rateOf(choice, before));
		this.#note({ kind: "rate", from, to: choice, by, time: this.#options.date() });
	}

	#set(rate: Rate): void {
		this.#now = rate;
		this.#caps.add(this.#options.clock.now(), this.rate);
		this.limiter.setRate(this.rate);
		for (const call of this.#followers) call();
	}

	/** The rate of a choice. @param before the rate from which the search for one goes on */
	#rateOf(choice: RateChoice, before: number | undefined): Rate {
		if (choice !== "auto") return choice;
		const { clock, kept } = this.#options;
		const now = clock.now();
		const search = before === undefined ? newRateSearch(kept) : rateSearchFrom(before);
		this.#finder = this.#finder?.again(now) ?? new RateFinder(now, search);
		return this.#finder.rate;
	}

	#note(change: Adjustment): void {
		this.#adjusted = [...this.#adjusted, change];
		for (const call of this.#listeners) call(change);
	}
}
