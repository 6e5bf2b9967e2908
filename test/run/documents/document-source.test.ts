import { readdir } from "node:fs/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import type { JsonValue } from "../../../src/json/values.ts";
import type { Api, Document } from "../../../src/rest/types.ts";
import { isListingCheaper, rowsByDataset } from "../../../src/run/documents/listed-datasets.ts";
import { IdTable } from "../../../src/run/documents/indexed-records.ts";
import { DocumentSource } from "../../../src/run/documents/document-source.ts";
import { StoredDocuments } from "../../../src/run/documents/stored-documents.ts";
import { folder } from "../../support/service.ts";
import { range } from "../../support/values.ts";
import { direct, documentOf, fakeApi } from "../fake-api.ts";
import { failure } from "../harness.ts";

describe("a dataset is listed only where that costs fewer requests than one for each row", () => {
	it.each<[number, number | undefined, number | undefined, number, boolean]>([
		[1_000, 1_000, 100, 100, true],
		[10, 1_000, 100, 100, false],
		[11, 1_000, 100, 100, true],
		[11, 1_001, 100, 100, false],
		[2, 1, 100, 1, true],
		[1, 1, 100, 1, false],
		// Pages are cut to ten: a hundred of them are left.
		[50, 1_000, 100, 10, false],
		[101, 1_000, 100, 10, true],
		[101, 1_000, undefined, 10, true],
		// Nothing is known of its length, or it lies.
		[1_000_000, undefined, 100, 100, false],
		[1_000_000, 0, 100, 0, false],
		[1_000, 5, 100, 100, true],
	])("%d rows, %s documents, %s asked for, %d came: %s", (rows, total, asked, came, listed) => {
		expect(isListingCheaper(rows, { total, asked, came })).toBe(listed);
	});

	it("rows are counted for each dataset, so a large one is not listed because of another's rows", async () => {
		const rows = async function* () {
			for (const datasetId of ["a", "b", "a"]) yield { datasetId };
		};
		expect(await rowsByDataset(rows())).toEqual(
			new Map([
				["a", 2],
				["b", 1],
			]),
		);
	});
});

describe("the file of documents finds by id", () => {
	const stored = async (): Promise<StoredDocuments> => {
		const documents = await StoredDocuments.create(await folder());
		onTestFinished(() => documents.close());
		return documents;
	};

	it("the exact digits of rounded numbers", async () => {
		const documents = await stored();
		const metadata = new Map<string, JsonValue>([
			["__proto__", 1e20],
			["b", 1],
		]);
		await documents.add({ id: "rounded", metadata, inexact: new Map([["__proto__", "100000000000000000001"]]) });
		await documents.add({ id: "exact", metadata });
		await documents.end();
		expect(await documents.get("rounded")).toEqual({
			metadata,
			inexact: new Map([["__proto__", "100000000000000000001"]]),
		});
		expect(await documents.get("exact")).toEqual({ metadata });
	});

	it("each of 30,000 documents, and no other", async () => {
		const documents = await stored();
		for (const n of range(30_000)) await documents.add({ id: `doc-${n}`, metadata: new Map([["n", n]]) });
		await documents.end();
		expect(documents.size).toBe(30_000);
		for (const n of [...range(200), ...range(200, 29_800)]) {
			expect(await documents.get(`doc-${n}`)).toEqual({ metadata: new Map([["n", n]]) });
		}
		expect(await documents.get("doc-30000")).toBeUndefined();
	});

	it.each<[string, readonly (readonly [string, JsonValue])[] | undefined]>([
		['"quoted" \\ and\nof two lines', [["a", "line\nbreak €"]]],
		["日本語", [["鍵", ["値", 1, null]]]],
		["__proto__", [["__proto__", { constructor: 1 }]]],
		["", []],
		["without", undefined],
	])("each value unchanged: %j", async (id, pairs) => {
		const documents = await stored();
		const metadata = pairs === undefined ? undefined : new Map(pairs);
		await documents.add({ id: "other", metadata: new Map() });
		await documents.add({ id, metadata });
		await documents.end();
		expect(await documents.get(id)).toEqual({ metadata });
	});

	it("and is removed afterwards, as metadata may be confidential", async () => {
		const parent = await folder();
		const documents = await StoredDocuments.create(parent);
		await documents.add({ id: "a", metadata: new Map() });
		await documents.end();
		await documents.close();
		expect(await readdir(parent)).toEqual([]);
	});

	it("a full disk is exit 7, not a fault of the program", async () => {
		await expect(StoredDocuments.create("/nonexistent/folder")).rejects.toMatchObject({ exit: 7 });
	});

	it("documents whose ids share a hash", () => {
		const table = new IdTable();
		for (const n of range(5_000)) table.add(`${n}`, { offset: n, length: n + 1 });
		for (const n of range(5_000)) {
			expect([...table.candidates(`${n}`)]).toContainEqual({ offset: n, length: n + 1 });
		}
	});
});

/** A service of that many documents, which may ignore ids, lose pages, or claim more than it has. */
function server(count: number, lie: { ignoresId?: boolean; total?: number; hidden?: string; failsOn?: number } = {}) {
	const calls: string[] = [];
	const all = range(count).map((n): Document => documentOf(`doc-${n}`, new Map([["n", n]])));
	let failed = false;
	const listDocuments: Api["listDocuments"] = async (_, { page, pageSize = 100, id }) => {
		if (page === lie.failsOn && !failed) {
			failed = true;
			throw failure("ambiguous");
		}
		if (id !== undefined && lie.ignoresId !== true) {
			const items = all.filter((document) => document.id === id);
			return { items, total: items.length };
		}
		const listed = all.filter((document) => document.id !== lie.hidden);
		return { items: listed.slice((page - 1) * pageSize, page * pageSize), total: lie.total ?? count };
	};
	return { calls, api: fakeApi(calls, { listDocuments }) };
}

async function presentOf(rows: number): Promise<DocumentSource> {
	const path = await folder();
	const clock = { now: () => 0, sleep: () => Promise.resolve(), random: () => 0 };
	const present = new DocumentSource({ rows: async () => new Map([["set", rows]]), folder: async () => path, clock });
	onTestFinished(() => present.close());
	return present;
}

describe("the metadata of a document is read", () => {
	it("with one request for one row", async () => {
		const { api, calls } = server(1_000);
		const present = await presentOf(1);
		expect((await present.byId(api, direct, "set", "doc-7"))?.metadata).toEqual(new Map([["n", 7]]));
		expect(calls).toEqual(["list set page 1 id doc-7"]);
	});

	it("with one request for each of few rows of a large dataset, and one for its size", async () => {
		const { api, calls } = server(1_000);
		const present = await presentOf(3);
		for (const n of range(3)) expect(await present.byId(api, direct, "set", `doc-${n}`)).toBeDefined();
		expect(calls).toHaveLength(4);
	});

	it("with one list for many rows, even if they ask at the same time", async () => {
		const { api, calls } = server(1_000);
		const present = await presentOf(1_000);
		const found = await Promise.all(range(1_000).map((n) => present.byId(api, direct, "set", `doc-${n}`)));
		expect(found.map((held) => held?.metadata?.get("n"))).toEqual(range(1_000));
		expect(calls.length).toBeLessThanOrEqual(11);
		expect(await present.byId(api, direct, "set", "absent")).toBeUndefined();
		expect(calls.length).toBeLessThanOrEqual(11);
	});

	it("with one list if the service ignores the requested id", async () => {
		const { api, calls } = server(250, { ignoresId: true });
		const present = await presentOf(1);
		expect((await present.byId(api, direct, "set", "doc-201"))?.metadata).toEqual(new Map([["n", 201]]));
		expect((await present.byId(api, direct, "set", "doc-202"))?.metadata).toEqual(new Map([["n", 202]]));
		expect(calls.length).toBeLessThanOrEqual(6);
	});

	it("by its id if the list hides it, or an existing document would fail as absent", async () => {
		const { api } = server(250, { hidden: "doc-3" });
		const present = await presentOf(250);
		expect((await present.byId(api, direct, "set", "doc-3"))?.metadata).toEqual(new Map([["n", 3]]));
	});

	it("and is not called absent if neither the list nor the request by id can show it", async () => {
		const { api } = server(250, { hidden: "doc-3", ignoresId: true });
		const present = await presentOf(250);
		await expect(present.byId(api, direct, "set", "doc-3")).rejects.toMatchObject({ code: "INCOMPLETE_LIST" });
	});

	it("although a page fails once, or a long list would never end", async () => {
		const { api, calls } = server(1_000, { failsOn: 6 });
		const present = await presentOf(1_000);
		expect((await present.byId(api, direct, "set", "doc-999"))?.metadata).toEqual(new Map([["n", 999]]));
		expect(calls.length).toBeLessThanOrEqual(12);
	});

	it("again after a failure, or one bad minute would fail every row", async () => {
		const { api } = server(1_000);
		const present = await presentOf(1_000);
		const refused = (): Promise<never> => Promise.reject(failure("rejected"));
		await expect(present.byId(api, refused, "set", "doc-1")).rejects.toMatchObject({ kind: "rejected" });
		expect(await present.byId(api, direct, "set", "doc-1")).toBeDefined();
	});
});
