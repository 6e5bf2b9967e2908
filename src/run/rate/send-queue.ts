import { RestError } from "../../rest/errors.ts";
import { onlyThrottled } from "../stop/reasons.ts";
import type { Clock, Limiter, Request, Stop } from "../types.ts";
import type { Controller } from "./controller.ts";
import { type Cooldown, MAX_WAIT } from "./cooldown.ts";
import { Outage } from "./outage.ts";
import { type Reporter, reporterTo } from "./reporter.ts";
import type { RunMonitor } from "./run-monitor.ts";

/** The longest time, in milliseconds, in which every answer asks to slow down, unless `--max-outage` is given. */
const MAX_THROTTLED_MS = 15 * 60_000;

/** What a run says of its requests, and what its send queue needs of that. */
export type SendingOptions = {
	readonly limiter: Limiter;
	/** the one cooldown of the process */
	readonly cooldown: Cooldown;
	/** observes the state of the run and its causes */
	readonly monitor: RunMonitor;
	readonly clock: Clock;
	/** stands still while the run is paused: a pause is no part of an outage; `clock` unless given */
	readonly unpaused?: Clock;
	/** hears every answer and every refusal; says how many requests a second are sent, and with `auto` how many are in flight */
	readonly controller: Controller;
	/**
	 * the longest outage, in milliseconds; a quarter of an hour unless given. If given, it also limits the wait for the
	 * first answer, which otherwise is half a minute
	 */
	readonly maxOutage?: number | undefined;
	/** the longest Retry-After that is waited for, in milliseconds; five minutes unless given */
	readonly maxWait?: number | undefined;
	/** takes a sentence for the user, when an outage begins or ends */
	readonly onNote?: (text: string) => void;
};

type SendQueueOptions = SendingOptions & {
	/** the most requests in flight; those that wait for their token count */
	readonly maxInFlight: () => number;
	/** called after each request: the places may have changed */
	readonly onEnd: () => void;
	/** no further request makes sense */
	readonly onStop: (stop: Stop) => void;
};

/** Share of the places from which few are free: then the service may not keep up. */
const FULL = 0.8;

/**
 * Sends the requests of a run. A request takes a place in flight. It then passes the breaker, the cooldown that the service
 * asked for, and last the limiter. If the breaker or the cooldown changed while it waited, it starts over.
 */
export class SendQueue {
	readonly outage: Outage;
	readonly #options: SendQueueOptions;
	readonly #reporter: Reporter;
	readonly #lost = new WeakSet<Error>();
	/** refusals for speed */
	readonly #refused = new WeakSet<Error>();
	/** the requests that wait for a place in flight, in the order of the calls */
	readonly #waiting: (() => void)[] = [];
	/** requests that hold a place in flight, and those of them that were sent */
	#inFlight = 0;
	#sent = 0;
	#throttledSince: number | undefined;

	constructor(options: SendQueueOptions) {
		const { clock, unpaused = clock, controller, onNote = () => undefined } = options;
		this.#options = options;
		this.#reporter = reporterTo(controller, options.monitor, clock);
		this.outage = new Outage({
			clock: unpaused,
			maxOutage: options.maxOutage,
			onNote,
			onStop: options.onStop,
			onBack: () => controller.startSlowly(clock.now()),
		});
	}

	/** Sends each request when its time has come, and resolves or rejects as that does. The signal ends the wait. */
	sender(signal: AbortSignal): Request {
		return async (request) => {
			const { limiter, cooldown, maxInFlight, onEnd } = this.#options;
			if (this.#inFlight < maxInFlight()) this.#inFlight += 1;
			else await new Promise<void>((resolve) => this.#waiting.push(resolve));
			const { breaker } = this.outage;
			try {
				let ticket: number | undefined;
				do {
					if (ticket === undefined || !breaker.isGood(ticket)) ticket = await breaker.pass(signal);
					await cooldown.over(signal);
					await limiter.take(signal);
				} while (cooldown.left > 0 || !breaker.isGood(ticket));
				this.outage.starts();
				this.#sent += 1;
				const sent = this.#reporter.sent(this.#sent >= FULL * maxInFlight());
				try {
					const answer = await request();
					this.#throttledSince = undefined;
					this.outage.succeededWith(ticket);
					this.#reporter.answered(sent);
					return answer;
				} catch (error) {
					const isTooFast = this.#reporter.failed(sent, error);
					if (error instanceof RestError) this.#failed(ticket, error, isTooFast);
					throw error;
				} finally {
					this.#sent -= 1;
					onEnd();
				}
			} finally {
				this.#inFlight -= 1;
				this.#admit();
			}
		};
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
		const { cooldown, controller } = this.#options;
		cooldown.extend(milliseconds);
		controller.startSlowly(cooldown.until);
	}

	/** Whether a failure, or its cause, belongs to an outage, and says nothing about its row. */
	wasLost(error: RestError): boolean {
		return this.#lost.has(error) || (error.cause instanceof Error && this.#lost.has(error.cause));
	}

	/** Whether a request was refused as it came too fast, and says nothing about its row. */
	wasTooFast(error: RestError): boolean {
		return this.#refused.has(error) || (error.cause instanceof Error && this.#refused.has(error.cause));
	}

	/** Stops the timer of the breaker. The run must have no request left. */
	close(): void {
		this.outage.breaker.end();
	}

	#failed(ticket: number, error: RestError, isTooFast: boolean): void {
		const { breaker } = this.outage;
		if (isTooFast) this.#refused.add(error);
		this.outage.failedWith(ticket, error);
		// Also the failure that opened the breaker: its ticket is no longer good.
		if (breaker.isOpen || !breaker.isGood(ticket)) this.#lost.add(error);
		this.#options.monitor.account();
		if (error.kind === "throttled") return this.#throttled(error);
		if (error.kind !== "not_sent" && error.kind !== "ambiguous") this.#throttledSince = undefined;
	}

	#throttled(error: RestError): void {
		const { clock, unpaused = clock, maxWait = MAX_WAIT } = this.#options;
		const { maxOutage = MAX_THROTTLED_MS, onStop } = this.#options;
		const now = unpaused.now();
		// At once, for any request: a row's attempt may send further ones.
		if (error.retryAfter !== undefined && error.retryAfter <= maxWait) this.pause(error.retryAfter);
		this.#throttledSince ??= now;
		if (now - this.#throttledSince >= maxOutage) onStop(onlyThrottled(error, maxOutage));
	}
}
