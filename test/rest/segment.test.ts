import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Api, Document } from "../../src/rest/index.ts";
import { RestError } from "../../src/rest/index.ts";
import { type Removal, removalOf } from "../../src/rest/removal.ts";
import { pathOf, segment } from "../../src/rest/segment.ts";
import { answer, apiFor, rawServer, type RawServer, rejection } from "./raw-server.ts";

const ids = fc.oneof(
	fc.string({ unit: "binary", maxLength: 40 }),
	fc.string({ unit: "grapheme", maxLength: 40 }),
	fc
		.array(
			fc.constantFrom(".", "..", "/", "\\", "%2e", "%2F", "?", "#", ";", " ", "\0", "\r\n", "\uD800", "a", "é", "😀"),
			{ maxLength: 8 },
		)
		.map((parts) => parts.join("")),
	fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)), maxLength: 8 }),
);

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
			fc.property(ids, (id) => {
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

	test("an update reaches the service with exactly its id, or is not sent: another route may be about a dataset", async () => {
		await fc.assert(
			fc.asyncProperty(ids, ids, async (dataset, document) => {
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

	test("a filter that is no text has no request", async () => {
		const before = server.requests.length;
		const error = await rejection(api.listDocuments("ds", { page: 1, pageSize: 1, name: "\uD800" }));
		expect(error).toMatchObject({ kind: "rejected", code: "BAD_ID" });
		expect(server.requests).toHaveLength(before);
	});
});

describe("a removal names exactly one document, however it is addressed: anything less names all of them", () => {
	const documentOf = (datasetId: string, id: string): Document => ({
		id,
		datasetId,
		isDatasetNamed: true,
		name: "",
		size: undefined,
		createTime: undefined,
		metadata: undefined,
	});

	test.each(["path", "body"] as const)("by %s", (by) => {
		fc.assert(
			fc.property(ids, ids, (dataset, id) => {
				let removal: Removal;
				try {
					removal = removalOf(by, "/api/v1", documentOf(dataset, id));
				} catch (error) {
					expect(error).toMatchObject({ kind: "rejected", code: "BAD_ID" });
					return;
				}
				const parts = removal.path.split("/").map(decodeURIComponent);
				expect(parts).toEqual(["", "api", "v1", "datasets", dataset, "documents", ...(by === "path" ? [id] : [])]);
				if (by === "path") expect(removal.body).toBeUndefined();
				else expect(JSON.parse(removal.body ?? "")).toEqual({ ids: [id] });
			}),
			{ numRuns: 20_000 },
		);
	});

	test.each(["", ".", "..", " ", "\n"])("%j is no id, by path or by body", (id) => {
		for (const by of ["path", "body"] as const) {
			if (by === "path" && id === " ") continue;
			expect(() => removalOf(by, "/api/v1", documentOf("ds", id))).toThrow(RestError);
		}
	});

	test("a document that no list has shown is not removed", async () => {
		const server = await rawServer((socket) => socket.write(answer('{"code":0}')));
		const api = apiFor(server.baseUrl);
		const error = await rejection(api.removeDocument(documentOf("ds", "d1")));
		expect(error).toMatchObject({ kind: "rejected", code: "NOT_LISTED" });
		expect(server.requests).toEqual([]);
		await api.close();
		await server.close();
	});
});
