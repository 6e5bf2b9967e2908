import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { RestError } from "../../../src/rest/errors.ts";
import type { Document, ParsingChange } from "../../../src/rest/types.ts";
import { copyParsing } from "../../../src/run/operations/copied-parsing.ts";
import { direct, documentOf, fakeApi } from "../fake-api.ts";
import { serviceOf, uploading } from "../fake-service.ts";
import { work } from "../harness.ts";
import { ragflowPut } from "../../support/flavours.ts";
import { folderOfAll } from "../../support/service.ts";

const folder = folderOfAll();
beforeAll(() => writeFile(join(folder, "a.txt"), "quite another text"));

// An object store that fails leaves a document with the right size and without bytes.
it.each<[string, (sink: (bytes: Uint8Array) => Promise<void>) => Promise<number>]>([
	["a refusal", () => Promise.reject(new RestError("This file is empty.", { kind: "rejected", code: "CODE_102" }))],
	["no bytes", async () => 0],
	["other bytes", async (sink) => sink(Buffer.from("quite another fext")).then(() => 18)],
])("the old document is kept where a download of the new one gives %s", async (_, download) => {
	const old = { ...documentOf("old", new Map([["k", 1]])), name: "a.txt", size: 3 };
	const documents: Document[] = [old];
	const calls: string[] = [];
	const api = fakeApi(calls, {
		probeUpdate: async () => "other",
		listDatasets: async () => ({ items: [], total: 0 }),
		listDocuments: async (_dataset, { id, name }) => {
			const items = documents.filter((each) => (id ?? each.id) === each.id && (name ?? each.name) === each.name);
			return { items, total: items.length };
		},
		uploadDocument: async (_dataset, file) => {
			const made = { ...documentOf("new", new Map()), name: "a(1).txt", size: file.size };
			documents.push(made);
			return made;
		},
		downloadDocument: (_document, sink) => download(sink),
	});
	const service = serviceOf(api.as({ flavour: ragflowPut, form: "json" }));
	const item = {
		...work(0),
		documentId: "",
		metadata: new Map([["k", 2]]),
		file: { path: join(folder, "a.txt"), name: "a.txt" },
	};
	await expect(uploading(service, "replace")(item, direct, {})).rejects.toMatchObject({ code: "NOT_STORED" });
	expect(calls.filter((call) => /^(?:remove|update|rename)/.test(call))).toEqual([]);
	expect(documents).toContain(old);
});

const NOTHING = { run: undefined, progress: undefined, message: undefined, chunkCount: undefined };
const state = (chunkMethod: string, isEnabled: boolean) => ({ ...NOTHING, chunkMethod, isEnabled });

it.each([
	["nothing that both have, which would delete chunks", state("qa", true), state("qa", true), []],
	["another method", state("qa", true), state("naive", true), [{ chunk_method: "qa" }]],
	["that it is hidden", state("qa", false), state("qa", true), [{ enabled: false }]],
	["nothing of a pipeline", state("", true), state("naive", true), []],
	["nothing where the list shows nothing", undefined, undefined, []],
])("a new document gets %s", async (_, old, made, changes) => {
	const sent: ParsingChange[] = [];
	const listed = (id: string, parsing = made): Document => ({ ...documentOf(id), ...(parsing && { parsing }) });
	const api = fakeApi([], {
		listDocuments: async () => ({ items: [listed("new", sent.length === 0 ? made : old)], total: 1 }),
		changeParsing: async (_dataset, _id, change) => void sent.push(change),
	});
	const dataset = { service: serviceOf(api), api, request: direct, datasetId: "set" };
	await copyParsing(dataset, listed("old", old), "new");
	expect(sent).toEqual(changes);
});
