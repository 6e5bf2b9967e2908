import { describe, expect, test } from "vitest";
import { classifyAnswer, errorOfRoute } from "../../src/rest/classify.ts";
import { answerOf, readEnvelope } from "./decoded.ts";
import { RestError } from "../../src/rest/errors.ts";
import { documented } from "../../src/rest/flavours.ts";
import { redactor } from "../../src/text/redactor.ts";
import { ragflow1 } from "../support/flavours.ts";

const context = { host: "host:1", redact: redactor("ragflow-SECRETkeyBODY") };

function classify(status: number, text: string | undefined, headers: string[] = []): RestError | "success" {
	const result = classifyAnswer(answerOf(status, text, headers), { flavour: documented, context, now: 0 });
	return result instanceof RestError ? result : "success";
}

describe("only a whole envelope with the number 0 is a success", () => {
	test.each([
		'{"code":0}',
		'{"code":-0}',
		'{"code":0.0}',
		'{"code":1e-400}',
		'\uFEFF{"code":0}',
		' {"code":0,"data":null} \n',
		'{"code":0,"data":true}',
		'{"code":0,"data":{"code":0}}',
		'{"code":0,"data":{"code":5,"a":"\\"code\\":1"},"message":"\\u0041"}',
		`{"code":0,"data":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
	])("%.60s", (text) => {
		expect(classify(200, text)).toBe("success");
	});

	test.each([
		"",
		" ",
		"0",
		"null",
		"[]",
		'"ok"',
		"true",
		"{}",
		"[0]",
		'{"code":"0"}',
		'{"code":false}',
		'{"code":null}',
		'{"code":[]}',
		'{"code":"0n"}',
		'{"code":0.5}',
		'{"Code":0}',
		'{"data":{"code":0}}',
		'{"code":0',
		'{"code":0}}',
		'{"code":0}x',
		'{"code":102,"code":0}',
		'{"code":0,"code":102}',
		'{"code":102,"\\u0063ode":0}',
		'{"code":0,"data":{},"code":0}',
		'{"data":["code",{"code":1}],"code":1,"message":"\\\\","code":0}',
		'{"code":NaN}',
		undefined,
	])("%s is no answer of this API: the row may or may not have been changed", (text) => {
		expect(classify(200, text)).toMatchObject({ kind: "ambiguous", code: "BAD_ENVELOPE" });
	});

	test("a success cut at any byte is no success", () => {
		const whole = '{"code":0,"message":"Success","data":{"document_id":"d1","n":"é"}}';
		for (let length = 0; length < whole.length; length++)
			expect(readEnvelope(whole.slice(0, length))).toBeTypeOf("string");
	});

	test.each([204, 205, 202, 206])("%i without an envelope is no success", (status) => {
		expect(classify(status, "")).toMatchObject({ kind: "ambiguous", code: "BAD_ENVELOPE", status });
	});

	test("a compressed answer, which was not asked for, is named as such", () => {
		const error = classify(200, undefined, ["Content-Encoding", "gzip"]);
		expect(error).toMatchObject({
			kind: "ambiguous",
			code: "BAD_ENVELOPE",
			message: expect.stringContaining('"gzip"'),
		});
	});
});

describe("what a code inside a 200 means", () => {
	test.each([
		[401, "untrusted", "KEY_REJECTED"],
		[109, "untrusted", "KEY_REJECTED"],
		[403, "rejected", "FORBIDDEN"],
		[108, "rejected", "FORBIDDEN"],
		[429, "throttled", "CODE_429"],
		...[408, 425, 500, 502, 503, 504].map((code) => [code, "ambiguous", `CODE_${code}`] as const),
		[404, "rejected", "NOT_FOUND"],
		[100, "contradiction", "CODE_100"],
		[405, "contradiction", "CODE_405"],
		...[101, 102, 103, 105, 106, 400, 409, 501, 1, -1].map((code) => [code, "rejected", `CODE_${code}`] as const),
	] as const)("%i is %s", (code, kind, name) => {
		const error = classify(200, JSON.stringify({ code, message: "no" }));
		expect(error).toMatchObject({ kind, code: name, status: 200, message: expect.stringContaining('"no"') });
	});

	test("code 0 with data false is a refused key, or a run would report thousands of writes that did not happen", () => {
		const error = classify(200, '{"code":0,"data":false,"message":"Authorization is not valid!"}');
		expect(error).toMatchObject({ kind: "untrusted", code: "KEY_REJECTED" });
	});
});

describe("what a status means", () => {
	const table = Array.from({ length: 300 }, (_, at) => at + 300).map((status) => {
		if (status < 400) return [status, "untrusted", "REDIRECT"] as const;
		if (status === 401) return [status, "untrusted", "KEY_REJECTED"] as const;
		if (status === 403) return [status, "rejected", "FORBIDDEN"] as const;
		if (status === 404) return [status, "rejected", "NOT_FOUND"] as const;
		if ([405, 415, 501].includes(status)) return [status, "contradiction", `HTTP_${status}`] as const;
		if (status === 407) return [status, "untrusted", "PROXY"] as const;
		if (status === 429) return [status, "throttled", "HTTP_429"] as const;
		const definite = status < 500 ? ![408, 425].includes(status) : [505, 506, 511].includes(status);
		return [status, definite ? "rejected" : "ambiguous", `HTTP_${status}`] as const;
	});
	test.each(table)("%i is %s, whatever its body says", (status, kind, code) => {
		for (const text of ['{"code":0}', "", "<html>", undefined]) {
			const isPage = status === 403 && text === "<html>";
			expect(classify(status, text)).toMatchObject({ kind, code: isPage ? "PROXY_REFUSED" : code, status });
		}
	});

	test("a page of a proxy is not taken for the API's own refusal: its rows and its dataset are not to be corrected", () => {
		const page = (status: number): unknown => classify(status, `<title>${status}</title><center>nginx</center>`);
		expect(page(413)).toMatchObject({ code: "HTTP_413", message: expect.stringContaining("client_max_body_size") });
		expect(page(403)).toMatchObject({ message: expect.stringContaining("a proxy or firewall before the service") });
		expect(classify(413, '{"code":413,"message":"no"}')).toMatchObject({
			message: expect.not.stringContaining("proxy"),
		});
		expect(classify(403, "Blocked by policy")).toMatchObject({ code: "PROXY_REFUSED" });
		expect(classify(403, '{"detail":"no"}')).toMatchObject({ code: "FORBIDDEN" });
	});

	test("a 503 with a valid Retry-After is a throttle; with a malformed one it is an outage", () => {
		expect(classify(503, "", ["Retry-After", "7"])).toMatchObject({
			kind: "throttled",
			code: "HTTP_503",
			retryAfter: 7_000,
		});
		expect(classify(503, "", ["Retry-After", "soon"])).toMatchObject({ kind: "ambiguous", retryAfter: undefined });
	});

	test("of two Retry-After fields the longer counts, also with a code 429", () => {
		const headers = ["retry-after", "3", "RETRY-AFTER", "9"];
		expect(classify(429, "", headers)).toMatchObject({ kind: "throttled", retryAfter: 9_000 });
		expect(classify(200, '{"code":429}', headers)).toMatchObject({
			kind: "throttled",
			code: "CODE_429",
			retryAfter: 9_000,
		});
		expect(classify(429, "")).toMatchObject({ kind: "throttled", retryAfter: undefined });
	});

	test("a login page with status 200 is distinguished from the API, and quoted", () => {
		const error = classify(200, "<!doctype html><title>Sign in\x1b[2J</title>", ["content-type", "text/html"]);
		expect(error).toMatchObject({ kind: "not_the_api", code: "NOT_THE_API" });
		expect(error).toHaveProperty("message", 'host:1 returned HTML "Sign in\\x1b[2J" instead of JSON');
	});
});

describe("what a message reveals", () => {
	test("a key that the service repeats is masked, control characters are escaped, and length is bounded", () => {
		const message = `\x1b]0;x\x07 Bearer ragflow-SECRETkeyBODY refused ${"y".repeat(10_000)}`;
		const error = classify(400, JSON.stringify({ code: 400, message }));
		const shown = error === "success" ? "" : error.message;
		expect(shown).toContain("\\x1b]0;x\\x07 Bearer *** refused");
		expect(shown.length).toBeLessThan(300);
	});

	test("a redirect is named without its credentials, query and any piece of the key", () => {
		const secret = encodeURIComponent("SECRETkey");
		const location = `https://user:pass@evil.example/${secret}/x?token=1#f`;
		const error = classify(302, "", ["location", location]);
		expect(error).toMatchObject({ kind: "untrusted", code: "REDIRECT" });
		expect(error).toHaveProperty(
			"message",
			"host:1 answered 302, a redirect to https://evil.example/***/x; set --base-url to the final address",
		);
	});

	test.each([{ a: 1 }, [1], 7, null])("a message that is %j does not break the report", (message) => {
		expect(classify(200, JSON.stringify({ code: 102, message }))).toHaveProperty("message", "host:1 answered code 102");
	});
});

describe("an answer that says that there is no route for a request", () => {
	const path = "/api/v1/datasets/ds/documents/d1";
	const errorOf = (status: number, text: string, only?: "PATCH"): unknown => {
		const read = answerOf(status, text);
		const error = classifyAnswer(read, { flavour: documented, context, now: 0 });
		return error instanceof RestError ? errorOfRoute(error, read, path, only) : error;
	};

	test.each([
		[405, ""],
		[501, "Unsupported method"],
		[404, `{"code":404,"message":"Not Found: ${path}"}`],
		[200, '{"code":405,"message":"no"}'],
		[200, '{"code":100,"message":"<MethodNotAllowed \'405: Method Not Allowed\'>"}'],
		[200, '{"code":500,"message":"Request method \'PATCH\' not supported"}'],
	])("rules out the flavours that send it: %i %s", (status, text) => {
		expect(errorOf(status, text, "PATCH")).toMatchObject({ kind: "contradiction", unrouted: "PATCH" });
	});

	test.each([
		[404, "<html>"],
		[404, '{"code":404,"message":"no such document"}'],
		[400, '{"code":101,"message":"no"}'],
		[503, ""],
	])("is none of %i %s, which may be about its row", (status, text) => {
		expect(errorOf(status, text, "PATCH")).toMatchObject({ unrouted: undefined });
	});

	test("is another program where all flavours send it", () => {
		const text = `{"code":404,"message":"Not Found: ${path}"}`;
		expect(errorOf(404, text)).toMatchObject({ kind: "not_the_api", unrouted: undefined });
	});
});

describe("a status beside another code: v1.0 says by the code what became of the row", () => {
	test.each([
		[400, 102, "you don't own the document d1", "rejected NOT_FOUND"],
		[500, 102, "failed to update metadata: x", "rejected METADATA_REFUSED"],
		[404, 102, "you don't own the dataset", "rejected FORBIDDEN"],
		[500, 500, "x", "ambiguous HTTP_500"],
		[400, 0, "", "rejected HTTP_400"],
		[503, 401, "server license not initialized", "ambiguous HTTP_503"],
	])("%i with code %i and %j is %s", (status, code, message, expected) => {
		const read = answerOf(status, JSON.stringify({ code, message }));
		const error = classifyAnswer(read, { flavour: ragflow1, context, now: 0 });
		expect(error instanceof RestError ? `${error.kind} ${error.code}` : "success").toBe(expected);
		const byStatus = classifyAnswer(read, { flavour: documented, context, now: 0 });
		expect(byStatus).toMatchObject({ code: status === 404 ? "NOT_FOUND" : `HTTP_${status}` });
	});
});
