import { show } from "../text/show.ts";

/**
 * The meaning of an answer, or of its absence, for the request. The run decides what to do.
 *
 * - `not_sent`: the request certainly did not reach the service (refused, unknown host, connect time-out)
 * - `ambiguous`: it may have been applied (reset, time-out, cut answer, 5xx, an answer without an envelope)
 * - `throttled`: the service asks the client to come back later (429, 503 with Retry-After); it was not applied
 * - `rejected`: a complete, definite refusal of this one request
 * - `contradiction`: a complete refusal that shows another flavour than the assumed one (405, code 100)
 * - `doubted`: the service refuses a key that it accepted before; RAGFlow also does so while its database is away
 * - `untrusted`: key, certificate or redirect refused; no further request makes sense
 * - `not_the_api`: another program than this API answers at this address (an HTML page with status 200)
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

/** The code of an answer that says that the service's database is away. The request may have been applied. */
export const DATABASE_AWAY = "DATABASE_AWAY";

/** The code of a refused update after which the document may have no metadata at all. */
export const METADATA_REFUSED = "METADATA_REFUSED";

/** The code of a 403 that is no answer of the API: a proxy or firewall before the service refused the request. */
export const PROXY_REFUSED = "PROXY_REFUSED";

/** A request that only some flavours send: an update with that verb, or a removal with the id in that place. */
export type FlavourRequest = "PUT" | "PATCH" | "path" | "body";

/** A request that did not succeed. The message is one sentence, contains no key, and is safe to show. */
export class RestError extends Error {
	override readonly name = "RestError";
	readonly kind: RestErrorKind;
	/** stable name for scripts: `CODE_102`, `HTTP_503`, `TIMEOUT`, `KEY_REJECTED` ... */
	readonly code: string;
	/** how long the service asks the client to wait, in milliseconds */
	readonly retryAfter: number | undefined;
	/** HTTP status, if an answer came */
	readonly status: number | undefined;
	/** the request for which the service has no route: no flavour that sends it is right */
	readonly unrouted: FlavourRequest | undefined;
	/** whether the answer has no envelope of the API: a proxy, or a service that is not up, may have given it */
	readonly isForeign: boolean;

	constructor(
		message: string,
		options: Pick<RestError, "kind" | "code"> &
			Partial<Pick<RestError, "retryAfter" | "status" | "unrouted" | "isForeign" | "cause">>,
	) {
		super(message, options.cause === undefined ? {} : { cause: options.cause });
		this.kind = options.kind;
		this.code = options.code;
		this.retryAfter = options.retryAfter;
		this.status = options.status;
		this.unrouted = options.unrouted;
		this.isForeign = options.isForeign ?? false;
	}

	/** Whether the service has refused this one request, completely. */
	get isRefusal(): boolean {
		return this.kind === "rejected" || this.kind === "contradiction";
	}
}

/** A definite refusal of one request or one row. */
export function rejected(
	code: string,
	message: string,
	more?: Partial<Pick<RestError, "status" | "cause">>,
): RestError {
	return new RestError(message, { kind: "rejected", code, ...more });
}

/**
 * The error for an update that was answered with success, and left its document without the metadata. RAGFlow v1.0 ignores
 * that its search engine refused it (InsertMetadata in internal/engine/elasticsearch/metadata.go).
 */
export function metadataLost({ documentId }: { readonly documentId: string }): RestError {
	const text = `the service answered success to the update of document ${show(documentId)}, and shows no metadata for it`;
	return rejected(METADATA_REFUSED, text);
}

/** The names of the service for error messages, and the mask of the key. */
export type ErrorContext = {
	/** host and port of the service, and those of the proxy, if there is one */
	readonly host: string;
	/** masks the key, which a server may give back */
	readonly redact: (text: string) => string;
};

/** A text from the service, safe for an error message. The key is masked before the text is cut. */
export function safe(text: string, context: ErrorContext): string {
	return show(context.redact(text));
}

/** ` "text"`, or an empty text if the service gave none. */
export function quoted(text: string | undefined, context: ErrorContext): string {
	return text === undefined || text.trim() === "" ? "" : ` "${safe(text.trim(), context)}"`;
}

/** OpenSSL's verification errors as Node names them. */
const CERTIFICATE_ERROR =
	/^(?:CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_(?:CA|PURPOSE)|PATH_LENGTH_EXCEEDED|ERROR_IN_CERT_)/;

/** Whether an error of a connection, by Node's code, says that a certificate is not trusted. */
export function isCertificateError(code: string): boolean {
	return CERTIFICATE_ERROR.test(code);
}
