import { show } from "../text/show.ts";

/**
 * What an answer, or its absence, means for the request. The run decides what to do about it.
 *
 * - `not_sent`: the request certainly did not reach the service (refused, unknown host, connect time-out)
 * - `ambiguous`: it may have been applied (reset, time-out, cut answer, 5xx, an answer that is no envelope)
 * - `throttled`: the service asks to come back later (429, 503 with Retry-After); it was not applied
 * - `rejected`: a complete, definite no to this one request
 * - `contradiction`: a complete no that says: this is another flavour than the one that was spoken (405, code 100)
 * - `doubted`: the key is refused that was accepted before: a RAGFlow server whose database is away says so, too
 * - `untrusted`: key, certificate or redirect refused; no further request makes sense
 * - `not_the_api`: what answers at this address is not this API (an HTML page with status 200)
 */
export type RestErrorKind =
	| "not_sent"
	| "ambiguous"
	| "throttled"
	| "rejected"
	| "contradiction"
	| "doubted"
	| "untrusted"
	| "not_the_api";

/** Of an answer that says that the database behind the service is away. It may have been applied. */
export const DATABASE_AWAY = "DATABASE_AWAY";

/** A request that did not succeed. The message is one sentence, carries no key, and is already safe to show. */
export class RestError extends Error {
	override readonly name = "RestError";
	readonly kind: RestErrorKind;
	/** stable name for scripts: `CODE_102`, `HTTP_503`, `TIMEOUT`, `KEY_REJECTED` ... */
	readonly code: string;
	/** how long the service asks to wait, in milliseconds */
	readonly retryAfter: number | undefined;
	/** HTTP status, where an answer came */
	readonly status: number | undefined;

	constructor(
		message: string,
		options: {
			kind: RestErrorKind;
			code: string;
			retryAfter?: number | undefined;
			status?: number | undefined;
			cause?: unknown;
		},
	) {
		super(message, options.cause === undefined ? {} : { cause: options.cause });
		this.kind = options.kind;
		this.code = options.code;
		this.retryAfter = options.retryAfter;
		this.status = options.status;
	}
}

/** What an error message may say about where a request went. */
export type ErrorContext = {
	/** host and port of the service, and the proxy's, if one is in between */
	readonly host: string;
	/** masks the key, which a server may give back */
	readonly redact: (text: string) => string;
};

/** A text of the service's, fit for an error message: the key is masked before the text is cut. */
export function safe(text: string, place: ErrorContext): string {
	return show(place.redact(text));
}

/** ` "text"`, or nothing where the service said nothing. */
export function quoted(text: string | undefined, place: ErrorContext): string {
	return text === undefined || text.trim() === "" ? "" : ` "${safe(text.trim(), place)}"`;
}
