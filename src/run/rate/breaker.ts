import { EventEmitter, once } from "node:events";
import type { Clock } from "../types.ts";

/** Longest wait before a probe, in milliseconds: before the first, and before any. Each is up to twice the one before. */
const FIRST_PROBE_MS = 1_000;
const LONGEST_PROBE_MS = 10_000;

/** The shortest wait before a probe, in milliseconds: full jitter alone could give 0 several times in a row. */
const SHORTEST_PROBE_MS = 100;

/** The wait before the next probe, in milliseconds: full jitter, after `failed` probes that failed. */
export function probeWait(failed: number, random: number): number {
	return Math.max(SHORTEST_PROBE_MS, random * Math.min(LONGEST_PROBE_MS, FIRST_PROBE_MS * 2 ** failed));
}

/**
 * Holds requests back while the service does not answer, and lets a probe through from time to time.
 *
 * A request that passes gets a ticket. It is good until the breaker opens or closes: the end of a request that was sent
 * before says nothing about the service now.
 */
export class Breaker {
	readonly #clock: Clock;
	/** wakes the requests that wait for the end of an outage; a run has many */
	readonly #wake = new EventEmitter().setMaxListeners(0);
	#ticket = 0;
	#isOpen = false;
	/** whether one request may pass, as the probe */
	#probeDue = false;
	#timer = new AbortController();
	#probeAt = Number.NEGATIVE_INFINITY;

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	get isOpen(): boolean {
		return this.#isOpen;
	}

	/** Milliseconds until the next probe; 0 while it is under way. */
	get probeIn(): number {
		return Math.max(0, this.#probeAt - this.#clock.now());
	}

	isGood(ticket: number): boolean {
		return ticket === this.#ticket;
	}

	/** From now on only one probe passes, after `wait` milliseconds. */
	open(wait: number): void {
		this.#isOpen = true;
		this.#ticket += 1;
		this.probeAfter(wait);
	}

	/** Lets the next probe pass after `wait` milliseconds. */
	probeAfter(wait: number): void {
		const timer = new AbortController();
		this.#timer = timer;
		this.#probeAt = this.#clock.now() + wait;
		this.#probeDue = false;
		void this.#clock.sleep(wait, timer.signal).then(() => {
			if (timer.signal.aborted) return;
			this.#probeDue = true;
			this.#wake.emit("wake");
		});
	}

	/** The service answers again: every request passes. */
	close(): void {
		this.#isOpen = false;
		this.#ticket += 1;
		this.end();
		this.#wake.emit("wake");
	}

	/** Stops its timer, which would keep the program alive. */
	end(): void {
		this.#timer.abort();
	}

	/** A ticket, at once while the breaker is closed. Rejects with the signal's reason when it aborts. */
	async pass(signal: AbortSignal): Promise<number> {
		signal.throwIfAborted();
		if (!this.#isOpen) return this.#ticket;
		// All wake in their order, and the first becomes the probe.
		while (this.#isOpen && !this.#probeDue) {
			await once(this.#wake, "wake", { signal }).catch(() => undefined);
			signal.throwIfAborted();
		}
		this.#probeDue = false;
		return this.#ticket;
	}
}
