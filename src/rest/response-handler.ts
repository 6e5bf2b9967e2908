import type { Dispatcher } from "undici";
import type { RawAnswer, RawHeaders } from "./answer.ts";
import { Expired, TooLarge } from "./classify-failure.ts";
import type { Connection } from "./connection.ts";

/** Takes the end of an attempt. */
export type ResponseListener = {
	/** called once, at the first end of each attempt */
	ended(attempt: ResponseHandler): void;
	/** @param wasSent whether the request had been handed to a connection */
	failure(error: unknown, wasSent: boolean): Error;
};

export type ResponseOptions = {
	/** the largest accepted answer, in bytes */
	readonly limit: number;
	/** on the clock of `performance.now()`, in milliseconds */
	readonly deadline: number;
	/** milliseconds from the last byte that moved to the deadline; 0 for a deadline that does not move */
	readonly patience: number;
	readonly signal: AbortSignal | undefined;
	readonly listener: ResponseListener;
	/** what the caller gets */
	readonly answered: (answer: RawAnswer) => void;
	readonly failed: (reason: unknown) => void;
};

const NO_BYTES = Buffer.alloc(0);

/**
 * One request in flight, as undici's dispatcher sees it. It gathers the answer, and ends once: with the first of
 * answer, error, deadline and abort.
 *
 * undici's `request` takes a third longer. It also does not say whether a request was handed to a connection, which
 * tells "certainly not sent" from "may have been applied".
 */
export class ResponseHandler implements Dispatcher.DispatchHandler {
	deadline: number;
	position = 0;
	connection: Connection | undefined;
	onSent: (() => void) | undefined;
	isDone = false;
	readonly #options: ResponseOptions;
	#abort: ((error?: Error) => void) | undefined;
	#wasSent = false;
	#status = 0;
	#headers: RawHeaders | undefined;
	/** the first piece of the answer; nearly every answer is one */
	#first: Buffer | undefined;
	#more: Buffer[] | undefined;
	#size = 0;

	constructor(options: ResponseOptions) {
		this.deadline = options.deadline;
		this.#options = options;
	}

	get signal(): AbortSignal | undefined {
		return this.#options.signal;
	}

	expire(): void {
		this.#fail(new Expired("no answer in time"));
	}

	cancel(reason: unknown): void {
		if (this.isDone) return;
		this.#end();
		this.#abort?.();
		this.#options.failed(reason);
	}

	onConnect(abort: (error?: Error) => void): void {
		// It ended while it waited for a connection, or undici is about to send it again by itself.
		if (this.isDone || this.#wasSent) return abort();
		this.#abort = abort;
		this.#wasSent = true;
		this.onSent?.();
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
		if (this.#size > this.#options.limit) {
			this.#first = undefined;
			this.#more = undefined;
			this.#fail(new TooLarge("the answer is too large"));
			return false;
		}
		if (this.#first === undefined) this.#first = chunk;
		else (this.#more ??= [this.#first]).push(chunk);
		this.#postpone();
		return true;
	}

	onBodySent(): void {
		this.#postpone();
	}

	onComplete(): void {
		this.#release();
		if (this.isDone) return;
		this.#end();
		const bytes = this.#more === undefined ? (this.#first ?? NO_BYTES) : Buffer.concat(this.#more);
		this.#options.answered({ status: this.#status, headers: this.#headers ?? [], bytes });
	}

	onUpgrade(): void {
		this.#fail(new Error("the service switched protocols, which was not requested"));
	}

	onError(error: Error): void {
		this.#release();
		this.#fail(error);
	}

	#end(): void {
		this.isDone = true;
		this.#options.listener.ended(this);
	}

	#fail(error: unknown): void {
		if (this.isDone) return;
		this.#end();
		// Ends the connection: the rest of this answer must not be read as the next one.
		this.#abort?.();
		this.#options.failed(this.#options.listener.failure(error, this.#wasSent));
	}

	#release(): void {
		const { connection } = this;
		this.connection = undefined;
		connection?.release();
	}

	#postpone(): void {
		const { patience } = this.#options;
		if (patience > 0) this.deadline = performance.now() + patience;
	}
}
