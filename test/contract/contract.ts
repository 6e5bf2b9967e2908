import { isDeepStrictEqual } from "node:util";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { metadataOf, type JsonObject } from "../../src/json/values.ts";
import { allDocuments } from "../../src/run/documents/list.ts";
import { findDocument } from "../../src/run/documents/find-document.ts";
import { detectFlavour } from "../../src/run/service/detect-flavour.ts";
import type { Api, Document } from "../../src/rest/types.ts";
import { createApi } from "../../src/rest/api.ts";
import { documented } from "../../src/rest/flavours.ts";
import { normaliseBaseUrl } from "../../src/rest/url.ts";
import { folderOfAll } from "../support/service.ts";

export type Target = { readonly url: string; readonly key: string };

/** Milliseconds for each step: a live service may be slow, and a test that waits longer has lost its service. */
const PATIENCE = 30_000;

/**
 * What the program relies on in a service, one promise a test. The service is left without a document of ours; its
 * dataset of a name of its own stays, because the six operations know no way to remove one.
 */
export function contract(
	name: string,
	target: () => Promise<Target>,
	end: () => Promise<void>,
	merges?: boolean,
): void {
	describe(`a service that ragtag supports: ${name}`, { timeout: PATIENCE }, () => {
		let connected: Api | undefined;
		let dataset = "";
		const folder = folderOfAll();
		const made = new Set<string>();
		const datasetName = `ragtag-contract-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`;
		const api = (): Api => {
			if (connected === undefined) throw new Error("the service was not reached");
			return connected;
		};
		const store = async (text: string): Promise<string> => {
			const path = join(folder, `${made.size}.txt`);
			await writeFile(path, text);
			const file = { path, name: `contract ${made.size} é.txt`, size: Buffer.byteLength(text) };
			const { id } = await api().uploadDocument(dataset, file);
			made.add(id);
			return id;
		};
		const remove = async (id: string): Promise<void> => {
			const listed = await find(id);
			if (listed !== undefined) await api().removeDocument(listed);
			made.delete(id);
		};
		const find = async (id: string): Promise<Document | undefined> => {
			return findDocument({ api: api(), request: (request) => request(), datasetId: dataset }, id);
		};

		beforeAll(async () => {
			const { url, key } = await target();
			const dialect = { flavour: documented, form: "multipart" as const };
			const base = createApi({ baseUrl: normaliseBaseUrl(url), key, dialect, timeout: PATIENCE, connections: 2 });
			// Which kind of server it is, nobody says: it is found out as a command finds it out.
			const { flavour } = await detectFlavour(base, (request) => request());
			connected = base.as({ flavour, form: flavour.update.forms[0] });
			dataset = (await api().createDataset(datasetName)).id;
		}, PATIENCE);

		afterAll(async () => {
			for (const id of made) await remove(id).catch(() => undefined);
			await connected?.close();
			await end();
		}, PATIENCE);

		it("the list finds a created dataset by its name", async () => {
			let found: string | undefined;
			for (let page = 1; found === undefined; page++) {
				const { items } = await api().listDatasets({ page, pageSize: 100 });
				if (items.length === 0) break;
				found = items.find((each) => each.name === datasetName)?.id;
			}
			expect(found).toBe(dataset);
		});

		it("the list shows an uploaded file with its id, name and size", async () => {
			const id = await store("four words of text\n");
			expect(await find(id)).toMatchObject({ id, datasetId: dataset, name: "contract 0 é.txt", size: 19 });
		});

		it("metadata reads back as it was written", async () => {
			const id = await store("text");
			const metadata: JsonObject = {
				title: 'Zoë "x", y',
				publish_date: "2024-02-29",
				url: "https://example.org/a?b=c",
			};
			await api().updateMetadata(dataset, id, metadataOf(metadata));
			expect(Object.fromEntries((await find(id))?.metadata ?? [])).toEqual(metadata);
		});

		it("the pages together show every document, even if the service's order is random", async () => {
			for (const text of ["one", "two", "three"]) await store(text);
			const ids: string[] = [];
			for await (const { id } of allDocuments({ api: api(), request: (request) => request(), datasetId: dataset }))
				ids.push(id);
			expect(ids.toSorted()).toEqual([...made].toSorted());
		});

		it("the service refuses a document that does not exist, and changes no other", async () => {
			const absent = "0123456789abcdef0123456789abcdef";
			const update = api().updateMetadata(dataset, absent, metadataOf({ title: "x" }));
			await expect(update).rejects.toMatchObject({ name: "RestError", kind: "rejected" });
		});

		it("an empty update clears a document, and other keys replace the stored ones, unless it merges", async () => {
			const id = await store("text");
			const fields = async (): Promise<unknown> => Object.fromEntries((await find(id))?.metadata ?? []);
			await api().updateMetadata(dataset, id, metadataOf({ title: "x", old: 1 }));
			await api().updateMetadata(dataset, id, metadataOf({ title: "y" }));
			const kept = await fields();
			// RAGFlow v0.24.0 merges (api/db/services/doc_metadata_service.py): its rows fail with KEYS_KEPT.
			const [replaced, merged] = [{ title: "y" }, { title: "y", old: 1 }];
			// Of a live service it is not known which of the two it does.
			expect(merges === undefined ? [replaced, merged] : [merges ? merged : replaced]).toContainEqual(kept);
			await api().updateMetadata(dataset, id, new Map());
			expect(await fields()).toEqual(isDeepStrictEqual(kept, { title: "y" }) ? {} : kept);
		});

		it("a probe of the right to update changes nothing and finds that the owner has it", async () => {
			const id = await store("text");
			await api().updateMetadata(dataset, id, metadataOf({ title: "kept" }));
			expect(await api().probeRight(dataset)).toBe("may");
			expect(Object.fromEntries((await find(id))?.metadata ?? [])).toEqual({ title: "kept" });
		});

		it("the list no longer shows a removed document, and still shows the others", async () => {
			const [kept, gone] = [await store("kept"), await store("gone")];
			await remove(gone);
			expect(await find(kept)).toMatchObject({ id: kept });
			const { items } = await api().listDocuments(dataset, { page: 1, pageSize: 100 });
			expect(items.map(({ id }) => id)).not.toContain(gone);
		});
	});
}
