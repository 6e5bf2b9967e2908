import { describe, expect, it } from "vitest";
import { Exit } from "../../src/errors.ts";
import { DATABASE_AWAY, type RestError, type RestErrorKind } from "../../src/rest/errors.ts";
import type { Document } from "../../src/rest/types.ts";
import { ratesOf } from "./rates.ts";
import { mayHaveArrived, type Memory, type Sending } from "../../src/run/operations/operation.ts";
import { replaceMetadata } from "../../src/run/operations/update.ts";
import { BeforeImages } from "../../src/run/documents/before-images.ts";
import { requestWithRetry } from "../../src/run/retry/request.ts";
import type { Request } from "../../src/run/types.ts";
import { detectFlavour } from "../../src/run/service/detect-flavour.ts";
import { direct, documentOf, fakeApi } from "./fake-api.ts";
import { FakeClock } from "./fake-clock.ts";
import { provenService, uploading, unrecorded } from "./fake-service.ts";
import { failure, work } from "./harness.ts";
import { ragflowPut } from "../support/flavours.ts";
import { file } from "../support/service.ts";

/** Both ways in which a server says that its database is away. */
const answers: readonly (readonly [string, () => RestError])[] = [
	["code 100 with a number", () => failure("ambiguous", { code: DATABASE_AWAY, status: 200 })],
	["a 401 for a key that was accepted", () => failure("doubted", { code: "KEY_REJECTED", status: 401 })],
];

const dialect = { flavour: ragflowPut, form: "json" } as const;
const metadata = new Map([["a", 1]]);
const item = { ...work(0), metadata };

describe.each(answers)("%s", (_, away) => {
	it("may follow a write, so its row does not count as untouched", async () => {
		const api = fakeApi([], { dialect, updateMetadata: () => Promise.reject(away()) });
		const memory: Memory = {};
		await expect(replaceMetadata(provenService(api), {}, unrecorded)(item, direct, memory)).rejects.toMatchObject({
			code: away().code,
		});
		expect(mayHaveArrived(memory)).toBe(true);
	});

	it("does not lose the before-image: the row can still be undone", async () => {
		const sent: Sending[] = [];
		const tries = [away(), away(), away()];
		const service = provenService(fakeApi([], { dialect, updateMetadata: async () => "document_id" }));
		const present = {
			atHand: () => undefined,
			fromList: () => undefined,
			byId: async () => {
				const failed = tries.pop();
				if (failed !== undefined) throw failed;
				return documentOf("doc-0", new Map([["a", 0]]));
			},
		};
		const log = { ...unrecorded, sending: async (_row: unknown, sending: Sending) => void sent.push(sending) };
		const write = replaceMetadata(service, { images: new BeforeImages(present, service) }, log);
		const memory: Memory = {};
		for (const left of [2, 1, 0]) {
			await expect(write(item, direct, memory)).rejects.toMatchObject({ code: away().code });
			expect(tries).toHaveLength(left);
		}
		await write(item, direct, memory);
		expect(sent).toEqual([expect.objectContaining({ before: new Map([["a", 0]]) })]);
	});

	it.each([true, false])(
		"after an upload: the next attempt searches for the file and sends it again only if it is missing (%s)",
		async (isThere) => {
			const path = await file("a.txt", "x");
			const documents: Document[] = [];
			const calls: string[] = [];
			const stored = { ...documentOf("new", new Map()), name: "a.txt" };
			const api = fakeApi(calls, {
				dialect,
				listDocuments: async () => ({ items: documents, total: documents.length }),
				uploadDocument: async () => {
					const isFirst = calls.filter((call) => call.startsWith("upload")).length === 1;
					if (isThere || !isFirst) documents.push(stored);
					if (isFirst) throw away();
					return { id: "new", name: "a.txt", size: 1 };
				},
				updateMetadata: async () => "document_id",
			});
			const upload = uploading(provenService(api), "error");
			const row = { ...work(0), documentId: "", metadata, file: { path, name: "a.txt" } };
			const memory: Memory = {};
			await expect(upload(row, direct, memory)).rejects.toMatchObject({ code: away().code });
			expect(mayHaveArrived(memory)).toBe(true);
			expect(await upload(row, direct, memory)).toMatchObject({ status: "uploaded", documentId: "new" });
			expect(calls.filter((call) => call.startsWith("upload"))).toHaveLength(isThere ? 1 : 2);
			expect(documents).toHaveLength(1);
		},
	);

	it("says nothing about the flavour, however often it is probed", async () => {
		const probed = fakeApi([], { probeList: async () => "unknown", probeUpdate: () => Promise.reject(away()) });
		await expect(detectFlavour(probed, direct, { isPatient: false })).rejects.toMatchObject({ code: away().code });
	});
});

it.each([
	["doubted", 900_000, 120_000],
	["doubted", 30_000, 30_000],
	["ambiguous", 900_000, 900_000],
	["untrusted", 900_000, 0],
] as const)("a read after the run waits through what is %s, of %d ms for %d ms", async (kind, maxOutage, after) => {
	const clock = new FakeClock(0.9);
	const rates = ratesOf(clock);
	const request: Request = (call) => requestWithRetry(call, rates, { maxOutage });
	const failed = request(() => Promise.reject(failure(kind, { code: "X", status: 401 })));
	await expect(clock.until(failed)).rejects.toMatchObject({ name: "CliError" });
	expect(clock.now()).toBeGreaterThanOrEqual(after);
	expect(clock.now()).toBeLessThan(after + 30_000);
});

it("a read after the run is answered once the service is back, and a refusal ends it", async () => {
	const clock = new FakeClock(0.9);
	const rates = ratesOf(clock);
	const request: Request = (call) => requestWithRetry(call, rates, { maxOutage: 900_000 });
	const answers = [...Array<RestErrorKind>(20).fill("ambiguous"), undefined, "rejected"] as const;
	let tries = 0;
	const ask = (): Promise<number> => {
		const kind = answers[tries++];
		return kind === undefined ? Promise.resolve(tries) : Promise.reject(failure(kind));
	};
	expect(await clock.until(request(ask))).toBe(21);
	await expect(clock.until(request(ask))).rejects.toMatchObject({ exit: Exit.failedRows });
});
