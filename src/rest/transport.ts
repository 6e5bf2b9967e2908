import type { Readable } from "node:stream";
import type { Answer } from "./answer.ts";
import { classifyFailure } from "./classify-failure.ts";
import { connect, type ConnectionOptions, type Connections } from "./connections.ts";
import type { ErrorContext } from "./errors.ts";
import { Cancellations, Deadlines, ResponseHandler } from "./response-handler.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export type Call = {
	readonly method: Method;
	readonly path: string;
	/** names and values in turn */
	readonly headers: string[];
	readonly body: string | Readable | null;
	/** the largest accepted answer, in bytes */
	readonly limit: number;
	/** whether the timeout counts from the last byte that moved, and not from the start of the attempt */
	readonly isPatient: boolean;
	readonly signal: AbortSignal | undefined;
};

/** Sends one request and gathers its answer, within limits of time and size. It follows no redirect and repeats nothing. */
export class Transport {
	readonly #options: ConnectionOptions;
	readonly #context: ErrorContext;
	readonly #deadlines: Deadlines;
	readonly #cancellations = new Cancellations();
	/** closed connections on which requests are still in flight */
	readonly #retired = new Set<Promise<unknown>>();
	#connections: Connections | Promise<Connections>;

	constructor(options: ConnectionOptions, context: ErrorContext) {
		this.#options = options;
		this.#context = context;
		this.#deadlines = new Deadlines(options.timeout);
		this.#connections = connect(options);
	}

	/** Resolves with the answer, success or not. Rejects with a `RestError`, or with the signal's reason. */
	send(call: Call): Promise<Answer> {
		const connections = this.#connections;
		return connections instanceof Promise
			? connections.then((opened) => this.#dispatch(call, opened))
			: this.#dispatch(call, connections);
	}

	/**
	 * Takes new connections for all further requests, after an answer that belongs to another request. Every answer on the
	 * old connections may be one late. Requests that are in flight on them may still end.
	 */
	renew(): void {
		const old = this.#connections;
		this.#connections = connect(this.#options);
		const closed = Promise.resolve(old)
			.then(({ dispatcher }) => dispatcher.close())
			.catch(() => undefined)
			.finally(() => this.#retired.delete(closed));
		this.#retired.add(closed);
	}

	async close(): Promise<void> {
		this.#deadlines.close();
		const { dispatcher } = await this.#connections;
		await dispatcher.destroy();
		await Promise.all(this.#retired);
	}

	#dispatch(call: Call, connections: Connections): Promise<Answer> {
		const { signal } = call;
		const { timeout } = this.#options;
		return new Promise((resolve, reject) => {
			// The contract is to reject with the signal's reason, which need not be an Error.
			if (signal?.aborted === true) return reject(signal.reason);
			const release = (): void => {
				this.#deadlines.delete(attempt);
				if (signal !== undefined) this.#cancellations.delete(signal, attempt);
			};
			const attempt = new ResponseHandler({
				limit: call.limit,
				deadline: performance.now() + timeout,
				patience: call.isPatient ? timeout : 0,
				listener: {
					answered: (answer) => {
						release();
						resolve(answer);
					},
					failed: (error, wasSent) => {
						release();
						reject(classifyFailure(error, wasSent, this.#context));
					},
					cancelled: (cause) => {
						release();
						reject(cause);
					},
				},
			});
			this.#deadlines.add(attempt);
			if (signal !== undefined) this.#cancellations.add(signal, attempt);
			connections.dispatcher.dispatch(
				{
					origin: this.#options.origin,
					method: call.method,
					path: connections.prefix === "" ? call.path : connections.prefix + call.path,
					headers: connections.headers.length === 0 ? call.headers : [...call.headers, ...connections.headers],
					body: call.body,
					// The deadline of a slow upload moves with its bytes, so undici's own timeouts are off.
					...(call.isPatient ? { headersTimeout: 0, bodyTimeout: 0 } : {}),
				},
				attempt,
			);
		});
	}
}
