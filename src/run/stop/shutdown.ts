import { setMaxListeners } from "node:events";
import { Exit } from "../../errors.ts";
import type { Clock, Stop } from "../types.ts";

/** How long requests in flight may take to end once a run is to stop, in milliseconds. */
const DRAIN = 5_000;

export type ShutdownOptions = {
	readonly clock: Clock;
	/** aborted with a `Stop` when the user wants the run to end */
	readonly user: AbortSignal;
	/** cuts the requests in flight off */
	readonly abandon: () => void;
	/** called each time that the run is ended: a loop that waits for rows must check again */
	readonly onEnd: () => void;
};

/** How a run ends: the first reason counts, and nothing new is begun after it. */
export class Shutdown {
	/** aborted when nothing new may be begun: every wait of a run listens to it */
	readonly signal: AbortSignal;
	readonly #options: ShutdownOptions;
	readonly #halt = new AbortController();
	readonly #drained = new AbortController();
	readonly #faults: unknown[] = [];
	#stop: Stop | undefined;
	#isDraining = false;
	#abandoned = false;

	constructor(options: ShutdownOptions) {
		this.#options = options;
		this.signal = this.#halt.signal;
		// Every row in flight listens to it, so Node's warning about a leak would be wrong.
		setMaxListeners(0, this.signal, this.#drained.signal);
		options.user.addEventListener("abort", this.#onUser, { once: true });
		if (options.user.aborted) this.#onUser();
	}

	/** whether requests in flight were cut off: how they end then says nothing about their rows */
	get abandoned(): boolean {
		return this.#abandoned;
	}

	/** Whether an error is the reason of the run's end, thrown by a request that had not started. */
	isReason(error: unknown): boolean {
		return this.signal.aborted && error === this.signal.reason;
	}

	end(why?: Stop): void {
		this.#stop ??= why;
		if (!this.signal.aborted) this.#halt.abort(why);
		// After a limit of the user's, requests in flight may finish, unless the user interrupts.
		if (why?.exit !== Exit.limit || this.#options.user.aborted) this.#drain();
		this.#options.onEnd();
	}

	/** A part of the program broke: the run ends, and `over` throws the cause. */
	fail(fault: unknown): void {
		this.#faults.push(fault);
		this.end();
	}

	/** The manifest could not be read on: the rows that were taken are still finished. */
	failAfterRows(fault: unknown): void {
		this.#faults.push(fault);
	}

	/**
	 * Called after the last row: removes every timer and listener.
	 *
	 * @param leftBehind why rows are pending where nothing ended the run
	 * @returns why the run stopped early, or undefined
	 * @throws what broke first
	 */
	finish(leftBehind: Stop | undefined): Stop | undefined {
		this.#options.user.removeEventListener("abort", this.#onUser);
		this.#drained.abort();
		if (!this.signal.aborted) this.#halt.abort();
		if (this.#faults.length > 0) throw this.#faults[0];
		return this.#stop ?? leftBehind;
	}

	readonly #onUser = (): void => this.end(stopOf(this.#options.user.reason));

	#drain(): void {
		if (this.#isDraining) return;
		this.#isDraining = true;
		void this.#options.clock.sleep(DRAIN, this.#drained.signal).then(() => {
			if (this.#drained.signal.aborted) return;
			this.#abandoned = true;
			this.#options.abandon();
		});
	}
}

/** The stop that is the reason of an aborted signal. */
export function stopOf(why: unknown): Stop {
	if (typeof why === "object" && why !== null && "exit" in why && "text" in why && typeof why.text === "string") {
		const known = Object.values(Exit).find((code) => code === why.exit);
		const hint = "hint" in why && typeof why.hint === "string" ? { hint: why.hint } : {};
		if (known !== undefined) return { exit: known, text: why.text, ...hint };
	}
	return { exit: Exit.interrupted, text: "stopped" };
}
