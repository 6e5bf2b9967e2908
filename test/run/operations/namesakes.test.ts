import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { documented, type Flavour } from "../../../src/rest/flavours.ts";
import { RestError } from "../../../src/rest/errors.ts";
import type { Document } from "../../../src/rest/types.ts";
import type { OnExisting } from "../../../src/run/operations/namesakes.ts";
import { judgeExisting } from "../../../src/run/operations/existing-documents.ts";
import { range } from "../../support/values.ts";
import { direct, documentOf, fakeApi } from "../fake-api.ts";
import { believing, provenService, sourceOf, uploading } from "../fake-service.ts";
import { work } from "../harness.ts";
import { ragflowPut } from "../../support/flavours.ts";
import { folderOfAll } from "../../support/service.ts";

const folder = folderOfAll();
beforeAll(() => writeFile(join(folder, "file"), "text"));

const item = (name: string) => ({
	...work(0),
	documentId: "",
	metadata: new Map([["a", "new"]]),
	file: { path: join(folder, "file"), name },
});

/** A server that compares names without case, accents and blanks at the end, as MySQL does; or exactly. */
function serverOf(names: readonly string[], flavour: Flavour = ragflowPut) {
	const calls: string[] = [];
	const documents = names.map((name, n): Document => ({ ...documentOf(`old-${n}`, new Map([["a", "own"]])), name }));
	const collator = new Intl.Collator("und", { sensitivity: "base" });
	const isOne = (one: string, other: string): boolean =>
		flavour === documented ? one === other : collator.compare(one.trimEnd(), other.trimEnd()) === 0;
	const api = fakeApi(calls, {
		dialect: { flavour, form: "json" },
		listDocuments: async (_, { page, pageSize = 30, name }) => {
			if (name === undefined) {
				const items = documents.slice((page - 1) * pageSize, page * pageSize);
				return { items, total: documents.length };
			}
			const found = documents.filter((each) => isOne(each.name, name));
			if (found.length === 0) throw new RestError("not there", { kind: "rejected", code: "NOT_FOUND" });
			return { items: found, total: found.length };
		},
		uploadDocument: async (_, { name, size }) => {
			const isTaken = documents.some((each) => isOne(each.name, name));
			const stored = isTaken ? name.replace(".", "(1).") : name;
			documents.push({ ...documentOf("new"), name: stored, size });
			return { id: "new", name: stored, size };
		},
		updateMetadata: async (_, id, metadata) => {
			const at = documents.findIndex((each) => each.id === id);
			const present = documents[at];
			if (present !== undefined) documents[at] = { ...present, metadata };
			return "document_id";
		},
	});
	const service = provenService(api);
	return {
		service,
		documents,
		calls,
		upload: (name: string, onExisting: OnExisting) => uploading(service, onExisting)(item(name), direct, {}),
		uploads: () => calls.filter((call) => call.startsWith("upload")),
	};
}

describe.each([
	["letter case", "Report.txt", "report.TXT"],
	["a blank at the end", "Report.txt ", "Report.txt"],
])("a name that differs from a stored one by %s", (_, stored, name) => {
	it("with --on-existing error fails its row, names both, and stores no copy", async () => {
		const server = serverOf([stored]);
		await expect(server.upload(name, "error")).rejects.toMatchObject({
			code: "EXISTS",
			message: expect.stringMatching(/Report.*old-0.*same name/),
		});
		expect(server.uploads()).toEqual([]);
	});

	it("with --on-existing skip is left alone and reported by its stored name", async () => {
		const server = serverOf([stored]);
		const settled = { status: "unchanged", documentId: "old-0", storedName: stored };
		expect(await server.upload(name, "skip")).toEqual(settled);
		expect(server.uploads()).toEqual([]);
	});

	it("with --on-existing update-metadata is updated", async () => {
		const server = serverOf([stored]);
		expect(await server.upload(name, "update-metadata")).toMatchObject({ status: "updated", storedName: stored });
		expect([server.uploads(), server.documents[0]?.metadata]).toEqual([[], new Map([["a", "new"]])]);
	});

	it("with --on-existing upload-again is stored with a number", async () => {
		const server = serverOf([stored]);
		expect(await server.upload(name, "upload-again")).toMatchObject({ status: "uploaded", documentId: "new" });
	});

	it("is a different name to the documented API", async () => {
		const server = serverOf([stored], documented);
		expect(await server.upload(name, "error")).toMatchObject({ status: "uploaded", storedName: name });
	});
});

it("a document whose name differs by an accent is skipped, and no metadata is written onto it", async () => {
	const server = serverOf(["resume.txt"]);
	expect(await server.upload("résumé.txt", "skip")).toMatchObject({ status: "unchanged", storedName: "resume.txt" });
	await expect(server.upload("résumé.txt", "update-metadata")).rejects.toMatchObject({ code: "EXISTS" });
	expect([server.uploads(), server.documents[0]?.metadata]).toEqual([[], new Map([["a", "own"]])]);
});

it("an exact name wins over similar ones", async () => {
	const server = serverOf(["REPORT.txt", "report.txt"]);
	expect(await server.upload("report.txt", "update-metadata")).toMatchObject({ documentId: "old-1" });
});

describe("names that are searched in one list", () => {
	it("cost one page for a hundred documents, and no request for each row", async () => {
		const server = serverOf(range(250).map((n) => `doc-${n}.txt`));
		const names = sourceOf(believing(), 100);
		for (const name of ["doc-7.txt", "new.txt", "doc-249.txt", "other.txt"]) {
			const { service } = server;
			const found = await names.byName(service.api, direct, "set", name);
			const dataset = { service, api: service.api, request: direct, datasetId: "set" };
			const judged = await judgeExisting({ ...dataset, item: item(name), onExisting: "skip", checksum: false }, found);
			expect(judged?.what).toBe(name.startsWith("doc-") ? "nothing" : undefined);
		}
		await names.close();
		expect(server.calls).toEqual(["list set page 1", "list set page 2", "list set page 3"]);
	});

	it("are requested one by one if only a similar name exists, as the service decides which are equal", async () => {
		const server = serverOf(range(20).map((n) => `Doc-${n}.txt`));
		const names = sourceOf(believing(), 100);
		const found = await names.byName(server.service.api, direct, "set", "doc-7.TXT");
		await names.close();
		expect(found).toMatchObject([{ id: "old-7", name: "Doc-7.txt", metadata: new Map([["a", "own"]]) }]);
		expect(server.calls).toEqual(["list set page 1", "list set page 1 name doc-7.TXT"]);
	});

	it("are not listed for a few rows, or if the list is longer", async () => {
		const server = serverOf(range(2_000).map((n) => `doc-${n}.txt`));
		for (const rows of [10, 15]) {
			const names = sourceOf(believing(), rows);
			await names.byName(server.service.api, direct, "set", "doc-7.txt");
			await names.close();
		}
		const one = "list set page 1 name doc-7.txt";
		expect(server.calls).toEqual([one, "list set page 1", one]);
	});

	it("cost one request if the dataset is empty", async () => {
		const server = serverOf([]);
		const names = sourceOf(believing(), 100);
		for (const n of range(5)) {
			expect(await names.byName(server.service.api, direct, "set", `${n}.txt`)).toEqual([]);
		}
		await names.close();
		expect(server.calls.length).toBeLessThanOrEqual(2);
	});
});
