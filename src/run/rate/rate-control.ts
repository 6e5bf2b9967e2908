import { minuteOfDay, type Rate, rateAt, type RateSetting } from "../../rates.ts";
import type { Clock } from "../types.ts";
import { type AdjustableLimiter, createLimiter } from "./limiter.ts";
import type { RunMonitor } from "./run-monitor.ts";

/** The causes of a change of the rate, or of a pause. */
export type AdjustedBy = "runs adjust" | "keys" | "timetable";

/** A change of the rate, or the beginning or end of a pause. */
export type Adjustment = { readonly time: Date; readonly by: AdjustedBy } & (
	| { readonly kind: "rate"; readonly from: Rate; readonly to: Rate }
	| { readonly kind: "paused" | "continued" }
);

export type RateControlOptions = {
	readonly setting: RateSetting;
	readonly clock: Clock;
	/** the wall clock, for timetables and for when the rate was changed */
	readonly date: () => Date;
	readonly monitor: Pick<RunMonitor, "paused" | "continued">;
};

/** Milliseconds within which changes by keys count as one. */
const ONE_CHANGE_MS = 5_000;

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
	/** the rate of the timetable that was applied last */
	#scheduled: Rate;
	#now: Rate;
	#pausedSince: number | undefined;
	#pausedMs = 0;
	/** the caps so far, and when each began on the clock */
	readonly #caps: { readonly at: number; readonly rate: Rate }[];
	#adjusted: readonly Adjustment[] = [];

	constructor(options: RateControlOptions) {
		const { setting, clock, date } = options;
		this.#options = options;
		this.#setting = setting;
		this.#now = this.#scheduled = rateAt(setting, minuteOfDay(date()));
		this.#caps = [{ at: clock.now(), rate: this.#now }];
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

	get now(): Rate {
		return this.#now;
	}

	get setting(): RateSetting {
		return this.#setting;
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
		this.#scheduled = rateAt(setting, minuteOfDay(this.#options.date()));
		this.#apply(this.#scheduled, by);
	}

	/** Another rate holds, until the next time of a timetable. */
	changeForNow(rate: number, by: AdjustedBy): void {
		if (typeof this.#setting !== "object") this.#setting = this.#scheduled = rate;
		this.#apply(rate, by);
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

	/**
	 * The mean of the most requests a second since a time on the clock; undefined where there was no cap for a part of it.
	 */
	meanSince(start: number): number | undefined {
		const now = this.#options.clock.now();
		let sum = 0;
		for (const [index, { at, rate }] of this.#caps.entries()) {
			const until = this.#caps[index + 1]?.at ?? now;
			const lasted = until - Math.max(at, start);
			if (lasted <= 0) continue;
			if (rate === "unlimited") return undefined;
			sum += rate * lasted;
		}
		return now > start ? sum / (now - start) : this.rate;
	}

	#apply(rate: Rate, by: AdjustedBy): void {
		const from = this.#now;
		if (rate === from) return;
		const { clock, date } = this.#options;
		this.#now = rate;
		this.#caps.push({ at: clock.now(), rate });
		this.limiter.setRate(this.rate);
		this.#note({ kind: "rate", from, to: rate, by, time: date() });
	}

	/** Keeps a change. A key that is held down is one change. */
	#note(change: Adjustment): void {
		const last = this.#adjusted.at(-1);
		const isSame =
			change.kind === "rate" &&
			last?.kind === "rate" &&
			change.by === "keys" &&
			last.by === "keys" &&
			change.time.getTime() - last.time.getTime() < ONE_CHANGE_MS;
		this.#adjusted = isSame
			? [...this.#adjusted.slice(0, -1), { ...change, from: last.from }]
			: [...this.#adjusted, change];
		for (const call of this.#listeners) call(change);
	}
}
