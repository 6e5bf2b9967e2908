import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Exit } from "../../src/errors.ts";
import { RestError } from "../../src/rest/errors.ts";
import type { Api } from "../../src/rest/types.ts";
import { normaliseBaseUrl, pathOf, segment } from "../../src/rest/url.ts";
import { oddIds } from "./odd-ids.ts";
import { answer, apiFor, rawServer, type RawServer, rejection } from "./raw-server.ts";
import { refused } from "./refused.ts";

describe("the base URL", () => {
	test.each([
		["https://host", "https://host/api/v1"],
		["https://host/", "https://host/api/v1"],
		["https://host/api/v1", "https://host/api/v1"],
		["https://host/api/v1///", "https://host/api/v1"],
		["  http://HOST:9380/rag/  ", "http://host:9380/rag/api/v1"],
		["http://host:80/rag/api/v1/", "http://host/rag/api/v1"],
		["http://[::1]:8080", "http://[::1]:8080/api/v1"],
		["http://host/a/../b", "http://host/b/api/v1"],
		["HTTPS://host/api", "https://host/api/v1"],
		["https://host/rag/api/", "https://host/rag/api/v1"],
		["https://host/api/api/v1", "https://host/api/api/v1"],
	])("%s is understood", (typed, url) => {
		expect(normaliseBaseUrl(typed)).toBe(url);
		expect(normaliseBaseUrl(url)).toBe(url);
	});

	test.each([
		"",
		"host",
		"host:9380",
		"ftp://host",
		"file:///x",
		"http:/host",
		"http://",
		"javascript:1",
		"http://ho st",
		"http://h\\x",
		"http://h\tx",
		"http://h?",
		"http://h/?q=1",
		"http://h#",
		"http://h/#f",
		"http://a//b",
		"http://h//x",
		"http://h:99999",
		"http://user:SECRET@h",
		"http://SECRET@h",
		"http://:SECRET@h",
		"http://@h",
		"http://[SECRET",
		"SECRET",
	])("%j is refused before anything is sent, without repeating it", (typed) => {
		const error = refused(() => normaliseBaseUrl(typed));
		expect(error.exit).toBe(Exit.usage);
		expect(error.hint).toBeDefined();
		expect(`${error.message} ${error.hint} ${String(error.cause)}`).not.toContain("SECRET");
	});
});

describe("an id is one segment of the path or it is refused", () => {
	test.each(["", ".", "..", "a\nb", "\0", "\x7f", "\x85", "\uD800", "a\uDC00b"])("%j is refused", (id) => {
		expect(() => segment(id)).toThrow(expect.objectContaining({ kind: "rejected", code: "BAD_ID" }));
	});

	test.each([
		["a/b", "a%2Fb"],
		["../x", "..%2Fx"],
		["%2e%2e", "%252e%252e"],
		["a?b#c", "a%3Fb%23c"],
		["...", "..."],
		["é 😀", "%C3%A9%20%F0%9F%98%80"],
	])("%j goes out as %s", (id, encoded) => {
		expect(segment(id)).toBe(encoded);
	});

	test("any text either comes back whole from its one segment or is refused", () => {
		fc.assert(
			fc.property(oddIds, (id) => {
				let encoded: string;
				try {
					encoded = segment(id);
				} catch (error) {
					expect(error).toMatchObject({ kind: "rejected", code: "BAD_ID" });
					return;
				}
				const url = new URL(pathOf("/api/v1", ["datasets", "ds", "documents", encoded]), "http://host");
				const parts = url.pathname.split("/");
				expect(parts.slice(0, -1)).toEqual(["", "api", "v1", "datasets", "ds", "documents"]);
				expect(decodeURIComponent(parts[6] ?? "")).toBe(id);
				expect(url.search + url.hash).toBe("");
			}),
			{ numRuns: 20_000 },
		);
	});

	test.each([[["datasets", ""]], [["datasets", ".."]], [["datasets", "."]], [["datasets", "a/b"]]])(
		"a path of %j is never sent",
		(segments) => {
			expect(() => pathOf("/api/v1", segments)).toThrow(RestError);
		},
	);
});

describe("over the wire", () => {
	let server: RawServer;
	let api: Api;
	beforeAll(async () => {
		server = await rawServer((socket) => socket.write(answer('{"code":0}')));
		api = apiFor(server.baseUrl);
	});
	afterAll(async () => {
		await api.close();
		await server.close();
	});

	test("an update reaches the service with exactly its id, or is not sent: another route may act on a dataset", async () => {
		await fc.assert(
			fc.asyncProperty(oddIds, oddIds, async (dataset, document) => {
				const before = server.requests.length;
				const update = api.updateMetadata(dataset, document, new Map());
				const error = await update.then(() => undefined).catch((thrown: unknown) => thrown);
				const sent = server.requests.slice(before);
				if (error !== undefined) {
					expect(error).toMatchObject({ kind: "rejected", code: "BAD_ID" });
					expect(sent).toEqual([]);
					return;
				}
				const parts = /^PUT \/api\/v1\/datasets\/([^/ ]+)\/documents\/([^/ ]+) HTTP\/1\.1\r\n/.exec(sent[0] ?? "");
				expect(parts?.slice(1).map(decodeURIComponent)).toEqual([dataset, document]);
			}),
			{ numRuns: 1_000 },
		);
	});

	test("a filter that is not text causes no request", async () => {
		const before = server.requests.length;
		const error = await rejection(api.listDocuments("ds", { page: 1, pageSize: 1, name: "\uD800" }));
		expect(error).toMatchObject({ kind: "rejected", code: "BAD_ID" });
		expect(server.requests).toHaveLength(before);
	});
});
