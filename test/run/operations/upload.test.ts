import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { RestError } from "../../../src/rest/errors.ts";
import type { Api, Document, DocumentQuery, StoredFile, UploadFile } from "../../../src/rest/types.ts";
import { mayHaveArrived, type Memory, type SentLog } from "../../../src/run/operations/operation.ts";
import type { OnExisting } from "../../../src/run/operations/namesakes.ts";
import type { UploadItem } from "../../../src/run/operations/store-file.ts";
import type { Work } from "../../../src/run/types.ts";
import { range } from "../../support/values.ts";
import { direct, documentOf, fakeApi } from "../fake-api.ts";
import { FakeClock, idle, idleFiles } from "../fake-clock.ts";
import { provenService, serviceOf, uploading, unrecorded } from "../fake-service.ts";
import { type Run, start, work } from "../harness.ts";
import { sent } from "../journal/support.ts";
import { folderOfAll } from "../../support/service.ts";

/** Time that takes none, as files are looked at meanwhile, which no clock of a test can hurry. */
class InstantClock extends FakeClock {
	override sleep(): Promise<void> {
		return idle();
	}
}

type Store = {
	readonly documents: Document[];
	readonly calls: string[];
	/** what it makes of an upload: the documents are there to be changed */
	take: (file: UploadFile, stored: Document) => StoredFile;
	/** what its list makes of a question */
	list: (documents: readonly Document[], query: DocumentQuery) => { items: readonly Document[]; total: number };
	upload(item: UploadItem, onExisting?: OnExisting, memory?: Memory): Promise<unknown>;
	/** a run of that many rows at a time */
	run(items: readonly UploadItem[], concurrency: number, more?: { log?: SentLog; maxDuration?: number }): Run;
};

const asked = (documents: readonly Document[], { page, id, name }: DocumentQuery) => {
	const found = documents.filter(
		(each) => (id === undefined || each.id === id) && (name === undefined || each.name === name),
	);
	return { items: page > 1 ? [] : found, total: found.length };
};

function storeOf(...names: string[]): Store;
function storeOf(options: { readonly clock: FakeClock }): Store;
function storeOf(...given: (string | { readonly clock: FakeClock })[]): Store {
	const names = given.filter((each) => typeof each === "string");
	const { clock } = given.find((each) => typeof each === "object") ?? { clock: new InstantClock() };
	const documents = names.map((name, at): Document => ({ ...documentOf(`old-${at}`, new Map([["a", "own"]])), name }));
	const calls: string[] = [];
	let made = 0;
	const api: Api = fakeApi(calls, {
		probeUpdate: async () => "other",
		listDatasets: async () => ({ items: [], total: 0 }),
		listDocuments: async (_, query) => store.list(documents, query),
		uploadDocument: async (_, file) => {
			const id = `new-${made++}`;
			return store.take(file, { ...documentOf(id, new Map()), name: file.name, size: file.size });
		},
		updateMetadata: async (_, id, metadata) => {
			const at = documents.findIndex((each) => each.id === id);
			const present = documents[at];
			if (present === undefined) throw new RestError("no such document", { kind: "rejected", code: "NOT_FOUND" });
			documents[at] = { ...present, metadata };
			return "document_id";
		},
	});
	const service = serviceOf(api, { clock });
	const store: Store = {
		documents,
		calls,
		take: (_, stored) => keep(store, stored),
		list: asked,
		upload: (item, onExisting = "error", memory = {}) => uploading(service, onExisting)(item, direct, memory),
		run: (items, concurrency, { log, maxDuration } = {}) => {
			const operation = uploading(service, "error", log === undefined ? {} : { log });
			const rowOf = ({ index }: Work): UploadItem => items[index] ?? item("absent.txt");
			return start((each, request, memory) => operation(rowOf(each), request, memory), {
				rows: items.length,
				clock,
				concurrency,
				maxDuration,
			});
		},
	};
	return store;
}

function keep({ documents }: Store, stored: Document): StoredFile {
	documents.push(stored);
	return stored;
}

const uploads = ({ calls }: Store): string[] => calls.filter((call) => call.startsWith("upload"));
const written = ({ calls }: Store): string[] => calls.filter((call) => call.startsWith("update"));
const notStored = { kind: "not_the_api", code: "NOT_STORED" };

const folder = folderOfAll();
beforeAll(async () => {
	for (const name of ["a.txt", "b.txt", "c.txt"]) await writeFile(join(folder, name), `text of ${name}`);
});

const item = (name: string, index = 0): UploadItem => ({
	...work(index),
	documentId: "",
	metadata: new Map([["a", name]]),
	file: { path: join(folder, name), name },
});

describe("a false success of an upload", () => {
	it.each([true, false])("that stored nothing stops the run with exit 6, metadata: %s", async (has) => {
		const store = storeOf();
		store.take = (_, stored) => stored;
		const items = ["a.txt", "b.txt", "c.txt"].map((name, at) => ({
			...item(name, at),
			...(has ? {} : { metadata: new Map() }),
		}));
		const run = store.run(items, 1);
		expect(await run.done).toMatchObject({ exit: 6, text: expect.stringContaining("does not list it") });
		expect(run.journal.totals()).toMatchObject({ uploaded: 0, pending: 3 });
		expect(uploads(store)).toHaveLength(1);
	});

	it("stops parallel uploads too: none counts before one was seen", async () => {
		const store = storeOf();
		store.take = (_, stored) => stored;
		const items = range(20).map((n) => ({ ...item("a.txt", n), metadata: new Map() }));
		const named = items.map((each, n) => ({ ...each, file: { ...each.file, name: `${n}.txt` } }));
		const run = store.run(named, 8);
		expect(await run.done).toMatchObject({ exit: 6 });
		expect(run.journal.totals()).toMatchObject({ uploaded: 0 });
	});

	it.each<[string, OnExisting]>([
		["a.txt", "upload-again"],
		["report.txt", "error"],
		["a.txt.bak", "error"],
	])("with the id of %s, which another client stored, writes nothing onto it", async (other, onExisting) => {
		const store = storeOf(other);
		store.take = (file) => ({ id: "old-0", name: file.name, size: file.size });
		await expect(store.upload(item("a.txt"), onExisting)).rejects.toMatchObject(notStored);
		expect(written(store)).toEqual([]);
		expect(store.documents[0]?.metadata).toEqual(new Map([["a", "own"]]));
	});

	it.each([
		["a number", "a(1).txt"],
		["its letters composed otherwise", "a\u0301.txt", "\u00e1.txt"],
	])("is a true success if the list shows the file with %s", async (_, shown, sent = "a.txt") => {
		const store = storeOf();
		store.take = (file, stored) => {
			keep(store, { ...stored, name: shown });
			return { ...stored, name: file.name };
		};
		const named = { ...item("a.txt"), file: { path: join(folder, "a.txt"), name: sent } };
		expect(await store.upload(named)).toMatchObject({ status: "uploaded" });
	});

	it("with the same id for two files does not let the second replace the first one's metadata", async () => {
		const store = storeOf();
		let first: StoredFile | undefined;
		store.take = (file, stored) => {
			first ??= keep(store, stored);
			return { ...first, name: file.name, size: file.size };
		};
		await store.upload(item("a.txt"));
		await expect(store.upload(item("b.txt", 1))).rejects.toMatchObject({ kind: "rejected", code: "NOT_STORED" });
		expect(written(store)).toHaveLength(1);
		expect(store.documents[0]?.metadata).toEqual(new Map([["a", "a.txt"]]));
	});

	it.each<[string, OnExisting]>([
		["", "error"],
		[" with --on-existing upload-again, which takes another name than the file's", "upload-again"],
	])("with swapped answers writes no row's metadata onto the other's document%s", async (_, onExisting) => {
		const store = storeOf();
		const kept: Document[] = [];
		store.take = (file, stored) => {
			kept.push(stored);
			keep(store, stored);
			// The answer to the one before, or to the one that comes next.
			const other =
				file.name === "a.txt" ? { ...stored, id: "new-1", name: "b.txt" } : { ...stored, id: "new-0", name: "a.txt" };
			return { id: other.id, name: other.name, size: file.size };
		};
		const results = await Promise.allSettled([
			store.upload(item("a.txt"), onExisting),
			store.upload(item("b.txt", 1), onExisting),
		]);
		expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
		expect(written(store)).toEqual([]);
	});
});

describe("after a first attempt that failed, the second sends the file only where the first stored none", () => {
	const later = (): never => {
		throw new RestError("come later", { kind: "throttled", code: "HTTP_503", status: 503, retryAfter: 1_000 });
	};
	const page = (): never => {
		throw new RestError("a page", { kind: "not_the_api", code: "NOT_THE_API" });
	};
	const storing = (store: Store, end: () => never): void => {
		store.take = (_, stored) => {
			keep(store, stored);
			return end();
		};
	};
	const failsItsCheck = (store: Store): void => {
		const { list } = store;
		store.list = (documents, query) => {
			if (documents.length === 0) return list(documents, query);
			store.list = list;
			throw new RestError("gone", { kind: "ambiguous", code: "HTTP_502" });
		};
	};
	const isBusy = (store: Store): void => {
		const { take } = store;
		store.take = () => {
			store.take = take;
			return later();
		};
	};
	it.each<[string, OnExisting, string, (store: Store) => void, { sent?: number; document?: string }]>([
		["503 with Retry-After, and the file stored", "error", "throttled", (store) => storing(store, later), {}],
		["503 with Retry-After, and none stored", "error", "throttled", isBusy, { sent: 2 }],
		[
			"503, next to a document of its name",
			"upload-again",
			"throttled",
			(store) => storing(store, later),
			{ document: "own" },
		],
		["a check that failed after its success", "error", "ambiguous", failsItsCheck, {}],
		["the same", "upload-again", "ambiguous", failsItsCheck, {}],
		["a page, and the request passed on", "error", "not_the_api", (store) => storing(store, page), {}],
		["the same", "upload-again", "not_the_api", (store) => storing(store, page), {}],
	])("%s, with --on-existing %s", async (_, onExisting, kind, fail, { sent = 1, document }) => {
		const store = document === undefined ? storeOf() : storeOf("a.txt");
		fail(store);
		const memory: Memory = {};
		await expect(store.upload(item("a.txt"), onExisting, memory)).rejects.toMatchObject({ kind });
		expect(mayHaveArrived(memory)).toBe(true);
		const end = await store.upload(item("a.txt"), onExisting, memory);
		expect(end).toMatchObject({ status: "uploaded", documentId: `new-${sent - 1}` });
		expect(uploads(store)).toHaveLength(sent);
		const values = store.documents.map(({ metadata }) => metadata?.get("a"));
		expect(values).toEqual([...(document === undefined ? [] : [document]), "a.txt"]);
	});
});

describe("an upload whose answer was lost", () => {
	const lost = new RestError("the connection was reset", { kind: "ambiguous", code: "RESET" });
	const rows = (): UploadItem[] => ["a.txt", "b.txt", "c.txt"].map((name, at) => item(name, at));
	/** stores what it was sent that much later, when the answer is lost; never where that is infinite */
	const storing = (after: number): { store: Store; clock: FakeClock } => {
		const clock = new FakeClock(0.5, idleFiles);
		const store = storeOf({ clock });
		store.take = (_, stored) => {
			if (after < Number.POSITIVE_INFINITY) void clock.sleep(after).then(() => keep(store, stored));
			throw lost;
		};
		return { store, clock };
	};

	it("is searched until the service has stored it: rows wait in parallel, and none is sent twice", async () => {
		const { store, clock } = storing(3_500);
		const run = store.run(rows(), 1);
		expect(await clock.until(run.done)).toBeUndefined();
		expect(run.journal.totals()).toMatchObject({ uploaded: 3, failed: 0, attempts: 3 });
		expect([uploads(store).length, written(store).length]).toEqual([3, 3]);
		expect(clock.now()).toBeLessThan(8_000);
	});

	it("fails its row after the settle time, which all rows share", async () => {
		const { store, clock } = storing(Number.POSITIVE_INFINITY);
		const run = store.run(rows(), 1);
		expect(await clock.until(run.done)).toBeUndefined();
		expect(run.outcomes.map(({ error, attempts }) => [error?.code, attempts])).toEqual(
			rows().map(() => ["UNKNOWN_OUTCOME", 1]),
		);
		expect(uploads(store)).toHaveLength(3);
		expect([clock.now() >= 10_000, clock.now() < 20_000]).toEqual([true, true]);
	});

	it("stays pending if a signal ends the wait", async () => {
		const { store, clock } = storing(Number.POSITIVE_INFINITY);
		const run = store.run(rows(), 1);
		await clock.pass(2_000);
		run.user.abort({ exit: 130, text: "stopped by SIGINT" });
		expect(await run.done).toMatchObject({ exit: 130 });
		expect([clock.now(), run.journal.totals()]).toMatchObject([2_000, { pending: 3, failed: 0 }]);
	});

	it("stays pending if the run's time is over before the next check", async () => {
		const { store, clock } = storing(Number.POSITIVE_INFINITY);
		const run = store.run(rows(), 1, { maxDuration: 5_000 });
		expect(await clock.until(run.done)).toMatchObject({ exit: 9 });
		expect(run.journal.totals()).toMatchObject({ pending: 3, failed: 0 });
	});
});

it("of a killed execution is searched until the settle time is over, before it is sent again", async () => {
	const clock = new FakeClock(0.5, idleFiles);
	const store = storeOf({ clock });
	const log: SentLog = { ...unrecorded, earlier: () => ({ age: 2_000 }) };
	void clock.sleep(6_000).then(() => keep(store, { ...documentOf("late"), name: "a.txt", size: 13 }));
	const run = store.run([item("a.txt")], 1, { log });
	expect(await clock.until(run.done)).toBeUndefined();
	expect(run.outcomes).toMatchObject([{ status: "uploaded", documentId: "late" }]);
	expect(uploads(store)).toEqual([]);

	const absent = storeOf({ clock: new FakeClock(0.5, idleFiles) });
	const again = absent.run([item("a.txt")], 1, { log });
	expect(await again.clock.until(again.done)).toBeUndefined();
	// Two of the ten seconds had passed before.
	expect([uploads(absent).length, Math.round(again.clock.now() / 100)]).toEqual([1, 80]);
});

it("of a killed execution is found although its file was changed or removed since", async () => {
	for (const name of ["b.txt", "removed.txt"]) {
		const store = storeOf();
		keep(store, { ...documentOf("stored"), name, size: 5 });
		const log: SentLog = {
			...unrecorded,
			earlier: () => ({ sent: sent(0, { documentId: "", write: "upload", fileName: name, size: 5 }), age: 20_000 }),
		};
		const run = store.run([item(name)], 1, { log });
		await run.done;
		expect(run.outcomes).toMatchObject([{ status: "uploaded", documentId: "stored" }]);
		expect(uploads(store)).toEqual([]);
	}
});

it("of a file that was stored in part may have arrived, so an undo reports it", async () => {
	const store = storeOf();
	store.take = (_, stored) => {
		keep(store, { ...stored, size: 3 });
		throw new RestError("stored 3 of 13 bytes", { kind: "rejected", code: "SIZE_MISMATCH" });
	};
	const memory: Memory = {};
	await expect(store.upload(item("a.txt"), "error", memory)).rejects.toMatchObject({ code: "SIZE_MISMATCH" });
	expect(mayHaveArrived(memory)).toBe(true);
});

describe("a list that ignores the requested name", () => {
	const ignoring =
		(missing: number): Store["list"] =>
		(documents, { page, id }) => {
			const found = documents.filter((each) => id === undefined || each.id === id);
			return { items: page > 1 ? [] : found, total: documents.length + missing };
		};

	it("and is too short uploads nothing, as the file might exist already", async () => {
		const store = storeOf("x.txt", "y.txt");
		store.list = ignoring(1);
		await expect(store.upload(item("a.txt"))).rejects.toMatchObject({ kind: "rejected", code: "INCOMPLETE_LIST" });
		expect(uploads(store)).toEqual([]);
	});

	it("and is complete finds the document of that name", async () => {
		const store = storeOf("x.txt", "a.txt");
		store.list = ignoring(0);
		await expect(store.upload(item("a.txt"))).rejects.toMatchObject({ code: "EXISTS" });
		await expect(store.upload(item("b.txt"))).resolves.toMatchObject({ status: "uploaded" });
	});
});

it("an upload that updates an existing document never records a rounded number, which an undo would restore", async () => {
	const present = { ...documentOf("old", new Map([["a", 1e20]])), name: "a.txt" };
	const images: unknown[] = [];
	const api = fakeApi([], {
		listDocuments: async () => ({ items: [{ ...present, inexact: new Map([["a", "1e400"]]) }], total: 1 }),
		updateMetadata: async () => "document_id",
	});
	const log: SentLog = {
		...unrecorded,
		sending: async (_item, sending) => void images.push("before" in sending ? sending.before : "none"),
	};
	const operation = uploading(provenService(api), "update-metadata", { log });
	expect(await operation(item("a.txt"), direct, {})).toMatchObject({ status: "updated", documentId: "old" });
	expect(images).toEqual([undefined]);
});

it("a file of a sync that another client stores at the same moment fails, and names the document to remove", async () => {
	const store = storeOf();
	store.take = (_, stored) => keep(store, { ...stored, name: "a(1).txt" });
	const error = await store.upload(item("a.txt"), "foreign").catch((failure: unknown) => failure);
	expect(error).toMatchObject({
		code: "RENAMED",
		message: expect.stringContaining("docs rm --id new-0 removes it, and --adopt"),
	});
	expect(written(store)).toEqual([]);
});
