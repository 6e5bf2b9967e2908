import { DATABASE_AWAY, type RestError } from "../../rest/errors.ts";
import { noLongerAccepted, outage, durationText } from "../stop/reasons.ts";
import type { Clock, Stop } from "../types.ts";
import { Breaker, probeWait } from "./breaker.ts";

/** The longest wait for the end of an outage, and for a first answer, in milliseconds, unless `--max-outage` is given. */
export const MAX_OUTAGE = 15 * 60_000;
const FIRST_ANSWER_MS = 30_000;

/**
 * Milliseconds for which an accepted key may be refused before the refusal counts. RAGFlow from v0.25 on answers 401
 * while its database is away. A database that restarts after a power cut is back within two minutes. So a revoked key
 * is reported after two minutes at most.
 */
export const DOUBTED_FOR = 2 * 60_000;

/** Tolerance in milliseconds: clocks and sums of waits are not exact to the last digit. */
const TOLERANCE_MS = 1;

/** Consecutive failed requests, of any rows, after which the service counts as unreachable. */
const IN_A_ROW = 20;

/** An outage that is going on: how many milliseconds it has lasted and may last, and the latest failure. */
export type OngoingOutage = {
	readonly lasted: number;
	readonly limit: number;
	/** milliseconds until the next probe; 0 while it is under way */
	readonly probeIn: number;
	readonly error: RestError;
};

type OutageOptions = {
	/** stands still while the run is paused */
	readonly clock: Clock;
	/** `--max-outage` in milliseconds, where it was given */
	readonly maxOutage: number | undefined;
	readonly onNote: (text: string) => void;
	readonly onStop: (stop: Stop) => void;
	/** the service is back */
	readonly onBack: () => void;
};

/** Detects outages of the service from the end of each request. During an outage only probes pass. */
export class Outage {
	readonly breaker: Breaker;
	readonly #options: OutageOptions;
	/** consecutive failed requests */
	#inARow = 0;
	/** start of the latest consecutive failures, on the clock; before any answer, start of the first request */
	#since: number | undefined;
	/** time of the first of the latest consecutive refusals of an accepted key, on the clock */
	#doubtedSince: number | undefined;
	#openedAt = 0;
	#probes = 0;
	#latest: RestError | undefined;
	/** whether the service has ever answered anything in this run */
	answered = false;
	/** requests that succeeded */
	successes = 0;

	constructor(options: OutageOptions) {
		this.#options = options;
		this.breaker = new Breaker(options.clock);
	}

	/** The outage for which the breaker is open; undefined while the service answers. */
	get ongoing(): OngoingOutage | undefined {
		if (!this.breaker.isOpen || this.#latest === undefined) return undefined;
		const isDoubted = this.#doubtedSince !== undefined;
		const lasted = this.#options.clock.now() - (this.#doubtedSince ?? this.#since ?? this.#openedAt);
		const limit = isDoubted ? this.#doubt : this.#limit;
		return { lasted, limit, probeIn: this.breaker.probeIn, error: this.#latest };
	}

	/** Milliseconds until the present outage has lasted too long; infinite where there is none. */
	get left(): number {
		const now = this.#options.clock.now();
		const left = this.#since === undefined ? Number.POSITIVE_INFINITY : this.#since + this.#limit - now;
		return this.#doubtedSince === undefined ? left : Math.min(left, this.#doubtedSince + this.#doubt - now);
	}

	starts(): void {
		if (!this.answered) this.#since ??= this.#options.clock.now();
	}

	succeededWith(ticket: number): void {
		this.answered = true;
		this.successes += 1;
		this.#alive(ticket);
	}

	/**
	 * A request failed. The end of a request that was sent before the breaker opened or closed says nothing about the
	 * service now.
	 */
	failedWith(ticket: number, error: RestError): void {
		this.answered ||= error.status !== undefined;
		if (passes(error)) this.#gone(ticket, error);
		else if (error.kind !== "throttled") this.#alive(ticket);
		// A throttled answer is neither the end of an outage nor a part of it.
		else if (this.breaker.isOpen && this.breaker.isGood(ticket)) this.breaker.probeAfter(this.#nextProbe());
	}

	get #limit(): number {
		return this.#options.maxOutage ?? (this.answered ? MAX_OUTAGE : FIRST_ANSWER_MS);
	}

	get #doubt(): number {
		return Math.min(DOUBTED_FOR, this.#limit);
	}

	#alive(ticket: number): void {
		const now = this.#options.clock.now();
		if (!this.breaker.isGood(ticket)) return;
		this.#since = undefined;
		this.#doubtedSince = undefined;
		this.#inARow = 0;
		if (!this.breaker.isOpen) return;
		this.breaker.close();
		this.#options.onBack();
		this.#options.onNote(`The service answers again after ${durationText(now - this.#openedAt)}: the run continues.`);
	}

	#gone(ticket: number, error: RestError): void {
		if (!this.breaker.isGood(ticket)) return;
		const { clock, onNote, onStop } = this.#options;
		const now = clock.now();
		this.#since ??= now;
		this.#latest = error;
		const isDoubted = error.kind === "doubted";
		this.#doubtedSince = isDoubted ? (this.#doubtedSince ?? now) : undefined;
		this.#inARow += 1;
		if (!this.breaker.isOpen && this.#inARow >= IN_A_ROW) {
			this.#openedAt = now;
			this.#probes = 0;
			// The text of an error is safe to show. The user wants to know how long the outage may last.
			const [what, time] = isDoubted
				? ["refuses a key that it has accepted", this.#doubt]
				: [
						error.code === DATABASE_AWAY ? "reports that its database is not available" : "does not answer",
						this.#limit,
					];
			onNote(`The service ${what} (${error.message}): waiting for it, ${durationText(time)} at most.`);
			this.breaker.open(this.#nextProbe());
		} else if (this.breaker.isOpen) this.breaker.probeAfter(this.#nextProbe());
		const saysSo = error.kind === "not_sent" || error.code === DATABASE_AWAY || isDoubted;
		const certain = this.breaker.isOpen || !this.answered || saysSo;
		if (!certain || this.left >= TOLERANCE_MS) return;
		const isOver = this.#doubtedSince !== undefined && now - this.#doubtedSince >= this.#doubt - TOLERANCE_MS;
		onStop(isOver ? noLongerAccepted(error, this.#doubt) : outage(error, this.#limit));
	}

	/** The wait before the next probe. The last probe is sent when the outage has lasted as long as it may. */
	#nextProbe(): number {
		return Math.min(Math.max(0, this.left), probeWait(this.#probes++, this.#options.clock.random()));
	}
}

/** Whether the same request may succeed a little later. A refusal shows that the service answers. */
function passes({ kind }: RestError): boolean {
	return kind === "not_sent" || kind === "ambiguous" || kind === "not_the_api" || kind === "doubted";
}
