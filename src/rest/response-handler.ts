import { isUtf8 } from "node:buffer";
import type { Dispatcher } from "undici";
import type { Cancellable } from "./cancels.ts";
import type { Answer } from "./classify.ts";
import { Expired, TooLarge } from "./classify-failure.ts";
import type { Due } from "./deadlines.ts";
import type { RawHeaders } from "./headers.ts";

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
