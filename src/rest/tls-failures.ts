import { isCertificateError, type RestErrorKind } from "./errors.ts";

type TlsFailure = readonly [kind: RestErrorKind, code: string, words: string];

/** Failures of TLS by the codes of Node and OpenSSL; the first that matches counts. Their own texts name files of OpenSSL. */
const FAILURES: readonly (readonly [codes: RegExp, ...TlsFailure])[] = [
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
export function tlsFailure(code: string): TlsFailure | undefined {
	const found = FAILURES.find(([codes]) => codes.test(code));
	if (found !== undefined) return [found[1], found[2], `${found[3]} (${code})`];
	return isCertificateError(code)
		? ["untrusted", "TLS_UNTRUSTED", `the certificate is not trusted (${code})`]
		: undefined;
}
