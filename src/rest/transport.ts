import { type AnyAttempt, Attempt, type Call } from "./attempt.ts";
import { headerValues } from "./answer.ts";
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
	readonly timeout: number;
	readonly #options: TransportOptions;
	readonly #context: ErrorContext;
	/** closed connections on which requests are still in flight */
	readonly #retired = new Set<Promise<unknown>>();
	/** undefined before the first request */
	#connections: Connections | Promise<Connections> | undefined;
	/** the last error that ended a request */
	#lastError: unknown;

	constructor(options: TransportOptions, context: ErrorContext) {
		this.timeout = options.timeout;
		this.#options = options;
		this.#context = context;
	}

	/**
	 * Resolves with what the call reads from its answer. Rejects with what reading throws, with a `RestError` if no answer
	 * came.
	 */
	send<Result>(call: Call<Result>): Promise<Result> {
		const connections = (this.#connections ??= this.#connect());
		if (connections instanceof Promise) {
			return connections.then((opened) => {
				if (this.#connections === connections) this.#connections = opened;
				return this.send(call);
			});
		}
		const { dispatcher, prefix, headers } = connections;
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
		return new Promise((resolve, reject) => dispatcher.dispatch(request, new Attempt(call, this, resolve, reject)));
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

	succeeded(attempt: AnyAttempt, result: unknown): void {
		this.#observe(attempt, attempt.call.isProbe === true ? String(result) : "ok");
	}

	failed(attempt: AnyAttempt, error: unknown): void {
		const code = error instanceof RestError ? error.code : "aborted";
		if (OF_ANOTHER_REQUEST.has(code)) this.#renew();
		this.#observe(attempt, code);
	}

	errorOf(error: unknown, wasSent: boolean): Error {
		this.#lastError = error;
		return outOfMemory(error) ?? classifyFailure(error, wasSent, this.#context);
	}

	#observe({ call, started, head }: AnyAttempt, result: string): void {
		this.#options.onExchange?.({
			method: call.method,
			path: call.path,
			status: head?.status,
			result,
			milliseconds: performance.now() - started,
			date: () => (head === undefined ? undefined : headerValues(head.headers, "date")[0]),
		});
	}

	#connect(): Connections | Promise<Connections> {
		const connections = connect(this.#options);
		const watch = ({ dispatcher }: Connections): void =>
			void dispatcher.on("disconnect", (_origin, _targets, error: Error) => {
				if (error.message === SURPLUS && error !== this.#lastError) this.#options.onSurplusAnswer?.();
			});
		if (connections instanceof Promise) connections.then(watch).catch(() => undefined);
		else watch(connections);
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
		const closed = Promise.resolve(old)
			.then(({ dispatcher }) => dispatcher.close())
			.catch(() => undefined)
			.finally(() => this.#retired.delete(closed));
		this.#retired.add(closed);
	}
}
