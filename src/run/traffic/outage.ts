import type { RestError } from "../../rest/errors.ts";
import { outage, timeText } from "../stops.ts";
import type { Clock, Stop } from "../types.ts";
import { Breaker, probeWait } from "./breaker.ts";
import { Failures } from "./failures.ts";

/** How long an outage is sat out, and how long a first answer is waited for, where the user does not say, in milliseconds. */
export const MAX_OUTAGE = 15 * 60_000;
const FIRST_ANSWER = 30_000;
/** Clocks and sums of waits are not exact to the last digit: a wait that ends now has ended. */
const EXACT = 1;

export type OutageOptions = {
	readonly clock: Clock;
	/** `--max-outage` in milliseconds, where it was given */
	readonly maxOutage: number | undefined;
	readonly onNote: (text: string) => void;
	readonly onStop: (stop: Stop) => void;
	/** the service is back */
	readonly onBack: () => void;
};

/** Whether the service is there: how each request ended goes in, and when it is gone nothing but probes comes out. */
export class Outage {
	readonly breaker: Breaker;
	readonly #options: OutageOptions;
	readonly #failures = new Failures();
	/** since when nothing but failures came, on the clock; before the first answer, since the first request */
	#since: number | undefined;
	#openedAt = 0;
	#probes = 0;
	#answered = false;
	#succeeded = false;

	constructor(options: OutageOptions) {
		this.#options = options;
		this.breaker = new Breaker(options.clock);
	}

	/** Whether the service has ever answered anything in this run. */
	get answered(): boolean {
		return this.#answered;
	}

	get succeeded(): boolean {
		return this.#succeeded;
	}

	/** Milliseconds until a service that is gone now has been gone for too long. */
	get left(): number {
		return this.#since === undefined ? Number.POSITIVE_INFINITY : this.#since + this.#limit - this.#options.clock.now();
	}

	starts(): void {
		if (!this.#answered) this.#since ??= this.#options.clock.now();
	}

	succeededWith(ticket: number): void {
		this.#answered = true;
		this.#succeeded = true;
		this.#alive(ticket);
	}

	/** A request failed. One that was under way when the breaker opened or closed says nothing about now. */
	failedWith(ticket: number, error: RestError): void {
		this.#answered ||= error.status !== undefined;
		if (passes(error)) this.#gone(ticket, error);
		else if (error.kind !== "throttled") this.#alive(ticket);
		// Somebody is there, and has no time: neither the end of an outage nor a part of it.
		else if (this.breaker.isOpen && this.breaker.isGood(ticket)) this.breaker.probeAfter(this.#nextProbe());
	}

	get #limit(): number {
		return this.#options.maxOutage ?? (this.#answered ? MAX_OUTAGE : FIRST_ANSWER);
	}

	#alive(ticket: number): void {
		const now = this.#options.clock.now();
		if (!this.breaker.isGood(ticket)) return;
		this.#since = undefined;
		if (!this.breaker.isOpen) return void this.#failures.add(false, now);
		this.#failures.forget();
		this.breaker.close();
		this.#options.onBack();
		this.#options.onNote(`The service answers again, after ${timeText(now - this.#openedAt)}: going on.`);
	}

	#gone(ticket: number, error: RestError): void {
		if (!this.breaker.isGood(ticket)) return;
		const { clock, onNote, onStop } = this.#options;
		const now = clock.now();
		this.#since ??= now;
		if (!this.breaker.isOpen && this.#failures.add(true, now)) {
			this.#openedAt = now;
			this.#probes = 0;
			// The text of an error is safe to show; how long is what a person at the terminal wants to know.
			onNote(`The service does not answer (${error.message}): waiting for it, ${timeText(this.#limit)} at most.`);
			this.breaker.open(this.#nextProbe());
		} else if (this.breaker.isOpen) this.breaker.probeAfter(this.#nextProbe());
		const certain = this.breaker.isOpen || !this.#answered || error.kind === "not_sent";
		if (certain && this.left < EXACT) onStop(outage(error, this.#limit));
	}

	/** The last probe is sent when the outage has lasted as long as it may. */
	#nextProbe(): number {
		return Math.min(Math.max(0, this.left), probeWait(this.#probes++, this.#options.clock.random()));
	}
}

/** Whether the same request may be answered well a little later. A refusal shows that somebody is there. */
function passes({ kind }: RestError): boolean {
	return kind === "not_sent" || kind === "ambiguous" || kind === "not_the_api";
}
