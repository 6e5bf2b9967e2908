import { EventEmitter, once } from "node:events";
import { DATABASE_AWAY, type RestError } from "../../rest/errors.ts";
import { noLongerAccepted, outage, durationText } from "../stop/reasons.ts";
import type { Clock, Stop } from "../types.ts";

/** The longest wait for the end of an outage, or of answers that only ask to slow down, and for a first answer, in milliseconds, unless `--max-outage` is given. */
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

/** Longest wait before a probe, in milliseconds: before the first, and before any. Each is up to twice the one before. */
const FIRST_PROBE_MS = 1_000;
const LONGEST_PROBE_MS = 10_000;

/** The shortest wait before a probe, in milliseconds: full jitter alone could give 0 several times in a row. */
const SHORTEST_PROBE_MS = 100;

/** The wait before the next probe, in milliseconds: full jitter, after `failed` probes that failed. */
function probeWait(failed: number, random: number): number {
	return Math.max(SHORTEST_PROBE_MS, random * Math.min(LONGEST_PROBE_MS, FIRST_PROBE_MS * 2 ** failed));
}

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

/** The outage that is noticed, and its probes. */
type Noticed = {
	readonly at: number;
	/** the latest failure */
	error: RestError;
	/** probes so far; when the next may pass; whether that time has come */
	probes: number;
	probeAt: number;
	isProbeDue: boolean;
};

/**
 * Detects outages of the service from the end of each request. During an outage it holds requests back, and lets a probe
 * through from time to time.
 *
 * A request that passes gets a ticket. It is good until an outage begins or ends: the end of a request that was sent before
 * says nothing about the service now.
 */
export class Outage {
	readonly #options: OutageOptions;
	/** wakes the requests that wait for the end of an outage; a run has many */
	readonly #wake = new EventEmitter().setMaxListeners(0);
	#timer = new AbortController();
	#ticket = 0;
	#noticed: Noticed | undefined;
	/** consecutive failed requests */
	#inARow = 0;
	/** start of the latest consecutive failures, on the clock; before any answer, start of the first request */
	#since: number | undefined;
	/** time of the first of the latest consecutive refusals of an accepted key, on the clock */
	#doubtedSince: number | undefined;
	/** whether the service has ever answered anything in this run */
	answered = false;
	/** requests that succeeded */
	successes = 0;

	constructor(options: OutageOptions) {
		this.#options = options;
	}

	/** The outage for which requests are held back; undefined while the service answers. */
	get ongoing(): OngoingOutage | undefined {
		if (this.#noticed === undefined) return undefined;
		const { at, probeAt, error } = this.#noticed;
		const now = this.#options.clock.now();
		const limit = this.#longest;
		const lasted = now - (this.#doubtedSince ?? this.#since ?? at);
		return { lasted, limit, probeIn: Math.max(0, probeAt - now), error };
	}

	/** Milliseconds until the present outage has lasted too long; infinite where there is none. */
	get left(): number {
		const now = this.#options.clock.now();
		const left = this.#since === undefined ? Number.POSITIVE_INFINITY : this.#since + this.#limit - now;
		return this.#doubtedSince === undefined ? left : Math.min(left, this.#doubtedSince + this.#longest - now);
	}

	/** A ticket, at once while the service answers. Rejects with the signal's reason when it aborts. */
	async pass(signal: AbortSignal): Promise<number> {
		signal.throwIfAborted();
		// All wake in their order, and the first becomes the probe.
		while (this.#noticed?.isProbeDue === false) {
			await once(this.#wake, "wake", { signal }).catch(() => undefined);
			signal.throwIfAborted();
		}
		if (this.#noticed !== undefined) this.#noticed.isProbeDue = false;
		return this.#ticket;
	}

	isGood(ticket: number): boolean {
		return ticket === this.#ticket;
	}

	/** A request goes out. */
	starts(): void {
		if (!this.answered) this.#since ??= this.#options.clock.now();
	}

	succeededWith(ticket: number): void {
		this.answered = true;
		this.successes += 1;
		this.#alive(ticket);
	}

	/** A request failed. @returns whether that belongs to an outage, and says nothing about its row */
	failedWith(ticket: number, error: RestError): boolean {
		this.answered ||= error.status !== undefined;
		if (passes(error)) this.#gone(ticket, error);
		else if (error.kind !== "throttled") this.#alive(ticket);
		// A throttled answer is neither the end of an outage nor a part of it.
		else if (this.#noticed !== undefined && this.isGood(ticket)) this.#probeLater(this.#noticed);
		// Also the failure with which an outage was noticed: its ticket is no longer good.
		return this.#noticed !== undefined || !this.isGood(ticket);
	}

	/** Stops the timer of the probes, which would keep the program alive. */
	end(): void {
		this.#timer.abort();
	}

	get #limit(): number {
		return this.#options.maxOutage ?? (this.answered ? MAX_OUTAGE : FIRST_ANSWER_MS);
	}

	/** The same for the present failures: a refused key is doubted for a shorter time. */
	get #longest(): number {
		return this.#doubtedSince === undefined ? this.#limit : Math.min(DOUBTED_FOR, this.#limit);
	}

	#alive(ticket: number): void {
		if (!this.isGood(ticket)) return;
		this.#since = undefined;
		this.#doubtedSince = undefined;
		this.#inARow = 0;
		const noticed = this.#noticed;
		if (noticed === undefined) return;
		this.#noticed = undefined;
		this.#ticket += 1;
		this.end();
		this.#wake.emit("wake");
		const { clock, onBack, onNote } = this.#options;
		onBack();
		onNote(`The service answers again after ${durationText(clock.now() - noticed.at)}: the run continues.`);
	}

	#gone(ticket: number, error: RestError): void {
		if (!this.isGood(ticket)) return;
		const { clock, onNote, onStop } = this.#options;
		const now = clock.now();
		this.#since ??= now;
		const isDoubted = error.kind === "doubted";
		this.#doubtedSince = isDoubted ? (this.#doubtedSince ?? now) : undefined;
		this.#inARow += 1;
		if (this.#noticed !== undefined) {
			this.#noticed.error = error;
			this.#probeLater(this.#noticed);
		} else if (this.#inARow >= IN_A_ROW) {
			const isAway = error.code === DATABASE_AWAY;
			const other = isAway ? "reports that its database is not available" : "does not answer";
			const what = isDoubted ? "refuses a key that it has accepted" : other;
			// The text of an error is safe to show. The user wants to know how long the outage may last.
			onNote(`The service ${what} (${error.message}): waiting for it, ${durationText(this.#longest)} at most.`);
			this.#noticed = { at: now, error, probes: 0, probeAt: now, isProbeDue: false };
			this.#ticket += 1;
			this.#probeLater(this.#noticed);
		}
		const saysSo = error.kind === "not_sent" || error.code === DATABASE_AWAY || isDoubted;
		const certain = this.#noticed !== undefined || !this.answered || saysSo;
		if (!certain || this.left >= TOLERANCE_MS) return;
		const isOver = this.#doubtedSince !== undefined && now - this.#doubtedSince >= this.#longest - TOLERANCE_MS;
		onStop(isOver ? noLongerAccepted(error, this.#longest) : outage(error, this.#limit));
	}

	/** Lets the next probe pass after a wait. The last one is sent when the outage has lasted as long as it may. */
	#probeLater(noticed: Noticed): void {
		const { clock } = this.#options;
		const wait = Math.min(Math.max(0, this.left), probeWait(noticed.probes++, clock.random()));
		const { signal } = (this.#timer = new AbortController());
		noticed.probeAt = clock.now() + wait;
		noticed.isProbeDue = false;
		void clock.sleep(wait, signal).then(() => {
			if (signal.aborted) return;
			noticed.isProbeDue = true;
			this.#wake.emit("wake");
		});
	}
}

/** Whether the same request may succeed a little later. A refusal shows that the service answers. */
function passes({ kind }: RestError): boolean {
	return kind === "not_sent" || kind === "ambiguous" || kind === "not_the_api" || kind === "doubted";
}
