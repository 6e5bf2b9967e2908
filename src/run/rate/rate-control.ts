import { MAX_CONCURRENCY, minuteOfDay, rateAt, type RateChoice, type RateSetting } from "../../rates.ts";
import { RestError } from "../../rest/errors.ts";
import type { Clock } from "../types.ts";
import { Controller } from "./controller.ts";
import { type Cooldown, MAX_WAIT } from "./cooldown.ts";
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
	/** observes the state of the command and its causes; it has the one cooldown of the process */
	readonly monitor: RunMonitor;
	/** whether the user gave the rate */
	readonly isAsked?: boolean;
};

/** Requests in flight at most for a rate that the user asked for: 1,000 a second at 300 ms need 350. Each takes a connection. */
export const MOST_ASKED = 512;

/**
 * The pace of a session. Its most requests a second are a rate or a timetable, which may be changed, and paused, while
 * requests wait. Every request waits for its turn here, and is reported to the controller, from which the rate follows, and
 * to the monitor, which shows the state.
 */
export class RateControl {
	readonly limiter: RateLimiter;
	readonly controller: Controller;
	readonly cooldown: Cooldown;
	readonly monitor: RunMonitor;
	readonly clock: Clock;
	/** a clock that stands still during pauses: no outage lasts longer because the user paused */
	readonly unpaused: Clock;
	/** the changes so far, in their order */
	readonly adjusted: Adjustment[] = [];
	/** called after each change */
	onChange: (change: Adjustment) => void = () => undefined;
	readonly #options: RateControlOptions;
	/** the rate or the timetable that holds */
	setting: RateSetting;
	#isAsked: boolean;
	#isEverAuto: boolean;
	/** the rate that was chosen, or is scheduled now */
	#choice: RateChoice;
	#pausedSince: number | undefined;
	#pausedMs = 0;

	constructor(options: RateControlOptions) {
		const { setting, clock, date, monitor } = options;
		this.#options = options;
		this.cooldown = monitor.cooldown;
		this.monitor = monitor;
		this.clock = clock;
		this.setting = setting;
		this.#isAsked = options.isAsked ?? false;
		this.#choice = rateAt(setting, minuteOfDay(date()));
		this.#isEverAuto = this.#choice === "auto";
		this.controller = new Controller(this.rate, clock.now(), () => this.#mostInFlight);
		this.limiter = new RateLimiter(this.rate, clock, () => this.controller.pace(clock.now()));
		this.unpaused = {
			now: () => (this.#pausedSince ?? clock.now()) - this.#pausedMs,
			sleep: (milliseconds, signal) => clock.sleep(milliseconds, signal),
			random: () => clock.random(),
		};
	}

	/** Sends one request when its turn has come, and resolves or rejects as that does. A run of rows has its own queue. */
	async send<Answer>(request: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
		await this.turn(signal);
		const sent = this.sent();
		try {
			const answer = await request();
			this.answered(sent);
			return answer;
		} catch (error) {
			this.failed(sent, error);
			// At once, whether or not this request is retried: the other requests must wait too.
			const wait = error instanceof RestError ? (error.retryAfter ?? 0) : 0;
			if (wait <= MAX_WAIT) this.cooldown.extend(wait);
			throw error;
		}
	}

	/** Resolves when the wait that the service asked for is over, and the limiter lets a request go. */
	async turn(signal?: AbortSignal): Promise<void> {
		do {
			await this.cooldown.over(signal);
			await this.limiter.take(signal);
			// A cooldown that began while this request waited for its token applies to it too. It then takes another token.
		} while (this.cooldown.left > 0);
	}

	/** A request goes out. @param isFull whether few more may be in flight. @returns the time */
	sent(isFull = false): number {
		const now = this.clock.now();
		this.controller.sent(now, isFull);
		this.monitor.sent();
		return now;
	}

	answered(sent: number): void {
		this.controller.answered(sent, this.clock.now());
		this.monitor.answered(sent);
	}

	/** @returns whether the request was refused as it came too fast */
	failed(sent: number, error: unknown): boolean {
		this.monitor.failed(sent, error);
		const now = this.clock.now();
		if (!(error instanceof RestError)) return false;
		if (error.kind === "throttled") {
			this.controller.refused(sent, now, error.status === 503 ? "503" : "429");
			return true;
		}
		if (error.status === 503 && error.isForeign) return this.controller.unavailable(sent, now);
		// A refusal of the row is an answer as any other.
		if (error.isRefusal) this.controller.answered(sent, now);
		else this.controller.failed(sent, now);
		return false;
	}

	/** Requests a second at most; undefined for no cap. A pause does not change it. */
	get rate(): number | undefined {
		return typeof this.#choice === "number" ? this.#choice : undefined;
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

	/** From now on this rate or timetable holds. */
	change(setting: RateSetting): void {
		this.setting = setting;
		this.#isAsked = true;
		this.#apply("runs adjust");
	}

	/** Takes the rate that the timetable has now. Called each second. */
	tick(): void {
		if (typeof this.setting === "object") this.#apply("timetable");
	}

	/** Holds all requests, or lets them go on. */
	pause(isPaused: boolean): void {
		if (isPaused === this.isPaused) return;
		const now = this.clock.now();
		this.#pausedMs += now - (this.#pausedSince ?? now);
		this.#pausedSince = isPaused ? now : undefined;
		const by = "runs adjust";
		this.monitor.paused(isPaused ? by : undefined);
		this.limiter.pause(isPaused);
		this.#note({ kind: isPaused ? "paused" : "continued", by, time: this.#options.date() });
	}

	#apply(by: AdjustedBy): void {
		const [from, time] = [this.#choice, this.#options.date()];
		const to = rateAt(this.setting, minuteOfDay(time));
		if (to === from) return;
		this.#choice = to;
		this.#isEverAuto ||= to === "auto";
		this.controller.setCap(this.rate, this.clock.now());
		this.limiter.setRate(this.rate);
		this.#note({ kind: "rate", from, to, by, time });
	}

	#note(change: Adjustment): void {
		this.adjusted.push(change);
		this.onChange(change);
	}
}
