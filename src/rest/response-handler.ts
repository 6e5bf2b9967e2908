import { isUtf8 } from "node:buffer";
import type { Dispatcher } from "undici";
import type { Answer, RawHeaders } from "./answer.ts";
import { Expired, TooLarge } from "./classify-failure.ts";

/** Called once, at the end of an attempt. `wasSent` says whether the request had been handed to a connection. */
export type ResponseListener = {
	answered(answer: Answer): void;
	failed(error: unknown, wasSent: boolean): void;
	cancelled(reason: unknown): void;
};

/**
 * One request in flight, as undici's dispatcher sees it. It gathers the answer, and ends once: with the first of
 * answer, error, deadline and abort.
 *
 * undici's `request` takes a third longer. It also does not say whether a request was handed to a connection, which
 * tells "certainly not sent" from "may have been applied".
 */
export class ResponseHandler implements Dispatcher.DispatchHandler {
	/** on the clock of `performance.now()`, in milliseconds */
	deadline: number;
	/** the largest accepted answer, in bytes */
	readonly #limit: number;
	/** milliseconds from the last byte that moved to the deadline; 0 for a deadline that does not move */
	readonly #patience: number;
	readonly #listener: ResponseListener;
	#abort: ((error?: Error) => void) | undefined;
	#wasSent = false;
	#isDone = false;
	#status = 0;
	#headers: RawHeaders = [];
	#chunks: Buffer[] = [];
	#size = 0;

	constructor(options: { limit: number; deadline: number; patience: number; listener: ResponseListener }) {
		this.deadline = options.deadline;
		this.#limit = options.limit;
		this.#patience = options.patience;
		this.#listener = options.listener;
	}

	expire(): void {
		this.#fail(new Expired("no answer in time"));
	}

	cancel(reason: unknown): void {
		if (this.#isDone) return;
		this.#isDone = true;
		this.#abort?.();
		this.#listener.cancelled(reason);
	}

	onConnect(abort: (error?: Error) => void): void {
		// It ended while it waited for a connection, or undici is about to send it again by itself.
		if (this.#isDone || this.#wasSent) return abort();
		this.#abort = abort;
		this.#wasSent = true;
	}

	onHeaders(status: number, headers: Buffer[]): boolean {
		if (status >= 200) {
			this.#status = status;
			this.#headers = headers;
		}
		this.#postpone();
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
		this.#postpone();
		return true;
	}

	onBodySent(): void {
		this.#postpone();
	}

	onComplete(): void {
		if (this.#isDone) return;
		this.#isDone = true;
		const [first] = this.#chunks;
		const bytes = this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks);
		const text = isUtf8(bytes) ? bytes.toString() : undefined;
		this.#listener.answered({ status: this.#status, headers: this.#headers, text });
	}

	onUpgrade(): void {
		this.#fail(new Error("the service switched protocols, which was not requested"));
	}

	onError(error: Error): void {
		this.#fail(error);
	}

	#fail(error: unknown): void {
		if (this.#isDone) return;
		this.#isDone = true;
		// Ends the connection: the rest of this answer must not be read as the next one.
		this.#abort?.();
		this.#listener.failed(error, this.#wasSent);
	}

	#postpone(): void {
		if (this.#patience > 0) this.deadline = performance.now() + this.#patience;
	}
}

/**
 * Cancels the attempts of a signal that aborts. It adds one listener for each signal: one for each request would cost a
 * fifth of the speed.
 */
export class Cancellations {
	readonly #attempts = new WeakMap<AbortSignal, Set<ResponseHandler>>();

	add(signal: AbortSignal, attempt: ResponseHandler): void {
		let attempts = this.#attempts.get(signal);
		if (attempts === undefined) {
			attempts = new Set();
			this.#attempts.set(signal, attempts);
			signal.addEventListener("abort", () => this.#cancel(signal), { once: true });
		}
		attempts.add(attempt);
	}

	delete(signal: AbortSignal, attempt: ResponseHandler): void {
		this.#attempts.get(signal)?.delete(attempt);
	}

	#cancel(signal: AbortSignal): void {
		for (const attempt of this.#attempts.get(signal) ?? []) attempt.cancel(signal.reason);
	}
}

/**
 * Expires the attempts whose deadline has passed, with one timer for all of them: `AbortSignal.timeout` for each request
 * takes a third of the speed. Each tick checks all attempts in flight, which are a few dozen. So an attempt ends at most a
 * twentieth of its time late.
 */
export class Deadlines {
	readonly #attempts = new Set<ResponseHandler>();
	/** milliseconds */
	readonly #interval: number;
	#timer: NodeJS.Timeout | undefined;

	/** @param timeout of one attempt, in milliseconds */
	constructor(timeout: number) {
		this.#interval = Math.min(500, Math.max(5, timeout / 20));
	}

	add(attempt: ResponseHandler): void {
		this.#attempts.add(attempt);
		// Without unref, the last tick would delay the end of the program.
		this.#timer ??= setInterval(() => this.#check(), this.#interval).unref();
	}

	delete(attempt: ResponseHandler): void {
		this.#attempts.delete(attempt);
	}

	close(): void {
		clearInterval(this.#timer);
		this.#timer = undefined;
	}

	#check(): void {
		if (this.#attempts.size === 0) return this.close();
		const now = performance.now();
		for (const attempt of this.#attempts) {
			if (attempt.deadline <= now) attempt.expire();
		}
	}
}
