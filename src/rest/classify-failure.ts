import { errorCode, reason } from "../errors.ts";
import { RestError, type RestErrorKind, type ErrorContext, safe } from "./errors.ts";

/** What ended an attempt, from us: each has its own meaning, so none is told apart by its words. */
export class Expired extends Error {}
export class TooLarge extends Error {}

const connecting: Readonly<Record<string, readonly [code: string, words: string]>> = {
	ECONNREFUSED: ["CONNECTION_REFUSED", "the connection was refused"],
	ENOTFOUND: ["HOST_NOT_FOUND", "no such host"],
	EAI_AGAIN: ["HOST_LOOKUP_FAILED", "the name could not be looked up"],
	UND_ERR_CONNECT_TIMEOUT: ["CONNECT_TIMEOUT", "no connection in time"],
	ETIMEDOUT: ["CONNECT_TIMEOUT", "no connection in time"],
	EHOSTUNREACH: ["HOST_UNREACHABLE", "the host can't be reached"],
	ENETUNREACH: ["NETWORK_UNREACHABLE", "the network can't be reached"],
	EADDRNOTAVAIL: ["NO_LOCAL_PORT", "this machine has no free port"],
	EMFILE: ["TOO_MANY_OPEN_FILES", "this process has too many open files"],
	ENFILE: ["TOO_MANY_OPEN_FILES", "this machine has too many open files"],
	ECONNRESET: ["CONNECTION_RESET", "the connection was reset before anything was sent"],
	UND_ERR_DESTROYED: ["CLOSED", "the connections were closed"],
	UND_ERR_CLOSED: ["CLOSED", "the connections were closed"],
};

const answering: Readonly<Record<string, readonly [code: string, words: string]>> = {
	ECONNRESET: ["CONNECTION_RESET", "the connection was reset before the answer was complete"],
	EPIPE: ["CONNECTION_RESET", "the connection was closed while the request was sent"],
	UND_ERR_SOCKET: ["CONNECTION_CLOSED", "the connection was closed before the answer was complete"],
	UND_ERR_HEADERS_TIMEOUT: ["TIMEOUT", "no answer in time"],
	UND_ERR_BODY_TIMEOUT: ["TIMEOUT", "the answer did not come to its end in time"],
	ETIMEDOUT: ["TIMEOUT", "the connection fell silent"],
	UND_ERR_DESTROYED: ["CLOSED", "the connections were closed before the answer was complete"],
};

// OpenSSL's verification errors as Node names them.
const certificate =
	/^(?:CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_(?:CA|PURPOSE)|PATH_LENGTH_EXCEEDED|ERROR_IN_CERT_)/;

/**
 * What it means that no complete answer came.
 *
 * @param sent whether the request was handed to a connection; before that, it certainly did not reach the service
 */
export function classifyFailure(error: unknown, sent: boolean, place: ErrorContext): RestError {
	if (error instanceof RestError) return error;
	const cause = innermost(error);
	const code = errorCode(cause) ?? "";
	const make = (kind: RestErrorKind, name: string, words: string): RestError =>
		new RestError(`${place.host}: ${words}`, { kind, code: name });

	if (error instanceof Expired)
		return make(
			sent ? "ambiguous" : "not_sent",
			"TIMEOUT",
			sent ? "no answer in time" : "no connection was free in time",
		);
	if (error instanceof TooLarge)
		return make("ambiguous", "ANSWER_TOO_LARGE", "the answer is larger than any answer of this API");
	if (certificate.test(code)) {
		return make(
			"untrusted",
			"TLS_UNTRUSTED",
			`the certificate is not trusted (${code}); use --ca-file, there is no insecure switch`,
		);
	}
	if (/^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/.test(code)) {
		return make("not_the_api", "NOT_TLS", `the port does not speak TLS (${code}); is this an http address?`);
	}
	if (/^ERR_SSL_.*(?:PROTOCOL|VERSION|HANDSHAKE_FAILURE|NO_SHARED_CIPHER)/.test(code)) {
		return make("untrusted", "TLS_UNTRUSTED", `no common TLS version or cipher (${code})`);
	}
	if (!sent) return unsent(cause, code, place, make);
	if (isUnaskedContinue(cause, code)) {
		return make(
			"ambiguous",
			"UNASKED_CONTINUE",
			"the proxy sends 100 Continue unasked, so the answer behind it can't be read; no request asks for it: turn that off there",
		);
	}
	const known = answering[code];
	if (known !== undefined) return make("ambiguous", known[0], known[1]);
	if (isParserError(cause, code)) {
		return make(
			"ambiguous",
			"BAD_HTTP",
			"the answer is not well-formed HTTP; is this an https port, or was the answer cut?",
		);
	}
	return make("ambiguous", "NO_ANSWER", safe(reason(cause), place));
}

function unsent(
	cause: unknown,
	code: string,
	place: ErrorContext,
	make: (kind: RestErrorKind, name: string, words: string) => RestError,
): RestError {
	// The proxy's refusal of a tunnel comes as text alone.
	const refused = /Proxy response \((\d{3})\)|Proxy Authentication Required \((407)\)/.exec(reason(cause));
	const status = refused?.[1] ?? refused?.[2];
	if (status === "407") return make("untrusted", "PROXY", "the proxy asks for credentials (407)");
	if (status !== undefined) return make("not_sent", "PROXY", `the proxy opened no connection (${status})`);
	const known = connecting[code];
	if (known !== undefined) return make("not_sent", known[0], known[1]);
	return make("not_sent", "CONNECT_FAILED", safe(reason(cause), place));
}

/**
 * undici gives up a connection with these words in two cases (lib/dispatcher/client-h1.js of 7.30): a 100 Continue, as it
 * never asks for one, and an answer while no request is under way, which fails none.
 */
function isUnaskedContinue(cause: unknown, code: string): boolean {
	return code === "UND_ERR_SOCKET" && cause instanceof Error && cause.message === "bad response";
}

function isParserError(cause: unknown, code: string): boolean {
	// The parser has no code for an answer that does not even begin like HTTP.
	if (cause instanceof Error && cause.name === "HTTPParserError") return true;
	return /^HPE_|^UND_ERR_(?:HEADERS_OVERFLOW|RES_CONTENT_LENGTH_MISMATCH)$/.test(code);
}

/** undici and Node wrap what happened: the innermost error with a code says it best. */
function innermost(error: unknown): unknown {
	let best = error;
	for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
		if (errorCode(at) !== undefined) best = at;
	}
	return best;
}
