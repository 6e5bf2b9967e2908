import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { RawAnswer, RawHeaders } from "./answer.ts";
import { Expired, TooLarge } from "./classify-failure.ts";

/** Takes the bytes of an answer that is a file, as they come. */
type Sink = {
	/** whether it takes those of this answer */
	readonly takes: (head: Pick<RawAnswer, "status" | "headers">) => boolean;
	/** the next bytes come after its promise; the attempt rejects with what it rejects with */
	readonly write: (bytes: Buffer) => Promise<void>;
};

/** 1 MiB: the largest accepted answer of a request that lists nothing. */
const ANSWER_BYTES = 1024 * 1024;

/** 64 MiB: a list has the metadata of a whole page. */
export const LIST_BYTES = 64 * ANSWER_BYTES;

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** One request, and how its answer is read. */
export type Call<Result> = {
	readonly method: Method;
	readonly path: string;
	/** names and values in turn, besides those of all requests */
	readonly headers?: readonly string[];
	/** the media type that is wanted; JSON unless given */
	readonly accept?: string;
	readonly body?: string | Readable | undefined;
	/** the largest accepted answer, in bytes; `ANSWER_BYTES` unless given */
	readonly limit?: number;
	/** whether the timeout counts from the last byte that moved, and not from the start of the attempt */
	readonly isPatient?: boolean;
	/** whether the debug record has the result of reading the answer */
	readonly isProbe?: boolean;
	/** where the answer may be a file; the answer that is read has no bytes then */
	readonly sink?: Sink;
	/** reads a complete answer, success or not; what it throws, the call rejects with */
	readonly read: (answer: RawAnswer) => Result;
};

/** Who sends attempts, and hears of their ends. */
type Sender = {
	/** of one attempt, in milliseconds */
	readonly timeout: number;
	/** one of the two is called, once, before the attempt resolves or rejects */
	succeeded(attempt: AnyAttempt, result: unknown): void;
	failed(attempt: AnyAttempt, error: unknown): void;
	/** @param wasSent whether the request had been handed to a connection */
	errorOf(error: unknown, wasSent: boolean): Error;
};

/** An attempt, whatever its answer is read as. */
export type AnyAttempt = Pick<Attempt<unknown>, "call" | "started" | "head">;

const NO_BYTES = Buffer.alloc(0);

/**
 * One request in flight, as undici's dispatcher sees it. It gathers the answer, and ends once: with the first of
 * answer, error, deadline and abort.
 *
 * undici's `request` takes a third longer. It also does not say whether a request was handed to a connection, which
 * tells "certainly not sent" from "may have been applied".
 */
export class Attempt<Result> implements Dispatcher.DispatchHandler {
	readonly call: Call<Result>;
	/** on the clock of `performance.now()`, in milliseconds */
	readonly started = performance.now();
	readonly #sender: Sender;
	readonly #resolve: (result: Result) => void;
	readonly #reject: (reason: unknown) => void;
	#abort: ((error?: Error) => void) | undefined;
	#isDone = false;
	#wasSent = false;
	#status = 0;
	#headers: RawHeaders | undefined;
	/** the first piece of the answer; nearly every answer is one */
	#first: Buffer | undefined;
	#more: Buffer[] | undefined;
	#size = 0;
	/** undefined where the bytes of this answer are gathered */
	#sink: Sink | undefined;
	/** what the sink has not taken yet */
	#writing: Promise<void> | undefined;
	#resume: (() => void) | undefined;
	#timer: NodeJS.Timeout | undefined;

	constructor(
		call: Call<Result>,
		sender: Sender,
		resolve: (result: Result) => void,
		reject: (reason: unknown) => void,
	) {
		this.call = call;
		this.#sender = sender;
		this.#resolve = resolve;
		this.#reject = reject;
		this.#startTimer();
	}

	/** HTTP status of the answer, and its header fields; undefined while there is none. */
	get head(): Pick<RawAnswer, "status" | "headers"> | undefined {
		return this.#headers === undefined ? undefined : { status: this.#status, headers: this.#headers };
	}

	onConnect(abort: (error?: Error) => void): void {
		// It ended while it waited for a connection, or undici is about to send it again by itself.
		if (this.#isDone || this.#wasSent) return abort();
		this.#abort = abort;
		this.#wasSent = true;
	}

	onHeaders(status: number, headers: Buffer[], resume: () => void): boolean {
		if (status >= 200) {
			this.#status = status;
			this.#headers = headers;
			this.#resume = resume;
			if (this.call.sink?.takes({ status, headers }) === true) this.#sink = this.call.sink;
		}
		this.#postpone();
		return true;
	}

	onData(chunk: Buffer): boolean {
		if (this.#sink !== undefined) return this.#give(chunk, this.#sink);
		this.#size += chunk.length;
		if (this.#size > (this.call.limit ?? ANSWER_BYTES)) {
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
		if (this.#isDone) return;
		if (this.#writing !== undefined) return void this.#writing.then(() => this.onComplete());
		const bytes = this.#more === undefined ? (this.#first ?? NO_BYTES) : Buffer.concat(this.#more);
		this.#settle();
		try {
			const result = this.call.read({ status: this.#status, headers: this.#headers ?? [], bytes });
			this.#sender.succeeded(this, result);
			this.#resolve(result);
		} catch (error) {
			this.#sender.failed(this, error);
			this.#reject(error);
		}
	}

	onUpgrade(): void {
		this.#fail(new Error("the service switched protocols, which was not requested"));
	}

	onError(error: Error): void {
		this.#fail(error);
	}

	/** Halts the answer until the sink has taken these bytes, so that memory holds no more of a file. */
	#give(chunk: Buffer, sink: Sink): boolean {
		// A parser that goes on with no bytes at hand gives none, and would halt at them without end.
		if (chunk.length === 0) return true;
		// It waits for the sink, and not for the service.
		clearTimeout(this.#timer);
		this.#writing = sink
			.write(chunk)
			.then(() => {
				this.#writing = undefined;
				this.#postpone();
				if (!this.#isDone) this.#resume?.();
			})
			.catch((error: unknown) => this.#end(error));
		return false;
	}

	#fail(cause: unknown): void {
		if (!this.#isDone) this.#end(this.#sender.errorOf(cause, this.#wasSent));
	}

	/** Rejects with the error of a sink as it is. */
	#end(error: unknown): void {
		if (this.#isDone) return;
		this.#settle();
		this.#sender.failed(this, error);
		// Ends the connection: the rest of this answer must not be read as the next one.
		this.#abort?.();
		this.#reject(error);
	}

	#settle(): void {
		this.#isDone = true;
		clearTimeout(this.#timer);
	}

	#postpone(): void {
		if (this.call.isPatient !== true || this.#isDone) return;
		clearTimeout(this.#timer);
		this.#startTimer();
	}

	#startTimer(): void {
		// Without unref it would delay the end of the program.
		this.#timer = setTimeout(() => this.#fail(new Expired("no answer in time")), this.#sender.timeout).unref();
	}
}
