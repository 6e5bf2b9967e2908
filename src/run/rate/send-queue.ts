import { RestError } from "../../rest/errors.ts";
import type { Cooldown } from "./cooldown.ts";
import { onlyThrottled } from "../stop/reasons.ts";
import type { Answer } from "./concurrency-window.ts";
import type { Clock, Limiter, Stop } from "../types.ts";
import { AdaptiveRate } from "./adaptive-rate.ts";
import { Outage } from "./outage.ts";
import type { RunMonitor } from "./run-monitor.ts";

/** The longest time, in milliseconds, in which every answer asks to slow down, unless `--max-outage` is given. */
const MAX_THROTTLED_MS = 15 * 60_000;

export type SendQueueOptions = {
	readonly limiter: Limiter;
	/** the one cooldown of the process */
	readonly cooldown: Cooldown;
	/** observes each request */
	readonly monitor: RunMonitor;
	readonly clock: Clock;
	/** stands still while the run is paused: a pause is no part of an outage */
	readonly unpaused: Clock;
	/** requests a second at most; undefined for no cap */
	readonly rate: () => number | undefined;
	/** whether the rate is found while the run goes on: then it is lowered where it is found */
	readonly isFound?: () => boolean;
	/** `--max-outage` in milliseconds, where it was given */
	readonly maxOutage: number | undefined;
	/** the longest Retry-After that is waited for, in milliseconds */
	readonly maxWait: number;
	/** the most requests in flight; those that wait for their token count */
	readonly maxInFlight: () => number;
	readonly onAnswer: (answer: Answer) => void;
	readonly onNote: (text: string) => void;
	/** no further request makes sense */
	readonly onStop: (stop: Stop) => void;
};

/**
 * Sends the requests of a run, and adapts to their results.
 *
 * A request takes a place in flight. It then passes the breaker, the cooldown that the service asked for, the adaptive
 * rate, and last the limiter. If the breaker or the cooldown changed while it waited, it starts over and takes another
 * token.
 */
export class SendQueue {
	readonly outage: Outage;
	readonly #options: SendQueueOptions;
	readonly #rate: AdaptiveRate;
	readonly #lost = new WeakSet<Error>();
	/** the requests that wait for a place in flight, in the order of the calls */
	readonly #waiting: (() => void)[] = [];
	/** requests that hold a place in flight, and those of them that were sent */
	#inFlight = 0;
	#sent = 0;
	#throttledSince: number | undefined;

	constructor(options: SendQueueOptions) {
		const { clock, unpaused, rate } = options;
		this.#options = options;
		this.#rate = new AdaptiveRate(clock, rate);
		this.outage = new Outage({
			clock: unpaused,
			maxOutage: options.maxOutage,
			onNote: options.onNote,
			onStop: options.onStop,
			onBack: () => this.#rate.startSlowlyAfter(0),
		});
	}

	/** The lowered rate, in the form of `AdaptiveRate.lowered`. */
	get lowered(): AdaptiveRate["lowered"] {
		return this.#rate.lowered;
	}

	/** The most requests a second have changed. */
	rateChanged(): void {
		this.#rate.rateChanged();
	}

	/** Sends one request when its time has come, and resolves or rejects as the request does. */
	async send<Result>(request: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
		const { clock, limiter, cooldown, maxInFlight, monitor } = this.#options;
		if (this.#inFlight < maxInFlight()) this.#inFlight += 1;
		else await new Promise<void>((resolve) => this.#waiting.push(resolve));
		const { breaker } = this.outage;
		try {
			let ticket: number | undefined;
			do {
				if (ticket === undefined || !breaker.isGood(ticket)) {
					const next = breaker.pass(signal);
					ticket = typeof next === "number" ? next : await next;
				}
				if (cooldown.left > 0) await cooldown.over(signal);
				const slowed = this.#rate.take(signal);
				if (slowed !== undefined) await slowed;
				const token = limiter.take(signal);
				if (token !== undefined) await token;
			} while (cooldown.left > 0 || !breaker.isGood(ticket));
			this.outage.starts();
			const sent = clock.now();
			const inFlight = (this.#sent += 1);
			monitor.sent();
			try {
				const answer = await request();
				this.#options.onAnswer({ sent, came: clock.now(), inFlight });
				this.#rate.answered();
				this.#throttledSince = undefined;
				this.outage.succeededWith(ticket);
				monitor.answered(sent);
				return answer;
			} catch (error) {
				monitor.failed(sent, error);
				if (error instanceof RestError) {
					// A refusal is an answer too. Otherwise the concurrency would stay at its first limit while every row is refused.
					if (error.kind === "rejected") this.#options.onAnswer({ sent, came: clock.now(), inFlight });
					this.#failed(ticket, error);
				}
				throw error;
			} finally {
				this.#sent -= 1;
				// The end of a request may have opened or closed the breaker, or lowered the rate.
				monitor.account();
			}
		} finally {
			this.#inFlight -= 1;
			this.#admit();
		}
	}

	/** Gives the free places in flight to the requests that wait for one. */
	#admit(): void {
		while (this.#inFlight < this.#options.maxInFlight()) {
			const next = this.#waiting.shift();
			if (next === undefined) return;
			this.#inFlight += 1;
			next();
		}
	}

	/** Sends no request for that many milliseconds, and few at first afterwards. */
	pause(milliseconds: number): void {
		if (milliseconds <= 0) return;
		const { cooldown } = this.#options;
		cooldown.extend(milliseconds);
		this.#rate.startSlowlyAfter(cooldown.left);
	}

	/** Whether a failure, or its cause, belongs to an outage, and says nothing about its row. */
	wasLost(error: RestError): boolean {
		return this.#lost.has(error) || (error.cause instanceof Error && this.#lost.has(error.cause));
	}

	/** Stops the timer of the breaker. The run must have no request left. */
	close(): void {
		this.outage.breaker.end();
	}

	#failed(ticket: number, error: RestError): void {
		const { breaker } = this.outage;
		this.outage.failedWith(ticket, error);
		// Also the failure that opened the breaker: its ticket is no longer good.
		if (breaker.isOpen || !breaker.isGood(ticket)) this.#lost.add(error);
		if (error.kind === "throttled") return this.#throttled(error);
		if (error.kind !== "not_sent" && error.kind !== "ambiguous") this.#throttledSince = undefined;
	}

	#throttled(error: RestError): void {
		const { unpaused, maxWait, maxOutage = MAX_THROTTLED_MS, onStop } = this.#options;
		const now = unpaused.now();
		if (this.#options.isFound?.() !== true) this.#rate.lower();
		// At once, for any request: a row's attempt may send further ones.
		if (error.retryAfter !== undefined && error.retryAfter <= maxWait) this.pause(error.retryAfter);
		this.#throttledSince ??= now;
		if (now - this.#throttledSince >= maxOutage) onStop(onlyThrottled(error, maxOutage));
	}
}
