import nock from "nock";
import { afterEach, describe, expect, test } from "vitest";
import { classifyFailure } from "../../src/rest/classify-failure.ts";
import { apiFor, rejection } from "./raw-server.ts";

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
	])("%s after sending: it may have been applied", (code, name) => {
		expect(classifyFailure(coded(code), true, context)).toMatchObject({ kind: "ambiguous", code: name });
	});

	test.each([
		"CERT_HAS_EXPIRED",
		"ERR_TLS_CERT_ALTNAME_INVALID",
		"DEPTH_ZERO_SELF_SIGNED_CERT",
		"SELF_SIGNED_CERT_IN_CHAIN",
		"UNABLE_TO_VERIFY_LEAF_SIGNATURE",
		"UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
		"CERT_REVOKED",
		"CERT_NOT_YET_VALID",
	])("%s stops the run and says what to use", (code) => {
		for (const error of [coded(code), coded("UND_ERR_PRX_TLS", coded(code))]) {
			const classified = classifyFailure(error, false, context);
			expect(classified).toMatchObject({ kind: "untrusted", code: "TLS_UNTRUSTED" });
			expect(classified.message).toContain(code);
			expect(classified.message).toContain("--ca-file");
		}
	});

	test("a port without TLS and an old TLS version are distinguished", () => {
		expect(classifyFailure(coded("ERR_SSL_WRONG_VERSION_NUMBER"), false, context)).toMatchObject({
			kind: "not_the_api",
			code: "NOT_TLS",
		});
		const old = classifyFailure(coded("ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION"), false, context);
		expect(old).toMatchObject({ kind: "untrusted", code: "TLS_UNTRUSTED" });
	});
});

describe("failures that are hard to provoke, through the whole client", () => {
	afterEach(() => {
		nock.cleanAll();
		nock.restore();
		nock.activate();
	});

	test.each([
		[401, { code: 401, message: "no" }, { kind: "untrusted", code: "KEY_REJECTED" }],
		[200, { code: 109, message: "no" }, { kind: "untrusted", code: "KEY_REJECTED" }],
		[429, "", { kind: "throttled", code: "HTTP_429", retryAfter: 12_000 }],
		[507, "", { kind: "ambiguous", code: "HTTP_507" }],
	])("%i %j", async (status, body, expected) => {
		const scope = nock("http://service.test", { reqheaders: { authorization: /^Bearer / } })
			.put("/api/v1/datasets/ds/documents/d1", /"meta_fields":\{"a":1\}/)
			.reply(status, body, { "retry-after": "12" });
		const api = apiFor("http://service.test/api/v1");
		expect(await rejection(api.updateMetadata("ds", "d1", new Map([["a", 1]])))).toMatchObject(expected);
		expect(scope.isDone()).toBe(true);
		await api.close();
	});
});
