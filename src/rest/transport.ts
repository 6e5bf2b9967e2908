import { headerValues, type RawAnswer } from "./answer.ts";
import { Attempt, type Call, type Failed } from "./attempt.ts";
import { classifyFailure, outOfMemory } from "./classify-failure.ts";
import { type ConnectionOptions, type Connections, connect } from "./connections.ts";
import { type ErrorContext, RestError } from "./errors.ts";
import type { Exchange } from "./types.ts";

export type TransportOptions = ConnectionOptions & {
	/** of all requests: names and values in turn */
	readonly headers: readonly string[];
	/** called at the end of each request */
	readonly onExchange?: ((exchange: Exchange) => void) | undefined;
	/** called where an answer came that no request had waited for: earlier answers may belong to other requests */
	readonly onSurplusAnswer?: (() => void) | undefined;
};

/** Codes of answers that belong to another request. */
const OF_ANOTHER_REQUEST: ReadonlySet<string> = new Set(["ECHO_MISMATCH", "OTHER_CASE"]);

/** undici's text for an answer without a request (`onMessageBegin` in lib/dispatcher/client-h1.js), and for a 100 Continue to one. */
const SURPLUS = "bad response";

const PATIENT = { headersTimeout: 0, bodyTimeout: 0 };

/** Sends one request and gathers its answer, within limits of time and size. It follows no redirect and repeats nothing. */
export class Transport {
	readonly #options: TransportOptions;
	readonly #context: ErrorContext;
	/** closed connections on which requests are still in flight */
	readonly #retired = new Set<Promise<unknown>>();
	/** undefined before the first request */
	#connections: Promise<Connections> | undefined;
	/** the last error that ended a request */
	#lastError: unknown;

	constructor(options: TransportOptions, context: ErrorContext) {
		this.#options = options;
		this.#context = context;
	}

	/**
	 * Resolves with what the call reads from its answer. Rejects with what reading throws, with a `RestError` if no answer
	 * came.
	 */
	async send<Result>(call: Call<Result>): Promise<Result> {
		const { dispatcher, prefix, headers } = await (this.#connections ??= this.#connect());
		const { method, path, accept = "application/json", headers: own = [], body = null } = call;
		const request = {
			origin: this.#options.origin,
			method,
			path: prefix === "" ? path : prefix + path,
			headers: [...this.#options.headers, "accept", accept, ...own, ...headers],
			body,
			// The deadline of a slow upload moves with its bytes, so undici's own timeouts are off.
			...(call.isPatient === true ? PATIENT : undefined),
		};
		const started = performance.now();
		const observe = (result: string, { status, headers: of }: Pick<Failed, "status" | "headers">): void => {
			const date = (): string | undefined => headerValues(of, "date")[0];
			this.#options.onExchange?.({ method, path, status, result, milliseconds: performance.now() - started, date });
		};
		return new Promise((resolve, reject) => {
			const fail = (error: unknown, end: RawAnswer | Failed): void => {
				const code = error instanceof RestError ? error.code : "aborted";
				if (OF_ANOTHER_REQUEST.has(code)) this.#renew();
				observe(code, end);
				reject(error);
			};
			const attempt = new Attempt(call, this.#options.timeout, (end) => {
				if ("cause" in end) return fail(this.#errorOf(end), end);
				try {
					const result = call.read(end);
					observe(call.isProbe === true ? String(result) : "ok", end);
					resolve(result);
				} catch (error) {
					fail(error, end);
				}
			});
			dispatcher.dispatch(request, attempt);
		});
	}

	/** Fails the requests in flight, and all that follow. */
	async close(): Promise<void> {
		const { dispatcher } = await (this.#connections ??= this.#connect());
		// A socket asks its error for the stack. V8 would count the lines of the whole program for it.
		const error = Object.assign(new Error("the connections were closed"), { code: "UND_ERR_DESTROYED" });
		error.stack = error.message;
		await dispatcher.destroy(error);
		await Promise.all(this.#retired);
	}

	#errorOf({ cause, isOfSink, wasSent }: Failed): unknown {
		this.#lastError = cause;
		return isOfSink ? cause : (outOfMemory(cause) ?? classifyFailure(cause, wasSent, this.#context));
	}

	async #connect(): Promise<Connections> {
		const connections = await connect(this.#options);
		connections.dispatcher.on("disconnect", (_origin, _targets, error: Error) => {
			if (error.message === SURPLUS && error !== this.#lastError) this.#options.onSurplusAnswer?.();
		});
		return connections;
	}

	/**
	 * Takes new connections for all further requests, after an answer that belongs to another request. Every answer on the
	 * old connections may be one late. Requests that are in flight on them may still end.
	 */
	#renew(): void {
		const old = this.#connections;
		this.#connections = undefined;
		if (old === undefined) return;
		const closed = old
			.then(({ dispatcher }) => dispatcher.close())
			.catch(() => undefined)
			.finally(() => this.#retired.delete(closed));
		this.#retired.add(closed);
	}
}
