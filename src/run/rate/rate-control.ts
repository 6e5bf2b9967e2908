import { MAX_CONCURRENCY, minuteOfDay, rateAt, type RateChoice, type RateSetting } from "../../rates.ts";
import type { Clock } from "../types.ts";
import { Controller } from "./controller.ts";
import { RateLimiter } from "./limiter.ts";
import type { FoundRate } from "./found-rate.ts";
import type { RunMonitor } from "./run-monitor.ts";

/** The causes of a change of the rate, or of a pause. */
type AdjustedBy = "runs adjust" | "timetable";

/** A change of the rate, or the beginning or end of a pause. */
export type Adjustment = { readonly time: Date; readonly by: AdjustedBy } & (
	| { readonly kind: "rate"; readonly from: RateChoice; readonly to: RateChoice }
	| { readonly kind: "paused" | "continued" }
);

type RateControlOptions = {
	readonly setting: RateSetting;
	readonly clock: Clock;
	/** the wall clock, for timetables and for when the rate was changed */
	readonly date: () => Date;
	readonly monitor: Pick<RunMonitor, "paused" | "continued">;
	/** whether the user gave the rate */
	readonly isAsked?: boolean;
};

/** Requests in flight at most for a rate that the user asked for: 1,000 a second at 300 ms need 350. Each takes a connection. */
export const MOST_ASKED = 512;

/**
 * The most requests a second of a session: a rate or a timetable, which may be changed, and paused, while requests wait. It
 * is not asked at each request: it changes the limiter when it changes.
 */
export class RateControl {
	readonly limiter: RateLimiter;
	readonly controller: Controller;
	/** a clock that stands still during pauses: no outage lasts longer because the user paused */
	readonly unpaused: Clock;
	/** called after each change */
	onChange: (change: Adjustment) => void = () => undefined;
	readonly #options: RateControlOptions;
	#setting: RateSetting;
	#isAsked: boolean;
	#isEverAuto: boolean;
	/** the rate of the timetable that was applied last */
	#scheduled: RateChoice;
	#choice: RateChoice;
	#pausedSince: number | undefined;
	#pausedMs = 0;
	/** the caps of the session, and since when each holds */
	readonly #caps: { readonly at: number; readonly rate: number | undefined }[];
	#adjusted: readonly Adjustment[] = [];

	constructor(options: RateControlOptions) {
		const { setting, clock, date } = options;
		this.#options = options;
		this.#setting = setting;
		this.#isAsked = options.isAsked ?? false;
		this.#choice = this.#scheduled = rateAt(setting, minuteOfDay(date()));
		this.#isEverAuto = this.#choice === "auto";
		const now = clock.now();
		this.#caps = [{ at: now, rate: this.rate }];
		this.controller = new Controller(this.rate, now, () => this.#mostInFlight);
		this.limiter = new RateLimiter(this.rate, clock, () => this.controller.pace(clock.now()));
		this.unpaused = {
			now: () => (this.#pausedSince ?? clock.now()) - this.#pausedMs,
			sleep: (milliseconds, signal) => clock.sleep(milliseconds, signal),
			random: () => clock.random(),
		};
	}

	/** Requests a second at most; undefined for no cap. A pause does not change it. */
	get rate(): number | undefined {
		return typeof this.#choice === "number" ? this.#choice : undefined;
	}

	/** The rate that was chosen, or is scheduled now. */
	get now(): RateChoice {
		return this.#choice;
	}

	get setting(): RateSetting {
		return this.#setting;
	}

	/** What `auto` found so far; undefined where it was never asked for. */
	get found(): FoundRate | undefined {
		return this.#isEverAuto ? this.controller.found : undefined;
	}

	/** Requests a second that `auto` allows now; undefined where it is not chosen. */
	get searched(): number | undefined {
		return this.#choice === "auto" ? this.controller.found.rate : undefined;
	}

	/** 64, or as many as a rate needs that the user asked for. The default rate and no cap are no such wish. */
	get #mostInFlight(): number {
		return this.#isAsked && this.rate !== undefined ? MOST_ASKED : MAX_CONCURRENCY;
	}

	get isPaused(): boolean {
		return this.#pausedSince !== undefined;
	}

	/** The changes so far, in their order. */
	get adjusted(): readonly Adjustment[] {
		return this.#adjusted;
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
		const now = this.#options.clock.now();
		let sum = 0;
		for (const [index, { at, rate }] of this.#caps.entries()) {
			const lasted = (this.#caps[index + 1]?.at ?? now) - Math.max(at, start);
			if (lasted <= 0) continue;
			if (rate === undefined) return undefined;
			sum += rate * lasted;
		}
		return now > start ? sum / (now - start) : this.rate;
	}

	#apply(choice: RateChoice, by: AdjustedBy): void {
		const from = this.#choice;
		if (choice === from) return;
		const now = this.#options.clock.now();
		this.#choice = choice;
		this.#isEverAuto ||= choice === "auto";
		this.#caps.push({ at: now, rate: this.rate });
		this.controller.setCap(this.rate, now);
		this.limiter.setRate(this.rate);
		this.#note({ kind: "rate", from, to: choice, by, time: this.#options.date() });
	}

	#note(change: Adjustment): void {
		this.#adjusted = [...this.#adjusted, change];
		this.onChange(change);
	}
}
