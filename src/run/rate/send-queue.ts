import { RestError } from "../../rest/errors.ts";
import { onlyThrottled } from "../stop/reasons.ts";
import type { Request, Stop } from "../types.ts";
import { MAX_WAIT } from "./cooldown.ts";
import { MAX_OUTAGE, Outage } from "./outage.ts";
import type { RateControl } from "./rate-control.ts";

/** What a run says of its requests, and what its send queue needs of that. */
export type SendingOptions = {
	/** the pace of the session, which hears every answer and every refusal */
	readonly rates: RateControl;
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
 * Sends the requests of a run. A request takes a place in flight. It then waits for the end of an outage, for the cooldown
 * that the service asked for, and last for the limiter. If an outage began or ended meanwhile, it starts over.
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

	constructor(options: SendQueueOptions) {
		const { rates, maxOutage, onStop, onNote = () => undefined } = options;
		this.#options = options;
		const onBack = (): void => rates.controller.startSlowly(rates.clock.now());
		this.outage = new Outage({ clock: rates.unpaused, maxOutage, onNote, onStop, onBack });
	}

	/** Sends each request when its time has come, and resolves or rejects as that does. The signal ends the wait. */
	sender(signal: AbortSignal): Request {
		return async (request) => {
			const { rates, maxInFlight, onEnd } = this.#options;
			if (this.#inFlight < maxInFlight()) this.#inFlight += 1;
			else await new Promise<void>((resolve) => this.#waiting.push(resolve));
			const { outage } = this;
			try {
				let ticket: number;
				do {
					ticket = await outage.pass(signal);
					await rates.turn(signal);
				} while (!outage.isGood(ticket));
				outage.starts();
				this.#sent += 1;
				const sent = rates.sent(this.#sent >= FULL * maxInFlight());
				try {
					const answer = await request();
					this.#throttledSince = undefined;
					outage.succeededWith(ticket);
					rates.answered(sent);
					return answer;
				} catch (error) {
					const isTooFast = rates.failed(sent, error);
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
		const { cooldown, controller } = this.#options.rates;
		cooldown.extend(milliseconds);
		controller.startSlowly(cooldown.until);
	}

	/** Whether a failure, or its cause, belongs to an outage, or came as the request was too fast: then it says nothing about its row. */
	causeOf(error: RestError): { readonly outage: boolean; readonly tooFast: boolean } {
		const isIn = (errors: WeakSet<Error>): boolean =>
			errors.has(error) || (error.cause instanceof Error && errors.has(error.cause));
		return { outage: isIn(this.#lost), tooFast: isIn(this.#refused) };
	}

	#failed(ticket: number, error: RestError, isTooFast: boolean): void {
		if (isTooFast) this.#refused.add(error);
		if (this.outage.failedWith(ticket, error)) this.#lost.add(error);
		this.#options.rates.monitor.account();
		if (error.kind === "throttled") return this.#throttled(error);
		if (error.kind !== "not_sent" && error.kind !== "ambiguous") this.#throttledSince = undefined;
	}

	#throttled(error: RestError): void {
		const { rates, maxWait = MAX_WAIT, maxOutage = MAX_OUTAGE, onStop } = this.#options;
		const now = rates.unpaused.now();
		// At once, for any request: a row's attempt may send further ones.
		if (error.retryAfter !== undefined && error.retryAfter <= maxWait) this.pause(error.retryAfter);
		this.#throttledSince ??= now;
		if (now - this.#throttledSince >= maxOutage) onStop(onlyThrottled(error, maxOutage));
	}
}
