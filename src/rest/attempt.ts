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

/** Why an attempt has no complete answer. */
export type Failed = {
	readonly cause: unknown;
	/** whether the sink rejected; otherwise no complete answer came */
	readonly isOfSink: boolean;
	/** whether the request had been handed to a connection */
	readonly wasSent: boolean;
	/** of the answer, as far as it came */
	readonly status: number | undefined;
	readonly headers: RawHeaders;
};

/**
 * One request in flight, as undici's dispatcher sees it. It gathers the answer, and ends once: with the first of
 * answer, error and deadline.
 *
 * undici's `request` takes a third longer. It also does not say whether a request was handed to a connection, which
 * tells "certainly not sent" from "may have been applied".
 */
export class Attempt implements Dispatcher.DispatchHandler {
	readonly #call: Pick<Call<unknown>, "limit" | "isPatient" | "sink">;
	readonly #timeout: number;
	readonly #onEnd: (end: RawAnswer | Failed) => void;
	#abort: ((error?: Error) => void) | undefined;
	#isDone = false;
	#wasSent = false;
	#status: number | undefined;
	#headers: RawHeaders = [];
	/** the pieces of the answer */
	#chunks: Buffer[] = [];
	#size = 0;
	/** undefined where the bytes of this answer are gathered */
	#sink: Sink | undefined;
	/** what the sink has not taken yet */
	#writing: Promise<void> | undefined;
	#resume: (() => void) | undefined;
	#timer: NodeJS.Timeout | undefined;

	/**
	 * @param timeout in milliseconds
	 * @param onEnd called once
	 */
	constructor(call: Call<unknown>, timeout: number, onEnd: (end: RawAnswer | Failed) => void) {
		this.#call = call;
		this.#timeout = timeout;
		this.#onEnd = onEnd;
		this.#startTimer();
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
			if (this.#call.sink?.takes({ status, headers }) === true) this.#sink = this.#call.sink;
		}
		this.#postpone();
		return true;
	}

	onData(chunk: Buffer): boolean {
		if (this.#sink !== undefined) return this.#give(chunk, this.#sink);
		this.#size += chunk.length;
		if (this.#size > (this.#call.limit ?? ANSWER_BYTES)) {
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
		if (this.#writing !== undefined) return void this.#writing.then(() => this.onComplete());
		const [first, ...more] = this.#chunks;
		// Nearly every answer is one piece.
		const bytes = first !== undefined && more.length === 0 ? first : Buffer.concat(this.#chunks);
		this.#settle();
		this.#onEnd({ status: this.#status ?? 0, headers: this.#headers, bytes });
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
			.catch((error: unknown) => this.#fail(error, true));
		return false;
	}

	#fail(cause: unknown, isOfSink = false): void {
		if (this.#isDone) return;
		this.#settle();
		this.#onEnd({ cause, isOfSink, wasSent: this.#wasSent, status: this.#status, headers: this.#headers });
		// Ends the connection: the rest of this answer must not be read as the next one.
		this.#abort?.();
	}

	#settle(): void {
		this.#isDone = true;
		clearTimeout(this.#timer);
	}

	#postpone(): void {
		if (this.#call.isPatient !== true || this.#isDone) return;
		clearTimeout(this.#timer);
		this.#startTimer();
	}

	#startTimer(): void {
		// Without unref it would delay the end of the program.
		this.#timer = setTimeout(() => this.#fail(new Expired("no answer in time")), this.#timeout).unref();
	}
}
