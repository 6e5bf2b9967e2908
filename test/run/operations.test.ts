import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Metadata } from "../../src/json.ts";
import type { Document } from "../../src/rest/types.ts";
import type { Memory } from "../../src/run/operations/operation.ts";
import { removeDocument } from "../../src/run/operations/remove.ts";
import { mergeMetadata, replaceMetadata } from "../../src/run/operations/update.ts";
import { uploadFile, type UploadItem } from "../../src/run/operations/upload.ts";
import { direct, documentOf, fakeApi } from "./fake-api.ts";
import { failure, work } from "./harness.ts";

const metadata: Metadata = new Map([["a", 1]]);
const item = { ...work(0), metadata };
const merge = (present: Metadata, wanted: Metadata): Metadata => new Map([...present, ...wanted]);
const done = (): Promise<void> => Promise.resolve();
const listing = (...items: Document[]) => ({ listDocuments: () => Promise.resolve({ items, total: items.length }) });

describe("writing metadata", () => {
	it("replaces with one request, the row as it stands", async () => {
		const calls: string[] = [];
		const write = replaceMetadata(fakeApi(calls, { updateMetadata: done }));
		expect(await write(item, direct, {})).toEqual({ status: "updated", documentId: "doc-0" });
		expect(calls).toEqual(['update set doc-0 [["a",1]]']);
	});

	it("merges with what the document has, so that nothing else on it is lost", async () => {
		const calls: string[] = [];
		const document = documentOf("doc-0", new Map([["b", 2]]));
		const write = mergeMetadata(fakeApi(calls, { ...listing(document), updateMetadata: done }), merge);
		await write(item, direct, {});
		expect(calls).toEqual(["list set page 1 id doc-0", 'update set doc-0 [["b",2],["a",1]]']);
	});

	it.each([
		["a document that is not listed", listing(), "NOT_FOUND"],
		["a list that shows no metadata", listing(documentOf("doc-0")), "NO_METADATA"],
	])("sends nothing over %s: a merge would wipe what it cannot see", async (_, answers, code) => {
		const calls: string[] = [];
		const write = mergeMetadata(fakeApi(calls, { ...answers, updateMetadata: done }), merge);
		await expect(write(item, direct, {})).rejects.toMatchObject({ kind: "rejected", code });
		expect(calls).toEqual(["list set page 1 id doc-0"]);
	});
});

describe("removing", () => {
	it("removes a document that the list shows", async () => {
		const calls: string[] = [];
		const remove = removeDocument(fakeApi(calls, { ...listing(documentOf("doc-0")), removeDocument: done }));
		expect(await remove(item, direct, {})).toEqual({ status: "removed", documentId: "doc-0" });
		expect(calls).toEqual(["list set page 1 id doc-0", "remove set doc-0"]);
	});

	it.each([
		["nothing", []],
		["other documents, ignoring the id", [documentOf("doc-1")]],
	])("never sends a removal for an id that is not listed: the list shows %s", async (_, items) => {
		const calls: string[] = [];
		const remove = removeDocument(fakeApi(calls, { ...listing(...items), removeDocument: done }));
		await expect(remove(item, direct, {})).rejects.toMatchObject({ kind: "rejected", code: "NOT_FOUND" });
		expect(calls.filter((call) => call.startsWith("remove"))).toEqual([]);
	});

	it.each([
		["ambiguous", true],
		["not_sent", false],
		["throttled", false],
	] as const)("after a try that was %s, a document that is gone counts as removed: %s", async (kind, removed) => {
		const listed = [documentOf("doc-0")];
		const remove = removeDocument(
			fakeApi([], {
				listDocuments: () => Promise.resolve({ items: listed, total: undefined }),
				removeDocument: () => {
					listed.pop();
					return Promise.reject(failure(kind));
				},
			}),
		);
		const memory: Memory = {};
		await expect(remove(item, direct, memory)).rejects.toMatchObject({ kind });
		const again = remove(item, direct, memory);
		if (removed) expect(await again).toEqual({ status: "removed", documentId: "doc-0" });
		else await expect(again).rejects.toMatchObject({ code: "NOT_FOUND" });
	});
});

describe("uploading", () => {
	let folder = "";
	let upload: UploadItem;
	beforeAll(async () => {
		folder = await mkdtemp(join(tmpdir(), "ragtag-"));
		const path = join(folder, "a.txt");
		await writeFile(path, "hello");
		upload = { ...work(0), documentId: "", metadata, file: { path, name: "a.txt" } };
	});
	afterAll(() => rm(folder, { recursive: true }));
	const stored = { id: "new", name: "a(1).txt", size: 5 };
	const settled = { status: "uploaded", documentId: "new", storedName: "a(1).txt" };

	it("stores the file, then writes its metadata", async () => {
		const calls: string[] = [];
		const api = fakeApi(calls, { uploadDocument: () => Promise.resolve(stored), updateMetadata: done });
		expect(await uploadFile(api)(upload, direct, {})).toEqual(settled);
		expect(calls).toEqual(["upload set a.txt 5", 'update set new [["a",1]]']);
	});

	it("sends no metadata where the row has none", async () => {
		const calls: string[] = [];
		const api = fakeApi(calls, { uploadDocument: () => Promise.resolve(stored) });
		await uploadFile(api)({ ...upload, metadata: new Map() }, direct, {});
		expect(calls).toEqual(["upload set a.txt 5"]);
	});

	it("tries only the metadata again once the file is stored, even if the file is gone by then", async () => {
		const calls: string[] = [];
		let updates = 0;
		const api = fakeApi(calls, {
			uploadDocument: () => Promise.resolve(stored),
			updateMetadata: () => (updates++ === 0 ? Promise.reject(failure("ambiguous")) : Promise.resolve()),
		});
		const memory: Memory = {};
		const path = join(folder, "gone.txt");
		await writeFile(path, "hello");
		const gone = { ...upload, file: { path, name: "gone.txt" } };
		await expect(uploadFile(api)(gone, direct, memory)).rejects.toMatchObject({ kind: "ambiguous" });
		await rm(path);
		expect(await uploadFile(api)(gone, direct, memory)).toEqual(settled);
		expect(calls.map((call) => call.split(" ")[0])).toEqual(["upload", "update", "update"]);
	});

	it("is never sent a second time after a lost answer: it could store the file twice", async () => {
		const api = fakeApi([], { uploadDocument: () => Promise.reject(failure("ambiguous", { status: 502 })) });
		const error = { kind: "rejected", code: "UNKNOWN_OUTCOME", status: 502 };
		await expect(uploadFile(api)(upload, direct, {})).rejects.toMatchObject(error);
	});

	it.each(["not_sent", "throttled", "untrusted", "rejected"] as const)("leaves what is %s to the run", async (kind) => {
		const error = failure(kind);
		const api = fakeApi([], { uploadDocument: () => Promise.reject(error) });
		await expect(uploadFile(api)(upload, direct, {})).rejects.toBe(error);
	});

	it("fails the row, not the run, for a file that cannot be read", async () => {
		const calls: string[] = [];
		const missing = { ...upload, file: { path: join(folder, "missing.txt"), name: "missing.txt" } };
		const error = { kind: "rejected", code: "FILE_UNREADABLE" };
		await expect(uploadFile(fakeApi(calls, {}))(missing, direct, {})).rejects.toMatchObject(error);
		expect(calls).toEqual([]);
	});
});
