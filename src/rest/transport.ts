import type { Readable } from "node:stream";
import type { RawAnswer } from "./answer.ts";
import { classifyFailure, outOfMemory } from "./classify-failure.ts";
import { connect, type ConnectionOptions, type Connections } from "./connections.ts";
import { type ErrorContext, RestError } from "./errors.ts";
import { InFlight } from "./in-flight.ts";
import type { Reservable } from "./reservation.ts";
import { ResponseHandler, type ResponseListener } from "./response-handler.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export type Call<Result> = {
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
	/** whether the debug record has the result of reading the answer */
	readonly isProbe?: true;
	/** reads a complete answer, success or not; what it throws, the call rejects with */
	readonly read: (answer: RawAnswer) => Result;
};

/** Codes of answers that belong to another request. */
const OF_ANOTHER_REQUEST: ReadonlySet<string> = new Set(["ECHO_MISMATCH", "OTHER_CASE"]);

/** Sends one request and gathers its answer, within limits of time and size. It follows no redirect and repeats nothing. */
export class Transport implements Reservable {
	readonly #options: ConnectionOptions;
	readonly #inFlight: InFlight;
	/** one object for all attempts */
	readonly #listener: ResponseListener;
	/** closed connections on which requests are still in flight */
	readonly #retired = new Set<Promise<unknown>>();
	#connections: Connections | Promise<Connections>;

	constructor(options: ConnectionOptions, context: ErrorContext) {
		this.#options = options;
		this.#inFlight = new InFlight(options.timeout);
		this.#listener = {
			ended: (attempt) => this.#inFlight.delete(attempt),
			failure: (error, wasSent) => outOfMemory(error) ?? classifyFailure(error, wasSent, context),
		};
		this.#connections = connect(options);
	}

	/**
	 * Resolves with what the call reads from its answer. Rejects with what reading throws, with a `RestError` if no answer
	 * came, or with the signal's reason.
	 */
	send<Result>(call: Call<Result>): Promise<Result> {
		const connections = this.#connections;
		return connections instanceof Promise
			? connections.then((opened) => this.#dispatch(call, opened))
			: this.#dispatch(call, connections);
	}

	reserve(signal: AbortSignal | undefined): ReturnType<Reservable["reserve"]> {
		const connections = this.#connections;
		// A tunnel opens its connections by itself.
		if (!(connections instanceof Promise)) return connections.dispatcher.reserve?.(signal);
		return connections.then(({ dispatcher }) => dispatcher.reserve?.(signal));
	}

	async close(): Promise<void> {
		this.#inFlight.close();
		const { dispatcher } = await this.#connections;
		await dispatcher.destroy();
		await Promise.all(this.#retired);
	}

	#dispatch<Result>(call: Call<Result>, connections: Connections): Promise<Result> {
		const { signal, isPatient } = call;
		const { timeout } = this.#options;
		return new Promise((resolve, reject) => {
			// The contract is to reject with the signal's reason, which need not be an Error.
			if (signal?.aborted === true) return reject(signal.reason);
			const attempt = new ResponseHandler({
				limit: call.limit,
				deadline: performance.now() + timeout,
				patience: isPatient ? timeout : 0,
				signal,
				listener: this.#listener,
				answered: (answer) => {
					try {
						resolve(call.read(answer));
					} catch (error) {
						if (error instanceof RestError && OF_ANOTHER_REQUEST.has(error.code)) this.#renew();
						reject(error);
					}
				},
				failed: reject,
			});
			this.#inFlight.add(attempt);
			const { prefix, headers } = connections;
			connections.dispatcher.dispatch(
				{
					origin: this.#options.origin,
					method: call.method,
					path: prefix === "" ? call.path : prefix + call.path,
					headers: headers.length === 0 ? call.headers : [...call.headers, ...headers],
					body: call.body,
					// The deadline of a slow upload moves with its bytes, so undici's own timeouts are off.
					...(isPatient ? PATIENT : undefined),
				},
				attempt,
			);
		});
	}

	/**
	 * Takes new connections for all further requests, after an answer that belongs to another request. Every answer on the
	 * old connections may be one late. Requests that are in flight on them may still end.
	 */
	#renew(): void {
		const old = this.#connections;
		this.#connections = connect(this.#options);
		const closed = Promise.resolve(old)
			.then(({ dispatcher }) => dispatcher.close())
			.catch(() => undefined)
			.finally(() => this.#retired.delete(closed));
		this.#retired.add(closed);
	}
}

const PATIENT = { headersTimeout: 0, bodyTimeout: 0 };
