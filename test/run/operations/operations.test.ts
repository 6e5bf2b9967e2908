import { changeOf } from "../../../src/plan/change.ts";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { JsonValue, Metadata } from "../../../src/json/values.ts";
import type { Document, Echo } from "../../../src/rest/types.ts";
import { type Memory, type SentLog } from "../../../src/run/operations/operation.ts";
import { planMetadata } from "../../../src/run/operations/update.ts";
import type { UploadItem } from "../../../src/run/operations/store-file.ts";
import { direct, documentOf, fakeApi } from "../fake-api.ts";
import { believing, provenService, sourceOf, unrecorded, uploading } from "../fake-service.ts";
import { failure, work } from "../harness.ts";
import { folderOfAll } from "../../support/service.ts";

const metadata: Metadata = new Map([["a", 1]]);
const item = { ...work(0), metadata };

/** A merge of `rows` rows of the dataset, each look at which costs a request. */
const merging = (rows = 1, onlyChanged = false) => ({
	documents: sourceOf(believing(), rows),
	change: changeOf("merge"),
	onlyChanged,
});

const done = async (): Promise<Echo> => "document_id";
const listing = (...items: Document[]) => ({ listDocuments: () => Promise.resolve({ items, total: items.length }) });

describe("writing metadata", () => {
	it.each([
		["a document that is not listed", listing(), "NOT_FOUND"],
		["a list that shows no metadata", listing(documentOf("doc-0")), "NO_METADATA"],
	])("sends nothing over %s: a merge would wipe hidden keys", async (_, answers, code) => {
		const calls: string[] = [];
		const write = planMetadata(
			provenService(fakeApi(calls, { ...answers, updateMetadata: done })),
			merging(),
			unrecorded,
		);
		await expect(write(item, direct, {})).rejects.toMatchObject({ kind: "rejected", code });
		expect(calls).toEqual(["list set page 1 id doc-0"]);
	});
});

describe("--only-changed", () => {
	const has = (...pairs: readonly (readonly [string, JsonValue])[]) => listing(documentOf("doc-0", new Map(pairs)));

	it("counts a row as updated if its first attempt arrived although its answer was lost", async () => {
		const held = { metadata: new Map<string, JsonValue>() };
		const api = fakeApi([], {
			listDocuments: async () => ({ items: [documentOf("doc-0", held.metadata)], total: 1 }),
			updateMetadata: async (_set, _id, sent) => {
				held.metadata = new Map(sent);
				throw failure("ambiguous");
			},
		});
		const write = planMetadata(provenService(api), merging(1, true), unrecorded);
		const memory: Memory = {};
		await expect(write(item, direct, memory)).rejects.toMatchObject({ kind: "ambiguous" });
		expect(await write(item, direct, memory)).toEqual({ status: "updated", documentId: "doc-0" });
	});

	it("counts a row as updated if a killed execution had sent it", async () => {
		const log = { ...unrecorded, earlier: () => ({ age: 0 }) };
		const write = planMetadata(provenService(fakeApi([], has(["a", 1]))), merging(1, true), log);
		expect(await write(item, direct, {})).toMatchObject({ status: "updated" });
	});
});

it("records of a merge what was really sent, even if a retry finds other metadata on the document", async () => {
	const sent: unknown[] = [];
	const held = { metadata: new Map<string, JsonValue>([["b", 1]]) };
	let tries = 0;
	const api = fakeApi([], {
		listDocuments: async () => ({ items: [documentOf("doc-0", held.metadata)], total: 1 }),
		updateMetadata: async () => {
			tries += 1;
			if (tries > 2) return "document_id";
			if (tries === 2) held.metadata = new Map([["b", 2]]);
			throw failure("not_sent");
		},
	});
	const log: SentLog = {
		...unrecorded,
		sending: async (_item, sending) => {
			sent.push([...(sending.metadata ?? [])]);
			images.push([...(sending.before ?? [])]);
		},
	};
	const images: unknown[] = [];
	const write = planMetadata(provenService(api), merging(), log);
	const memory: Memory = {};
	await expect(write(item, direct, memory)).rejects.toThrow();
	await expect(write(item, direct, memory)).rejects.toThrow();
	await write(item, direct, memory);
	const pairs = (b: number): unknown => [
		["b", b],
		["a", 1],
	];
	expect(sent).toEqual([pairs(1), pairs(2)]);
	// An undo of the second brings back what somebody else wrote meanwhile.
	expect(images).toEqual([[["b", 1]], [["b", 2]]]);
});

describe("uploading", () => {
	const folder = folderOfAll();
	const path = join(folder, "a.txt");
	beforeAll(() => writeFile(path, "hello"));
	const upload: UploadItem = { ...work(0), documentId: "", metadata, file: { path, name: "a.txt" } };
	const stored = { id: "new", name: "a.txt", size: 5 };
	const settled = { status: "uploaded", documentId: "new", storedName: "a.txt" };
	const look = "list set page 1 name a.txt";

	it("repeats only the metadata once the file is stored, even if the file is gone by then", async () => {
		const calls: string[] = [];
		let updates = 0;
		const api = fakeApi(calls, {
			...listing(),
			uploadDocument: () => Promise.resolve({ ...stored, name: "gone.txt" }),
			updateMetadata: () => (updates++ === 0 ? Promise.reject(failure("ambiguous")) : done()),
		});
		const memory: Memory = {};
		const path = join(folder, "gone.txt");
		await writeFile(path, "hello");
		const gone = { ...upload, file: { path, name: "gone.txt" } };
		const run = uploading(provenService(api), "error");
		await expect(run(gone, direct, memory)).rejects.toMatchObject({ kind: "ambiguous" });
		await rm(path);
		expect(await run(gone, direct, memory)).toEqual({ ...settled, storedName: "gone.txt" });
		expect(calls.map((call) => call.split(" ")[0])).toEqual(["list", "upload", "list", "update", "update"]);
	});

	it.each(["not_sent", "ambiguous", "throttled"] as const)(
		"searches again when the service is back, if the list was lost too (%s): a restart costs no upload",
		async (kind) => {
			const calls: string[] = [];
			const items: Document[] = [];
			let lists = 0;
			const api = fakeApi(calls, {
				listDocuments: () => {
					lists += 1;
					if (lists === 2 || lists === 3) return Promise.reject(failure(kind, { retryAfter: 1_000 }));
					return Promise.resolve({ items: [...items], total: items.length });
				},
				uploadDocument: () => {
					items.push({ ...documentOf("new"), name: "a.txt", size: 5 });
					return Promise.reject(failure("ambiguous"));
				},
				updateMetadata: done,
			});
			const run = uploading(provenService(api), "error");
			const memory: Memory = {};
			const error = { kind, retryAfter: 1_000, message: expect.stringContaining("the file may have been stored") };
			await expect(run(upload, direct, memory)).rejects.toMatchObject(error);
			await expect(run(upload, direct, memory)).rejects.toMatchObject(error);
			expect(await run(upload, direct, memory)).toEqual(settled);
			expect(calls).toEqual([look, "upload set a.txt 5", look, look, look, 'update set new [["a",1]]']);
		},
	);

	describe("a dataset that has a document of that name", () => {
		const present = { ...documentOf("old"), name: "a.txt" };

		it("update-metadata: writes nothing if two documents have the name", async () => {
			const calls: string[] = [];
			const run = uploading(
				provenService(fakeApi(calls, listing(present, { ...present, id: "older" }))),
				"update-metadata",
			);
			await expect(run(upload, direct, {})).rejects.toMatchObject({ code: "AMBIGUOUS_NAME" });
			expect(calls).toEqual([look]);
		});
	});

	it.each(["not_sent", "throttled", "untrusted", "rejected"] as const)("leaves what is %s to the run", async (kind) => {
		const error = failure(kind);
		const api = fakeApi([], { ...listing(), uploadDocument: () => Promise.reject(error) });
		await expect(uploading(provenService(api), "error")(upload, direct, {})).rejects.toBe(error);
	});

	it("a file that cannot be read fails its row, not the run", async () => {
		const calls: string[] = [];
		const missing = { ...upload, file: { path: join(folder, "missing.txt"), name: "missing.txt" } };
		const error = { kind: "rejected", code: "FILE_UNREADABLE" };
		const run = uploading(provenService(fakeApi(calls, listing())), "error");
		await expect(run(missing, direct, {})).rejects.toMatchObject(error);
		expect(calls).toEqual(["list set page 1 name missing.txt"]);
	});
});

it("a before-image that came rounded stays unknown, even if a retry reads what the first attempt wrote", async () => {
	const images: unknown[] = [];
	const rounded: Document = { ...documentOf("doc-0", new Map([["a", 1e20]])), inexact: new Map([["a", "1e400"]]) };
	let document = rounded;
	let tries = 0;
	const api = fakeApi([], {
		listDocuments: async () => ({ items: [document], total: 1 }),
		updateMetadata: async (_set, _id, sent) => {
			tries += 1;
			if (tries === 3) return "document_id";
			// The second look is at our own write, beside which somebody wrote another key.
			document = documentOf("doc-0", tries === 1 ? sent : new Map([...sent, ["c", 3]]));
			throw failure("ambiguous");
		},
	});
	const log: SentLog = {
		...unrecorded,
		sending: async (_item, sending) => void images.push("before" in sending ? sending.before : "none"),
	};
	const write = planMetadata(provenService(api), merging(), log);
	const memory: Memory = {};
	await expect(write(item, direct, memory)).rejects.toThrow();
	await expect(write(item, direct, memory)).rejects.toThrow();
	await write(item, direct, memory);
	expect(images).toEqual([undefined, new Map<string, JsonValue>([...metadata, ["c", 3]])]);
});
