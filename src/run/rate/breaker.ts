import type { Clock } from "../types.ts";

/** Somebody who waits for the service to be back. */
type Waiter = { readonly go: () => void };

/** Longest wait before a probe: the first time, and however long an outage is. Each is up to twice the one before. */
const FIRST = 1_000;
const LONGEST = 60_000;
/** Chance may say "at once", again and again: so much is waited always, in milliseconds. */
const SHORTEST = 100;

/** How long to wait before the next probe, in milliseconds: full jitter, after so many that failed. */
export function probeWait(failed: number, random: number): number {
	return Math.max(SHORTEST, random * Math.min(LONGEST, FIRST * 2 ** failed));
}

/**
 * Holds requests back while the service is gone, and lets one through now and then to see whether it still is.
 *
 * Who passes gets a ticket. It is good until the breaker opens or closes: what was under way before says nothing about
 * what is now.
 */
export class Breaker {
	readonly #clock: Clock;
	readonly #waiting: Waiter[] = [];
	#ticket = 0;
	#isOpen = false;
	/** whether one may pass, as the probe */
	#probeDue = false;
	#timer = new AbortController();

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	get isOpen(): boolean {
		return this.#isOpen;
	}

	isGood(ticket: number): boolean {
		return ticket === this.#ticket;
	}

	/** Nothing passes any more but one probe, after `wait` milliseconds. */
	open(wait: number): void {
		this.#isOpen = true;
		this.#ticket += 1;
		this.probeAfter(wait);
	}

	/** The probe failed, or there is to be a first: one more after that wait. */
	probeAfter(wait: number): void {
		const timer = new AbortController();
		this.#timer = timer;
		this.#probeDue = false;
		void this.#clock.sleep(wait, timer.signal).then(() => {
			if (timer.signal.aborted) return;
			this.#probeDue = true;
			this.#waiting.shift()?.go();
		});
	}

	/** The service is back: everybody passes. */
	close(): void {
		this.#isOpen = false;
		this.#ticket += 1;
		this.end();
		for (const waiter of this.#waiting.splice(0)) waiter.go();
	}

	/** Forgets its timer, which would keep the program alive. */
	end(): void {
		this.#timer.abort();
	}

	/** A ticket, at once where nothing is the matter. Rejects with the signal's reason when it aborts. */
	pass(signal: AbortSignal): number | Promise<number> {
		signal.throwIfAborted();
		return this.#isOpen ? this.#wait(signal) : this.#ticket;
	}

	async #wait(signal: AbortSignal): Promise<number> {
		while (this.#isOpen && !this.#probeDue) {
			await new Promise<void>((resolve) => {
				const go = (): void => {
					signal.removeEventListener("abort", aborted);
					resolve();
				};
				const aborted = (): void => {
					const place = this.#waiting.indexOf(waiter);
					if (place >= 0) this.#waiting.splice(place, 1);
					resolve();
				};
				const waiter = { go };
				this.#waiting.push(waiter);
				signal.addEventListener("abort", aborted, { once: true });
			});
			signal.throwIfAborted();
		}
		this.#probeDue = false;
		return this.#ticket;
	}
}
