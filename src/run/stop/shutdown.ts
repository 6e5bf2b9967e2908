import { setMaxListeners } from "node:events";
import { CliError, Exit, reason } from "../../errors.ts";
import type { Clock, Stop } from "../types.ts";

/** Time in milliseconds that requests in flight have to finish once a run stops. */
const DRAIN_MS = 5_000;

type ShutdownOptions = {
	readonly clock: Clock;
	/** aborted with a `Stop` when the user stops the run */
	readonly user: AbortSignal;
	/** aborts the requests in flight */
	readonly abandon: () => void;
	/** called with each reason to end the run, so that a loop that waits for rows checks again */
	readonly onEnd: (why: Stop | undefined) => void;
};

/** The end of a run. The first reason is reported, and no further row starts after it. */
export class Shutdown {
	/** aborted once nothing new may be begun; every wait of a run ends with it */
	readonly signal: AbortSignal;
	/** aborted once requests in flight are cut off, too */
	readonly cut: AbortSignal;
	readonly #options: ShutdownOptions;
	readonly #halt = new AbortController();
	readonly #drained = new AbortController();
	readonly #cut = new AbortController();
	readonly #faults: unknown[] = [];
	#stop: Stop | undefined;
	#isDraining = false;

	constructor(options: ShutdownOptions) {
		this.#options = options;
		this.signal = this.#halt.signal;
		this.cut = this.#cut.signal;
		// Every row in flight listens to this signal, so Node's warning about a leak would be wrong.
		setMaxListeners(0, this.signal, this.cut, this.#drained.signal);
		options.user.addEventListener("abort", this.#onUser, { once: true });
		if (options.user.aborted) this.#onUser();
	}

	/** Whether requests in flight were aborted. Their errors say nothing about their rows then. */
	get abandoned(): boolean {
		return this.cut.aborted;
	}

	/** Whether an error is the reason of the signal, thrown by a request that had not started. */
	isReason(error: unknown): boolean {
		return this.signal.aborted && error === this.signal.reason;
	}

	end(why?: Stop): void {
		this.#stop ??= why;
		if (!this.signal.aborted) this.#halt.abort(why);
		// A limit that the user set lets requests in flight take their time; an interrupt does not.
		if (why?.exit !== Exit.limit || this.#options.user.aborted) this.#drain();
		this.#options.onEnd(why);
	}

	/** Ends the run because of a fault of the program, which `finish` throws. */
	fail(fault: unknown): void {
		this.#faults.push(fault);
		this.end();
	}

	/** Lets the started rows finish; then `finish` throws the fault. For a manifest that can't be read further. */
	failAfterRows(fault: unknown): void {
		this.#faults.push(fault);
	}

	/**
	 * Called after the last row. Removes every timer and listener.
	 *
	 * @param whyPending the reason of pending rows where nothing ended the run
	 * @returns why the run stopped early, or undefined
	 * @throws the first fault
	 */
	finish(whyPending: Stop | undefined): Stop | undefined {
		this.#options.user.removeEventListener("abort", this.#onUser);
		this.#drained.abort();
		if (!this.signal.aborted) this.#halt.abort();
		if (this.#faults.length > 0) throw this.#faults[0];
		return this.#stop ?? whyPending;
	}

	readonly #onUser = (): void => this.end(stopOf(this.#options.user.reason));

	#drain(): void {
		if (this.#isDraining) return;
		this.#isDraining = true;
		void this.#options.clock.sleep(DRAIN_MS, this.#drained.signal).then(() => {
			if (this.#drained.signal.aborted) return;
			this.#cut.abort(this.signal.reason);
			this.#options.abandon();
		});
	}
}

/** The `Stop` in the reason of an aborted signal. Any other reason counts as an interrupt. */
export function stopOf(why: unknown): Stop {
	if (typeof why === "object" && why !== null && "exit" in why && "text" in why && typeof why.text === "string") {
		const known = Object.values(Exit).find((code) => code === why.exit);
		const hint = "hint" in why && typeof why.hint === "string" ? { hint: why.hint } : {};
		if (known !== undefined) return { exit: known, text: why.text, ...hint };
	}
	return { exit: Exit.interrupted, text: "stopped" };
}

/** The stop that an error causes: an error for people, or a fault of the program. */
export function stopFromError(error: unknown): Stop {
	if (error instanceof CliError) {
		return { exit: error.exit, text: error.message, hint: error.hint };
	}
	return {
		exit: Exit.internal,
		text: `a fault of the program itself: ${reason(error)}`,
		hint: "Please report it; the rows that are pending may be sent again safely.",
	};
}

/** The same for requests that the user's signal may abort: then the error says only that they were aborted. */
export function stopOrSignal(fault: unknown, signal: AbortSignal): Stop {
	return signal.aborted ? stopOf(signal.reason) : stopFromError(fault);
}
