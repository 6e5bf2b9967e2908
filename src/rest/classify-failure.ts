import { CliError, errorCode, Exit, reason } from "../errors.ts";
import { type ErrorContext, isCertificateError, RestError, type RestErrorKind, safe } from "./errors.ts";

/** Ends of an attempt that this program causes. Each is a class of its own, so that none is recognised by its words. */
export class Expired extends Error {}
export class TooLarge extends Error {}

/** Errors before a request was handed to a connection, by their code in Node or undici. */
const CONNECT_ERRORS: Readonly<Record<string, readonly [code: string, words: string]>> = {
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

/** Errors after that. */
const ANSWER_ERRORS: Readonly<Record<string, readonly [code: string, words: string]>> = {
	ECONNRESET: ["CONNECTION_RESET", "the connection was reset before the answer was complete"],
	EPIPE: ["CONNECTION_RESET", "the connection was closed while the request was sent"],
	UND_ERR_SOCKET: ["CONNECTION_CLOSED", "the connection was closed before the answer was complete"],
	UND_ERR_HEADERS_TIMEOUT: ["TIMEOUT", "no answer in time"],
	UND_ERR_BODY_TIMEOUT: ["TIMEOUT", "the answer did not come to its end in time"],
	ETIMEDOUT: ["TIMEOUT", "the connection fell silent"],
	UND_ERR_DESTROYED: ["CLOSED", "the connections were closed before the answer was complete"],
};

/**
 * The error of an attempt without a complete answer.
 *
 * @param wasSent whether the request was handed to a connection; before that, it certainly did not reach the service
 */
export function classifyFailure(error: unknown, wasSent: boolean, context: ErrorContext): RestError {
	if (error instanceof RestError) return error;
	const [kind, code, words] = failureOf(error, wasSent, context);
	return new RestError(`${context.host}: ${words}`, { kind, code });
}

type Failure = readonly [kind: RestErrorKind, code: string, words: string];

function failureOf(error: unknown, wasSent: boolean, context: ErrorContext): Failure {
	const cause = innermost(error);
	const code = errorCode(cause) ?? "";
	if (error instanceof Expired && wasSent) return ["ambiguous", "TIMEOUT", "no answer in time"];
	if (error instanceof Expired) return ["not_sent", "TIMEOUT", "no connection was free in time"];
	if (error instanceof TooLarge)
		return ["ambiguous", "ANSWER_TOO_LARGE", "the answer is larger than any answer of this API"];
	const tls = tlsFailure(code);
	// TLS may also fail after its handshake, when the service has the request.
	if (tls?.[0] === "not_sent" && wasSent)
		return ["ambiguous", tls[1], `TLS failed before the answer was complete (${code})`];
	if (tls !== undefined) return tls;
	if (!wasSent) return notSent(cause, code, context);
	const known = ANSWER_ERRORS[code];
	if (known !== undefined) return ["ambiguous", ...known];
	if (isParserError(cause, code)) {
		const words = "the answer is not well-formed HTTP; is this an https port, or was the answer cut?";
		return ["ambiguous", "BAD_HTTP", words];
	}
	return ["ambiguous", "NO_ANSWER", safe(reason(cause), context)];
}

function notSent(cause: unknown, code: string, context: ErrorContext): Failure {
	// A proxy's refusal of a tunnel has no code: only its text shows it.
	const refused = /Proxy response \((\d{3})\)|Proxy Authentication Required \((407)\)/.exec(reason(cause));
	const status = refused?.[1] ?? refused?.[2];
	if (status === "407") return ["untrusted", "PROXY", "the proxy asks for credentials (407)"];
	if (status !== undefined) return ["not_sent", "PROXY", `the proxy opened no connection (${status})`];
	const known = CONNECT_ERRORS[code] ?? (["CONNECT_FAILED", safe(reason(cause), context)] as const);
	return ["not_sent", ...known];
}

function isParserError(cause: unknown, code: string): boolean {
	// The parser has no code for an answer that does not begin like HTTP.
	if (cause instanceof Error && cause.name === "HTTPParserError") return true;
	return /^HPE_|^UND_ERR_(?:HEADERS_OVERFLOW|RES_CONTENT_LENGTH_MISMATCH)$/.test(code);
}

/** undici's parser is WebAssembly, which reserves much address space: `ulimit -v` may leave too little. No retry helps. */
export function outOfMemory(error: unknown): CliError | undefined {
	if (!(error instanceof RangeError) || !error.message.startsWith("WebAssembly.")) return undefined;
	return new CliError("this machine allows the program too little memory for a connection; nothing more was sent", {
		exit: Exit.storage,
		hint: "Raise the limit (ulimit -v unlimited), or run the same command on another machine.",
		cause: error,
	});
}

/** undici and Node wrap the original error. The innermost error with a code is the most specific. */
function innermost(error: unknown): unknown {
	let best = error;
	for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
		if (errorCode(at) !== undefined) best = at;
	}
	return best;
}

/** Failures of TLS by the codes of Node and OpenSSL; the first that matches counts. Their own texts name files of OpenSSL. */
const TLS_FAILURES: readonly (readonly [codes: RegExp, ...Failure])[] = [
	[/^CERT_HAS_EXPIRED$/, "untrusted", "TLS_EXPIRED", "the certificate has expired"],
	[/^CERT_NOT_YET_VALID$/, "untrusted", "TLS_EXPIRED", "the certificate is not valid yet"],
	[/^(?:ERR_TLS_CERT_ALTNAME|HOSTNAME_MISMATCH)/, "untrusted", "TLS_OTHER_HOST", "the certificate is another host's"],
	[
		/^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/,
		"not_the_api",
		"NOT_TLS",
		"the port does not speak TLS",
	],
	[
		/^ERR_SSL_.*(?:PROTOCOL|VERSION|HANDSHAKE_FAILURE|NO_SHARED_CIPHER)/,
		"untrusted",
		"TLS_VERSION",
		"there is no common TLS version or cipher, or the service asks for a certificate of the client",
	],
	[
		/^ERR_SSL_.*ALERT_(?:.*CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/,
		"untrusted",
		"TLS_CLIENT",
		"the service asks for a certificate of the client, which ragtag can't give",
	],
	[/^ERR_SSL_.*UNRECOGNIZED_NAME/, "untrusted", "TLS_OTHER_HOST", "the server does not know this host name"],
	[/^(?:ERR_SSL_|EPROTO$)/, "not_sent", "TLS_FAILED", "the TLS handshake failed"],
];

/** The failure of TLS that a code means; undefined for any other code. */
function tlsFailure(code: string): Failure | undefined {
	const found = TLS_FAILURES.find(([codes]) => codes.test(code));
	if (found !== undefined) return [found[1], found[2], `${found[3]} (${code})`];
	return isCertificateError(code)
		? ["untrusted", "TLS_UNTRUSTED", `the certificate is not trusted (${code})`]
		: undefined;
}
