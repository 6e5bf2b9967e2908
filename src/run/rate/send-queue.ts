import { RestError } from "../../rest/errors.ts";
import { durationText, onlyThrottled } from "../stop/reasons.ts";
import type { Clock, Limiter, Request, Stop } from "../types.ts";
import type { Controller } from "./controller.ts";
import { type Cooldown, MAX_WAIT } from "./cooldown.ts";
import { Outage } from "./outage.ts";
import type { RunMonitor } from "./run-monitor.ts";

/** The longest time, in milliseconds, in which every answer asks to slow down, unless `--max-outage` is given. */
const MAX_THROTTLED_MS = 15 * 60_000;

/** After that time of it, in milliseconds, a note says so: without a progress line nothing else does. */
const THROTTLED_NOTED_MS = 60_000;

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
	readonly #lost = new WeakSet<Error>();
	/** refusals for speed */
	readonly #refused = new WeakSet<Error>();
	/** the requests that wait for a place in flight, in the order of the calls */
	readonly #waiting: (() => void)[] = [];
	/** requests that hold a place in flight, and those of them that were sent */
	#inFlight = 0;
	#sent = 0;
	#throttledSince: number | undefined;
	/** the beginning that the last note was of */
	#noted: number | undefined;

	constructor(options: SendQueueOptions) {
		const { clock, unpaused = clock, controller, onNote = () => undefined } = options;
		this.#options = options;
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
			const { clock, limiter, cooldown, maxInFlight, monitor, controller, onEnd } = this.#options;
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
					const token = limiter.take(signal);
					if (token !== undefined) await token;
				} while (cooldown.left > 0 || !breaker.isGood(ticket));
				this.outage.starts();
				const sent = clock.now();
				this.#sent += 1;
				controller.sent(sent, this.#sent >= FULL * maxInFlight());
				monitor.sent();
				try {
					const answer = await request();
					controller.answered(sent, clock.now());
					this.#throttledSince = undefined;
					this.outage.succeededWith(ticket);
					monitor.answered(sent);
					return answer;
				} catch (error) {
					monitor.failed(sent, error);
					if (error instanceof RestError) {
						if (hear(controller, error, sent, clock.now())) this.#refused.add(error);
						this.#failed(ticket, error);
					}
					throw error;
				} finally {
					this.#sent -= 1;
					onEnd();
					// The end of a request may have opened or closed the breaker, or lowered the rate.
					monitor.account();
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

	#failed(ticket: number, error: RestError): void {
		const { breaker } = this.outage;
		this.outage.failedWith(ticket, error);
		// Also the failure that opened the breaker: its ticket is no longer good.
		if (breaker.isOpen || !breaker.isGood(ticket)) this.#lost.add(error);
		if (error.kind === "throttled") return this.#throttled(error);
		if (error.kind !== "not_sent" && error.kind !== "ambiguous") this.#throttledSince = undefined;
	}

	#throttled(error: RestError): void {
		const { clock, unpaused = clock, maxWait = MAX_WAIT } = this.#options;
		const { maxOutage = MAX_THROTTLED_MS, onNote, onStop } = this.#options;
		const now = unpaused.now();
		// At once, for any request: a row's attempt may send further ones.
		if (error.retryAfter !== undefined && error.retryAfter <= maxWait) this.pause(error.retryAfter);
		this.#throttledSince ??= now;
		const lasted = now - this.#throttledSince;
		if (lasted >= maxOutage) onStop(onlyThrottled(error, maxOutage));
		else if (lasted >= THROTTLED_NOTED_MS && this.#noted !== this.#throttledSince) {
			this.#noted = this.#throttledSince;
			const [since, most] = [lasted, maxOutage].map((time) => durationText(time));
			onNote?.(`The service has only asked to slow down for ${since} (${error.message}): going on, ${most} at most.`);
		}
	}
}

/** Tells a controller how a request failed. @returns whether it was refused as it came too fast */
export function hear(controller: Controller, error: RestError, sent: number, now: number): boolean {
	if (error.kind === "throttled") {
		controller.refused(sent, now, error.status === 503 ? "503" : "429");
		return true;
	}
	if (error.status === 503 && error.isForeign) return controller.unavailable(sent, now);
	// A refusal of the row is an answer as any other.
	if (error.kind === "rejected" || error.kind === "contradiction") controller.answered(sent, now);
	else controller.failed(sent, now);
	return false;
}
