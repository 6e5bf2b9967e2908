import { describe, expect, test } from "vitest";
import { classifyFailure } from "../../src/rest/classify-failure.ts";
import { untrustedHint } from "../../src/run/stop/reasons.ts";

const context = { host: "host:1", redact: (text: string) => text };
const coded = (code: string, cause?: Error): Error => Object.assign(new Error(code, { cause }), { code });

describe("what a failure means", () => {
	test.each([
		["ECONNREFUSED", "CONNECTION_REFUSED"],
		["ENOTFOUND", "HOST_NOT_FOUND"],
		["EAI_AGAIN", "HOST_LOOKUP_FAILED"],
		["UND_ERR_CONNECT_TIMEOUT", "CONNECT_TIMEOUT"],
		["ETIMEDOUT", "CONNECT_TIMEOUT"],
		["EHOSTUNREACH", "HOST_UNREACHABLE"],
		["ENETUNREACH", "NETWORK_UNREACHABLE"],
		["EADDRNOTAVAIL", "NO_LOCAL_PORT"],
		["EMFILE", "TOO_MANY_OPEN_FILES"],
		["ECONNRESET", "CONNECTION_RESET"],
		["ESOMETHING", "CONNECT_FAILED"],
	])("%s before sending: nothing was changed", (code, name) => {
		expect(classifyFailure(coded(code), false, context)).toMatchObject({ kind: "not_sent", code: name });
	});

	test.each([
		["ECONNRESET", "CONNECTION_RESET"],
		["EPIPE", "CONNECTION_RESET"],
		["UND_ERR_SOCKET", "CONNECTION_CLOSED"],
		["UND_ERR_HEADERS_TIMEOUT", "TIMEOUT"],
		["UND_ERR_BODY_TIMEOUT", "TIMEOUT"],
		["HPE_INVALID_CONSTANT", "BAD_HTTP"],
		["UND_ERR_HEADERS_OVERFLOW", "BAD_HTTP"],
		["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "BAD_HTTP"],
		["ECONNREFUSED", "NO_ANSWER"],
		["ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC", "TLS_FAILED"],
		["EPROTO", "TLS_FAILED"],
	])("%s after sending: it may have been applied", (code, name) => {
		expect(classifyFailure(coded(code), true, context)).toMatchObject({ kind: "ambiguous", code: name });
	});

	test.each([
		["CERT_HAS_EXPIRED", "untrusted", "TLS_EXPIRED"],
		["CERT_NOT_YET_VALID", "untrusted", "TLS_EXPIRED"],
		["ERR_TLS_CERT_ALTNAME_INVALID", "untrusted", "TLS_OTHER_HOST"],
		["ERR_SSL_TLSV1_UNRECOGNIZED_NAME", "untrusted", "TLS_OTHER_HOST"],
		["DEPTH_ZERO_SELF_SIGNED_CERT", "untrusted", "TLS_UNTRUSTED"],
		["SELF_SIGNED_CERT_IN_CHAIN", "untrusted", "TLS_UNTRUSTED"],
		["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "untrusted", "TLS_UNTRUSTED"],
		["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "untrusted", "TLS_UNTRUSTED"],
		["CERT_REVOKED", "untrusted", "TLS_UNTRUSTED"],
		["ERR_SSL_WRONG_VERSION_NUMBER", "not_the_api", "NOT_TLS"],
		["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", "untrusted", "TLS_VERSION"],
		["ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE", "untrusted", "TLS_VERSION"],
		["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "untrusted", "TLS_CLIENT"],
		["ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE", "untrusted", "TLS_CLIENT"],
		["ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", "untrusted", "TLS_CLIENT"],
		["ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR", "not_sent", "TLS_FAILED"],
		["EPROTO", "not_sent", "TLS_FAILED"],
	])("%s is %s, and only an unknown authority is answered with --ca-file", (code, kind, name) => {
		const text =
			"807C:error:0A000410:SSL routines:ssl3_read_bytes:alert:../deps/openssl/ssl/record/rec_layer_s3.c:1601:";
		for (const error of [coded(code, new Error(text)), coded("UND_ERR_PRX_TLS", coded(code))]) {
			const classified = classifyFailure(error, false, context);
			expect(classified).toMatchObject({ kind, code: name });
			expect(classified.message).toContain(code);
			expect(classified.message).not.toContain("deps");
			if (kind === "untrusted") expect(untrustedHint(name).includes("--ca-file")).toBe(name === "TLS_UNTRUSTED");
		}
	});
});
