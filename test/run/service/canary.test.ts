import { describe, expect, it } from "vitest";
import { documented } from "../../../src/rest/flavours.ts";
import type { Echo } from "../../../src/rest/types.ts";
import type { WriteMemory } from "../../../src/run/service/write.ts";
import { range } from "../../support/values.ts";
import { direct } from "../fake-api.ts";
import { type FakeServer, fakeServer } from "../fake-server.ts";
import { memoryOf, writeInDialect } from "../fake-service.ts";
import { failure } from "../harness.ts";
import { ragflowPut } from "../../support/flavours.ts";
import { known, row, updates, worldOf } from "./world.ts";

const HOUR = 3_600_000;
const LOSES_ALL_BUT_JSON = { takes: { multipart: "ignores", plain: "ignores", json: "keeps" } } as const;

/** A server whose documents have what their rows write, but for those at the end. */
function holding(count: number, others: number, start: Partial<FakeServer> = {}) {
	const ids = range(count + others).map((n) => `doc-${n}`);
	const same = ids.slice(0, count);
	const server = fakeServer(ids, start);
	for (const id of same) server.held.set(id, new Map([["a", id]]));
	const before = (id: string): WriteMemory => ({ before: { document: { metadata: server.held.get(id) } } });
	return { ids, same, server, before, lists: () => server.calls.filter((call) => call === "list").length };
}

const kept = (server: FakeServer, id: string): unknown => server.held.get(id)?.get("a");

describe("what an earlier run learned of a server that has changed since", () => {
	it.each<Echo>(["document_id", "id", "nothing", "other"])(
		"counts no row before the first is read back, though the server names documents alike: %s",
		async (echo) => {
			const ids = range(20).map((n) => `doc-${n}`);
			const server = fakeServer(ids, { echo, ...LOSES_ALL_BUT_JSON });
			const { service, clock } = worldOf(server, { memory: memoryOf(known({ proven: echo })) });
			const settled: string[] = [];
			const rows = ids.map(async (id) => {
				await writeInDialect(service, direct, row(id), {});
				settled.push(id);
				expect(kept(server, id)).toBe(id);
			});
			await clock.until(Promise.all(rows));
			expect(settled).toHaveLength(20);
			for (const id of ids) expect(kept(server, id)).toBe(id);
		},
	);

	it("is not confirmed by a first row that failed for its own reason", async () => {
		const server = fakeServer(["one", "two"], LOSES_ALL_BUT_JSON);
		const { write } = worldOf(server, { memory: memoryOf(known()) });
		await expect(write(row("absent"))).rejects.toMatchObject({ code: "NOT_FOUND" });
		await write(row("one"));
		await write(row("two"));
		expect([kept(server, "one"), kept(server, "two")]).toEqual(["one", "two"]);
	});

	it("reads back ten rows that change nothing, and no more, however many are in flight", async () => {
		const { ids, server, before, lists } = holding(64, 0);
		const { service, clock } = worldOf(server, { memory: memoryOf(known()) });
		// Each request takes a moment, so that all rows begin before the first is read back.
		const request: typeof direct = async (call) => {
			await clock.sleep(10);
			return call();
		};
		await clock.until(Promise.all(ids.map((id) => writeInDialect(service, request, row(id), before(id)))));
		expect(updates(server)).toHaveLength(64);
		expect(lists()).toBe(10);
		expect(service.canary.trustsSuccess).toBe(true);
	});

	it("reads back ten rows that clear their documents, and does not trust a form that loses all metadata for them", async () => {
		const takes = { multipart: "clears", plain: "keeps", json: "keeps" } as const;
		const { ids, server, before, lists } = holding(40, 0, { takes });
		const { service, clock } = worldOf(server, { memory: memoryOf(known()) });
		const written = ids.slice(1).map((id) => writeInDialect(service, direct, row(id, {}), before(id)));
		await clock.until(Promise.all(written));
		expect(lists()).toBe(10);
		await clock.until(writeInDialect(service, direct, row("doc-0", { a: "new" }), before("doc-0")));
		expect(kept(server, "doc-0")).toBe("new");
	});

	it("reads back ten rows that change nothing where no earlier run is known, and each that changes something", async () => {
		const { same, server, before, lists } = holding(63, 1, LOSES_ALL_BUT_JSON);
		const { service, clock } = worldOf(server);
		const written = same.map((id) => writeInDialect(service, direct, row(id), before(id)));
		await clock.until(Promise.all(written));
		expect(lists()).toBe(10);
		expect(service.canary.trustsSuccess).toBe(false);
		await clock.until(writeInDialect(service, direct, row("doc-63"), before("doc-63")));
		expect(kept(server, "doc-63")).toBe("doc-63");
	});

	it("and among rows that change nothing, the first that changes something is still read back", async () => {
		const { ids, server, before } = holding(63, 1, LOSES_ALL_BUT_JSON);
		const { service, clock } = worldOf(server, { memory: memoryOf(known()) });
		const written = [ids[0], ids[63], ...ids.slice(1, 63)].map((id = "") =>
			writeInDialect(service, direct, row(id), before(id)),
		);
		await clock.until(Promise.all(written));
		expect(kept(server, "doc-63")).toBe("doc-63");
	});

	it.each<[string, Echo, Echo]>([
		["no document", "document_id", "nothing"],
		["it in another member", "document_id", "id"],
		["it in a list, a text or a number", "document_id", "other"],
		["it, where it named none", "nothing", "document_id"],
	])("is revoked during a run if a success names %s", async (_, proven, echo) => {
		const server = fakeServer(["one", "two", "three"], { echo: proven });
		const { write } = worldOf(server, { memory: memoryOf(known({ proven })) });
		await write(row("one"));
		await write(row("two"));
		server.echo = echo;
		server.takes = { multipart: "ignores", json: "keeps" };
		await write(row("three"));
		expect(kept(server, "three")).toBe("three");
	});

	it("is learned again if it is from the future, as a clock that was set back leaves it", async () => {
		const server = fakeServer(["one"], { isRagflow: true });
		const { service, write } = worldOf(server, {
			memory: memoryOf(known({ flavour: ragflowPut, form: "json" })),
			now: () => -HOUR,
		});
		await write(row("one"));
		expect(server.calls).toContain("probe PATCH");
		expect(service.recognition?.origin).toBe("found");
	});
});

describe("a document that no list shows", () => {
	it("does not end the read-back for all others: their rows would be lost", async () => {
		const server = fakeServer(["odd", "one", "two"], { takes: { multipart: "keeps", plain: "keeps" } });
		server.hidden.add("odd");
		const { service, write, notes } = worldOf(server);
		await write(row("odd"));
		expect(notes).toEqual([expect.stringContaining("the list does not show document odd")]);
		expect(service.canary.trustsSuccess).toBe(false);
		server.takes = { multipart: "ignores", plain: "keeps" };
		await write(row("one"));
		await write(row("two"));
		expect([kept(server, "one"), kept(server, "two")]).toEqual(["one", "two"]);
	});

	it("three times in a row ends the read-back, with one warning and nothing verified", async () => {
		const ids = range(5).map((n) => `doc-${n}`);
		const server = fakeServer(ids);
		for (const id of ids) server.hidden.add(id);
		const { service, write, notes } = worldOf(server);
		for (const id of ids) await write(row(id));
		expect(notes).toHaveLength(1);
		expect([service.canary.isUnreadable, service.canary.echo]).toEqual([true, undefined]);
		expect(service.recognition?.proven).toBeUndefined();
		expect(updates(server).slice(3)).toEqual(["PUT multipart doc-3", "PUT multipart doc-4"]);
		expect(server.calls.at(-2)).toBe("PUT multipart doc-3");
	});

	it("twice, then one that is listed, restarts the count", async () => {
		const ids = range(6).map((n) => `doc-${n}`);
		const server = fakeServer(ids);
		for (const n of [0, 1, 3, 4]) server.hidden.add(`doc-${n}`);
		server.held.set("doc-2", new Map([["a", "doc-2"]]));
		const { service, write } = worldOf(server);
		for (const id of ids.slice(0, 5)) await write(row(id));
		expect(service.canary.trustsSuccess).toBe(false);
		await write(row("doc-5"));
		expect(service.canary.echo).toBe("document_id");
	});
});

describe("a server whose lists lag behind its writes", () => {
	it.each([
		["where nothing is known", undefined],
		["where an earlier run saw the first form arrive", known()],
	])("a late effect of the first form is no proof of the second, which changes nothing: %s", async (_, learned) => {
		const ids = range(4).map((n) => `doc-${n}`);
		const server = fakeServer(ids, { takes: { multipart: "keeps", plain: "ignores", json: "ignores" }, lag: 3_500 });
		const { service, write } = worldOf(server, { memory: memoryOf(learned) });
		await write(row("doc-0"));
		expect(updates(server)).toEqual(["PUT multipart doc-0", "PUT plain doc-0"]);
		expect(service.canary.echo).toBeUndefined();
		server.lag = 0;
		for (const id of ids.slice(1)) await write(row(id));
		for (const id of ids) expect(kept(server, id)).toBe(id);
	});

	it("nor of another flavour's form, if the first form revealed the server's flavour", async () => {
		const ids = range(4).map((n) => `doc-${n}`);
		const server = fakeServer(ids, {
			isRagflow: true,
			takes: { multipart: "keeps", plain: "contradicts", json: "ignores" },
			lag: 4_000,
		});
		const { service, write } = worldOf(server, { memory: memoryOf(known({ proven: undefined })) });
		await write(row("doc-0"));
		expect(service.recognition).toMatchObject({ flavour: ragflowPut, proven: undefined });
		await expect(write(row("doc-1"))).rejects.toMatchObject({ code: "NOT_ARRIVED" });
	});

	it("nor of a form that a later attempt used after the first answer was lost", async () => {
		const server = fakeServer(["one", "two"], { takes: { multipart: "keeps", json: "ignores" }, lag: 3_000 });
		const { service, write } = worldOf(server);
		const memory: WriteMemory = {};
		let isLost = true;
		const request: typeof direct = async (call) => {
			const answer = await call();
			if (server.calls.at(-1) !== "PUT multipart one" || !isLost) return answer;
			isLost = false;
			throw failure("ambiguous", { status: 502 });
		};
		await expect(writeInDialect(service, request, row("one"), memory)).rejects.toMatchObject({ kind: "ambiguous" });
		// Meanwhile another row has found that form given up for the next.
		service.prefer(server.api({ flavour: documented, form: "json" }));
		await write(row("one"), memory);
		expect(service.canary.echo).toBeUndefined();
		await write(row("two"));
		expect(kept(server, "two")).toBe("two");
	});

	it("a lag shorter than the read-back costs no attempt in another form", async () => {
		const server = fakeServer(["one"], { lag: 1_000 });
		const { service, write } = worldOf(server);
		await write(row("one"));
		expect(updates(server)).toEqual(["PUT multipart one"]);
		expect(service.canary.echo).toBe("document_id");
	});
});

describe("a row that the service does not take", () => {
	it("fails for its own reason if one form refuses it and the others ignore it, and the run continues", async () => {
		const server = fakeServer(["bad", "good"], { takes: { multipart: "refuses", plain: "ignores", json: "ignores" } });
		const { service, write } = worldOf(server);
		await expect(write(row("bad"))).rejects.toMatchObject({ kind: "rejected", code: "CODE_101" });
		expect(service.canary.trustsSuccess).toBe(false);
		server.takes = { multipart: "keeps", plain: "ignores", json: "ignores" };
		await write(row("good"));
		expect([kept(server, "bad"), kept(server, "good")]).toEqual([undefined, "good"]);
	});

	it.each([0, 12])("is lost alone where a form was proven, and %i unchanged rows wait for nothing", async (count) => {
		const same = range(count).map((n) => `doc-${n}`);
		const server = fakeServer(["bad", "good", "last", ...same], { isRagflow: true, takes: { json: "ignores" } });
		server.held.set("bad", new Map([["a", "old"]]));
		for (const id of same) server.held.set(id, new Map([["a", id]]));
		const { service, write } = worldOf(server, { memory: memoryOf(known({ flavour: ragflowPut, form: "json" })) });
		for (const id of same) await write(row(id));
		service.canary.remembered("document_id");
		const lost = { kind: "rejected", code: "NOT_ARRIVED" };
		await expect(write(row("bad"))).rejects.toMatchObject(lost);
		await expect(write(row("bad"))).rejects.toMatchObject(lost);
		for (const id of same) await write(row(id));
		service.canary.remembered("document_id");
		server.takes = { json: "keeps" };
		for (const id of ["good", "last"]) await write(row(id));
		expect([kept(server, "bad"), kept(server, "good"), kept(server, "last")]).toEqual(["old", "good", "last"]);
		expect(service.canary.trustsSuccess).toBe(true);
	});

	it("stops the run if an accepted form changed the metadata: harm is no refusal", async () => {
		const server = fakeServer(["bad"], { takes: { multipart: "refuses", plain: "clears", json: "refuses" } });
		server.held.set("bad", new Map([["old", 1]]));
		await expect(worldOf(server).write(row("bad"))).rejects.toMatchObject({ kind: "not_the_api", code: "NOT_ARRIVED" });
	});
});
