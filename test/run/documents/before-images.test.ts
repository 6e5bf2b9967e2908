import { describe, expect, it } from "vitest";
import type { Metadata } from "../../../src/json/values.ts";
import type { Api } from "../../../src/rest/types.ts";
import { type Memory, type Sending } from "../../../src/run/operations/operation.ts";
import { replaceMetadata } from "../../../src/run/operations/update.ts";
import { BeforeImages } from "../../../src/run/documents/before-images.ts";
import { direct, documentOf, fakeApi } from "../fake-api.ts";
import { believing, provenService, sourceOf, unrecorded } from "../fake-service.ts";
import { failure, work } from "../harness.ts";

const metadata: Metadata = new Map([["a", 1]]);
const item = { ...work(0), metadata };

/** A replacing write that looks first, with what it writes down and says. */
function writing(answers: Partial<Api>, rows = 1) {
	const calls: string[] = [];
	const notes: string[] = [];
	const sent: Sending[] = [];
	const api = fakeApi(calls, { updateMetadata: async () => "document_id", ...answers });
	const service = provenService(api, { note: (text) => notes.push(text) });
	const present = sourceOf(believing(), rows);
	const log = { ...unrecorded, sending: async (_: unknown, sending: Sending) => void sent.push(sending) };
	return {
		write: replaceMetadata(service, { images: new BeforeImages(present, service) }, log),
		calls,
		notes,
		sent,
		present,
	};
}

const listing = (...items: ReturnType<typeof documentOf>[]): Pick<Api, "listDocuments"> => ({
	listDocuments: async () => ({ items, total: items.length }),
});

describe("the before-image of a document, without which a run can't be undone", () => {
	it("is recorded before the first byte is sent", async () => {
		const { write, calls, sent } = writing(listing(documentOf("doc-0", new Map([["a", 0]]))));
		expect(await write(item, direct, {})).toEqual({ status: "updated", documentId: "doc-0" });
		expect(sent).toEqual([{ write: "update", documentId: "doc-0", metadata, before: new Map([["a", 0]]) }]);
		expect(calls).toEqual(["list set page 1 id doc-0", 'update set doc-0 [["a",1]]']);
	});

	it("shows which rows change nothing", async () => {
		const { write } = writing(listing(documentOf("doc-0", metadata)));
		expect(await write(item, direct, {})).toEqual({ status: "updated", documentId: "doc-0", isSame: true });
	});

	it("is not what the first attempt wrote before its answer was lost", async () => {
		let held: Metadata = new Map([["a", 0]]);
		const { write, sent } = writing({
			listDocuments: async () => ({ items: [documentOf("doc-0", held)], total: 1 }),
			updateMetadata: async () => {
				if (held === metadata) return "document_id";
				held = metadata;
				throw failure("ambiguous");
			},
		});
		const memory: Memory = {};
		await expect(write(item, direct, memory)).rejects.toMatchObject({ kind: "ambiguous" });
		expect(await write(item, direct, memory)).toEqual({ status: "updated", documentId: "doc-0" });
		expect(sent).toEqual([expect.objectContaining({ before: new Map([["a", 0]]) })]);
	});

	it("is empty for a document without metadata, if others show theirs", async () => {
		const answers = {
			listDocuments: async (_: string, { id }: { id?: string }) => {
				const all = [documentOf("doc-0"), documentOf("doc-1", metadata)];
				const items = all.filter((document) => id === undefined || document.id === id);
				return { items, total: items.length };
			},
		};
		const { write, sent } = writing(answers);
		await write(item, direct, {});
		expect(sent).toEqual([expect.objectContaining({ before: new Map() })]);
	});

	it("is unknown, never empty, if the list shows no metadata: an undo would wipe the document", async () => {
		const { write, sent } = writing(listing(documentOf("doc-0")));
		await write(item, direct, {});
		expect(sent).toEqual([expect.objectContaining({ before: undefined })]);
	});

	it("is unknown, with one warning, if a number came rounded: an undo would write the rounded one", async () => {
		const inexact = new Map([["a", "100000000000000000001"]]);
		const rounded = (id: string) => ({ ...documentOf(id, new Map([["a", 1e20]])), inexact });
		const { write, sent, notes } = writing({
			listDocuments: async (_, { id = "" }) => ({ items: [rounded(id)], total: 1 }),
		});
		// What would be sent is what it was rounded to: that is no row that changes nothing.
		const same = { ...item, metadata: new Map([["a", 1e20]]) };
		expect(await write(same, direct, {})).toEqual({ status: "updated", documentId: "doc-0" });
		await write({ ...same, index: 1, documentId: "doc-1" }, direct, {});
		expect(sent).toEqual([
			expect.objectContaining({ before: undefined }),
			expect.objectContaining({ before: undefined }),
		]);
		expect(notes).toEqual([expect.stringMatching(/warning: document doc-0 .*\(key: a\).*can't be undone/)]);
	});

	it.each(["rejected", "contradiction", "not_the_api"] as const)(
		"is left out, with one warning, if the list is %s: the write matters more",
		async (kind) => {
			const { write, sent, notes } = writing({ listDocuments: () => Promise.reject(failure(kind)) });
			expect(await write(item, direct, {})).toMatchObject({ status: "updated" });
			expect(await write({ ...item, index: 1, documentId: "doc-1" }, direct, {})).toMatchObject({ status: "updated" });
			expect(sent.map((each) => "before" in each && each.before)).toEqual([undefined, undefined]);
			expect(notes.filter((note) => note.includes("can't be undone"))).toHaveLength(1);
		},
	);

	it("is left out after two broken lists, and no row fails", async () => {
		let lists = 0;
		const { write, sent } = writing({
			listDocuments: async () => {
				lists += 1;
				throw failure("ambiguous");
			},
		});
		const memory: Memory = {};
		await expect(write(item, direct, memory)).rejects.toMatchObject({ kind: "ambiguous" });
		expect(await write(item, direct, memory)).toMatchObject({ status: "updated" });
		await write({ ...item, index: 1 }, direct, {});
		expect(sent).toHaveLength(2);
		expect(lists).toBe(2);
	});

	it.each(["not_sent", "throttled", "untrusted"] as const)(
		"is waited for if the service is %s: the row could not be written either",
		async (kind) => {
			const { write, sent } = writing({ listDocuments: () => Promise.reject(failure(kind)) });
			await expect(write(item, direct, {})).rejects.toMatchObject({ kind });
			expect(sent).toEqual([]);
		},
	);
});
