import { describe, expect, it } from "vitest";
import { RestError } from "../../../src/rest/errors.ts";
import { downloadDocument } from "../../../src/run/operations/download.ts";
import type { DownloadFolder } from "../../../src/run/operations/download-folder.ts";
import { fakeApi } from "../fake-api.ts";
import { provenService } from "../fake-service.ts";
import { ragflowPatch } from "../../support/flavours.ts";

const item = { index: 0, line: 1, datasetId: "ds", documentId: "d1" };

/** Downloads a document of 4 bytes: how that ended, and what was done with its file. */
async function download(answer: () => Promise<number>): Promise<{ readonly end: unknown; readonly did: string[] }> {
	const api = fakeApi([], { downloadDocument: answer, dialect: { flavour: ragflowPatch, form: "json" } });
	const did: string[] = [];
	const write: DownloadFolder["write"] = async (_target, _overwrites, fill) =>
		void did.push((await fill(() => Promise.resolve())) ? "keep" : "drop");
	const folder = { write, isKept: async () => false, check: async () => undefined };
	const operation = downloadDocument({
		service: provenService(api),
		folder,
		wanted: () => ({ size: 4, path: "a.md" }),
		overwrites: false,
		onlyChanged: false,
		isResumed: false,
	});
	const end = await operation(item, (call) => call(), {}).catch((error: unknown) => error);
	return { end, did };
}

describe("a document whose bytes do not come whole", () => {
	it("has no file where the service has lost its content", async () => {
		const empty = new RestError("answered code 102 This file is empty.", { kind: "rejected", code: "CODE_102" });
		const { end, did } = await download(() => Promise.reject(empty));
		expect(end).toMatchObject({ kind: "rejected", code: "CONTENT_LOST" });
		expect(did).toEqual([]);
	});

	it("has no file where fewer bytes came than are listed, and is tried again", async () => {
		const { end, did } = await download(() => Promise.resolve(3));
		expect(end).toMatchObject({ kind: "ambiguous", code: "SIZE_MISMATCH" });
		expect(did).toEqual([]);
	});

	it("has its file where all of them came", async () => {
		const { end, did } = await download(() => Promise.resolve(4));
		expect(end).toMatchObject({ status: "downloaded" });
		expect(did).toEqual(["keep"]);
	});
});
