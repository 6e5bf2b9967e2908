import { isUtf8 } from "node:buffer";
import type { Dispatcher } from "undici";
import type { Answer, RawHeaders } from "./answer.ts";
import { Expired, TooLarge } from "./classify-failure.ts";

/** How an attempt ended. `failed` says whether the request had been handed to a connection. */
export type Ending = {
	answered(answer: Answer): void;
	failed(error: unknown, sent: boolean): void;
	cancelled(reason: unknown): void;
};

/**
 * One request under way, as undici's dispatcher sees it: gathers the answer, and ends once, whatever comes first.
 *
 * A handler rather than `request`: a third faster, and it knows whether a request was handed to a connection, which
 * tells "certainly not sent" from "may have been applied".
 */
export class ResponseHandler implements Dispatcher.DispatchHandler, Due, Cancellable {
	deadline: number;
	/** bytes of the answer that are taken at most */
	readonly #limit: number;
	/** milliseconds by which each byte that moves puts the deadline off; 0 where the deadline is absolute */
	readonly #patience: number;
	readonly #ending: Ending;
	#abort: ((error?: Error) => void) | undefined;
	#sent = false;
	#done = false;
	#status = 0;
	#headers: RawHeaders = [];
	#chunks: Buffer[] = [];
	#size = 0;

	constructor(options: { limit: number; deadline: number; patience: number; ending: Ending }) {
		this.deadline = options.deadline;
		this.#limit = options.limit;
		this.#patience = options.patience;
		this.#ending = options.ending;
	}

	expire(): void {
		this.#fail(new Expired("no answer in time"));
	}

	cancel(reason: unknown): void {
		if (this.#done) return;
		this.#done = true;
		this.#abort?.();
		this.#ending.cancelled(reason);
	}

	onConnect(abort: (error?: Error) => void): void {
		// Ended while it waited for a connection, or about to be sent a second time behind our back.
		if (this.#done || this.#sent) return abort();
		this.#abort = abort;
		this.#sent = true;
	}

	onHeaders(status: number, headers: Buffer[]): boolean {
		if (status >= 200) {
			this.#status = status;
			this.#headers = headers;
		}
		this.#moved();
		return true;
	}

	onData(chunk: Buffer): boolean {
		this.#size += chunk.length;
		if (this.#size > this.#limit) {
			this.#chunks = [];
			this.#fail(new TooLarge("the answer is too large"));
			return false;
		}
		this.#chunks.push(chunk);
		this.#moved();
		return true;
	}

	onBodySent(): void {
		this.#moved();
	}

	onComplete(): void {
		if (this.#done) return;
		this.#done = true;
		const [first] = this.#chunks;
		const bytes = this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks);
		const text = isUtf8(bytes) ? bytes.toString() : undefined;
		this.#ending.answered({ status: this.#status, headers: this.#headers, text });
	}

	onUpgrade(): void {
		this.#fail(new Error("the service switched protocols, which was not asked for"));
	}

	onError(error: Error): void {
		this.#fail(error);
	}

	#fail(error: unknown): void {
		if (this.#done) return;
		this.#done = true;
		// Ends the connection: what is left of this answer must not become the next one's.
		this.#abort?.();
		this.#ending.failed(error, this.#sent);
	}

	#moved(): void {
		if (this.#patience > 0) this.deadline = performance.now() + this.#patience;
	}
}

/** Something that a signal can end. */
export type Cancellable = { cancel(reason: unknown): void };

/**
 * Which attempts end with which signal. One listener a signal, not one a request: a listener for each would cost a
 * fifth of the speed.
 */
export class Cancels {
	readonly #watched = new WeakMap<AbortSignal, Set<Cancellable>>();

	add(signal: AbortSignal, attempt: Cancellable): void {
		let attempts = this.#watched.get(signal);
		if (attempts === undefined) {
			attempts = new Set();
			this.#watched.set(signal, attempts);
			signal.addEventListener("abort", () => this.#cancel(signal), { once: true });
		}
		attempts.add(attempt);
	}

	delete(signal: AbortSignal, attempt: Cancellable): void {
		this.#watched.get(signal)?.delete(attempt);
	}

	#cancel(signal: AbortSignal): void {
		for (const attempt of this.#watched.get(signal) ?? []) attempt.cancel(signal.reason);
	}
}

/** Something that must come to its end. */
export type Due = {
	/** on the clock of `performance.now()`, in milliseconds */
	deadline: number;
	expire(): void;
};

/**
 * The absolute cap on attempts, at the cost of one timer for all of them: `AbortSignal.timeout` for each request
 * takes a third of the speed. Every tick looks at all attempts under way, a few dozen, so an attempt ends at most
 * a twentieth of its time late.
 */
export class Deadlines {
	readonly #open = new Set<Due>();
	readonly #tick: number;
	#timer: NodeJS.Timeout | undefined;

	/** @param timeout of one attempt in milliseconds */
	constructor(timeout: number) {
		this.#tick = Math.min(500, Math.max(5, timeout / 20));
	}

	add(due: Due): void {
		this.#open.add(due);
		// Without unref, the last tick would hold up the end of the program.
		this.#timer ??= setInterval(() => this.#sweep(), this.#tick).unref();
	}

	delete(due: Due): void {
		this.#open.delete(due);
	}

	close(): void {
		clearInterval(this.#timer);
		this.#timer = undefined;
	}

	#sweep(): void {
		if (this.#open.size === 0) return this.close();
		const now = performance.now();
		for (const due of this.#open) {
			if (due.deadline <= now) due.expire();
		}
	}
}
