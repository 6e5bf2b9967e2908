import type { Readable } from "node:stream";
import { ResponseHandler, Cancels, Deadlines } from "./response-handler.ts";
import type { Answer } from "./answer.ts";
import { classifyFailure } from "./classify-failure.ts";
import { connect, type ConnectionOptions, type Connections } from "./connections.ts";
import type { ErrorContext } from "./errors.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export type Call = {
	readonly method: Method;
	readonly path: string;
	/** names and values in turn */
	readonly headers: string[];
	readonly body: string | Readable | null;
	/** bytes of the answer at most */
	readonly limit: number;
	/** whether the timeout is for silence rather than for the whole attempt */
	readonly patient: boolean;
	readonly signal: AbortSignal | undefined;
};

/** Sends one request and gathers its answer, within its time and size. Follows nothing and repeats nothing. */
export class Transport {
	readonly #options: ConnectionOptions;
	readonly #place: ErrorContext;
	readonly #deadlines: Deadlines;
	readonly #cancels = new Cancels();
	readonly #retired = new Set<Promise<unknown>>();
	#connections: Connections | Promise<Connections>;

	constructor(options: ConnectionOptions, place: ErrorContext) {
		this.#options = options;
		this.#place = place;
		this.#deadlines = new Deadlines(options.timeout);
		this.#connections = connect(options);
	}

	/** Resolves with the answer, whatever it says; rejects with a `RestError`, or the signal's reason. */
	send(call: Call): Promise<Answer> {
		const connections = this.#connections;
		return connections instanceof Promise
			? connections.then((opened) => this.#dispatch(call, opened))
			: this.#dispatch(call, connections);
	}

	/**
	 * Goes on with new connections, after an answer that belongs to another request: on the old ones, every answer
	 * may be one late. What is under way on them may end.
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
			const leave = (): void => {
				this.#deadlines.delete(attempt);
				if (signal !== undefined) this.#cancels.delete(signal, attempt);
			};
			const attempt = new ResponseHandler({
				limit: call.limit,
				deadline: performance.now() + timeout,
				patience: call.patient ? timeout : 0,
				ending: {
					answered: (answer) => {
						leave();
						resolve(answer);
					},
					failed: (error, sent) => {
						leave();
						reject(classifyFailure(error, sent, this.#place));
					},
					cancelled: (cause) => {
						leave();
						reject(cause);
					},
				},
			});
			this.#deadlines.add(attempt);
			if (signal !== undefined) this.#cancels.add(signal, attempt);
			connections.dispatcher.dispatch(
				{
					origin: this.#options.origin,
					method: call.method,
					path: connections.prefix === "" ? call.path : connections.prefix + call.path,
					headers: connections.headers.length === 0 ? call.headers : [...call.headers, ...connections.headers],
					body: call.body,
					// A slow upload is watched by the deadline, which moves with its bytes.
					...(call.patient ? { headersTimeout: 0, bodyTimeout: 0 } : {}),
				},
				attempt,
			);
		});
	}
}
