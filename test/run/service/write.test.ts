import { describe, expect, it } from "vitest";
import type { Metadata } from "../../../src/json/values.ts";
import { documented } from "../../../src/rest/flavours.ts";
import { splitLists } from "../../../src/rest/ragflow.ts";
import type { Service } from "../../../src/run/service/service.ts";
import type { WriteMemory } from "../../../src/run/service/write.ts";
import type { Request } from "../../../src/run/types.ts";
import { direct } from "../fake-api.ts";
import { fakeServer } from "../fake-server.ts";
import { memoryOf, serviceOf, writeInDialect } from "../fake-service.ts";
import { ragflow1, ragflowPatch, ragflowPut } from "../../support/flavours.ts";
import { known, row, updates, worldOf } from "./world.ts";

describe("a service of unknown flavour", () => {
	it("the first row is read before and after, and each later row costs one request", async () => {
		const server = fakeServer(["one", "two"]);
		const { service, write, notes } = worldOf(server);
		await write(row("one"));
		expect(server.calls).toEqual(["probe PATCH", "list", "PUT multipart one", "list"]);
		expect(service.canary.echo).toBe("document_id");
		await write(row("two"));
		expect(server.calls.slice(4)).toEqual(["PUT multipart two"]);
		expect(server.held.get("two")).toEqual(new Map([["a", "two"]]));
		expect(notes).toEqual([]);
	});

	it.each([
		["ignores it and answers success", "ignores"],
		["clears the document and answers success", "clears"],
		["refuses it", "refuses"],
		["answers code 100, as RAGFlow does", "contradicts"],
	] as const)("a form that %s is replaced by the next, and the row arrives", async (_, take) => {
		const server = fakeServer(["one", "two"], { takes: { multipart: take, plain: take, json: "keeps" } });
		server.held.set("one", new Map([["a", "before"]]));
		const { service, write } = worldOf(server);
		await write(row("one"));
		await write(row("two"));
		expect(server.held.get("one")).toEqual(new Map([["a", "one"]]));
		expect(server.held.get("two")).toEqual(new Map([["a", "two"]]));
		expect(updates(server)).toEqual(["PUT multipart one", "PUT plain one", "PUT json one", "PUT json two"]);
		expect(service.recognition).toMatchObject({ form: "json", proven: "document_id" });
	});

	it("with --body only that form is tried", async () => {
		const server = fakeServer(["one"], { takes: { multipart: "keeps", json: "ignores" } });
		const { write } = worldOf(server, { form: "json" });
		await expect(write(row("one"))).rejects.toMatchObject({ code: "NOT_ARRIVED" });
		expect(updates(server)).toEqual(["PUT json one"]);
	});

	it("a row that is refused in every form fails for its own reason and keeps the form for others", async () => {
		const server = fakeServer(["one"]);
		const { write } = worldOf(server);
		await expect(write(row("absent"))).rejects.toMatchObject({ kind: "rejected", code: "NOT_FOUND" });
		server.takes = {};
		await expect(write(row("one"))).rejects.toMatchObject({ kind: "rejected", code: "CODE_101" });
		server.takes = { multipart: "keeps" };
		await write(row("one"));
		expect(updates(server).at(-1)).toBe("PUT multipart one");
	});

	it("a row whose document already has the metadata proves nothing, so the next one is read back too", async () => {
		const server = fakeServer(["one", "two", "three"], { takes: { multipart: "ignores", plain: "keeps" } });
		server.held.set("one", new Map([["a", "one"]]));
		server.held.set("two", new Map([["a", "two"]]));
		const { service, write } = worldOf(server);
		await write(row("one"));
		await write(row("two"));
		expect(service.canary.trustsSuccess).toBe(false);
		expect(service.canary.echo).toBeUndefined();
		await write(row("three"));
		expect(server.held.get("three")).toEqual(new Map([["a", "three"]]));
		// What the form before sent may have come late: the next row proves it alone.
		expect(service.recognition).toMatchObject({ form: "plain", proven: undefined });
		await write(row("three", { a: "other" }));
		expect(service.recognition).toMatchObject({ form: "plain", proven: "document_id" });
	});

	it("rows that change nothing are written in parallel, so a repeated run takes no longer", async () => {
		const ids = Array.from({ length: 20 }, (_, at) => `doc-${at}`);
		const server = fakeServer(ids);
		for (const id of ids) server.held.set(id, new Map([["a", id]]));
		const { service, write } = worldOf(server);
		await write(row("doc-0"));
		expect(service.canary.hasWeakRow).toBe(true);
		let inFlight = 0;
		let most = 0;
		const slow: typeof direct = async (call) => {
			most = Math.max(most, ++inFlight);
			await new Promise((resolve) => setImmediate(resolve));
			return await call().finally(() => (inFlight -= 1));
		};
		await Promise.all(ids.map((id) => writeInDialect(service, slow, row(id), {})));
		expect(most).toBeGreaterThan(10);
	});

	it("parallel rows never try an unproven form on more than one document", async () => {
		const ids = Array.from({ length: 20 }, (_, at) => `doc-${at}`);
		const server = fakeServer(ids, { takes: { multipart: "clears", json: "keeps" } });
		const { write } = worldOf(server);
		await Promise.all(ids.map((id) => write(row(id))));
		expect(updates(server).filter((call) => call.includes("multipart"))).toHaveLength(1);
		for (const id of ids) expect(server.held.get(id)).toEqual(new Map([["a", id]]));
	});

	it.each([
		["the list carries no metadata", "names", "the list shows no metadata"],
		["the document is not in the list", "nothing", "the list does not show document one"],
	] as const)("if %s: one warning, and the run continues unverified", async (_, shows, words) => {
		const server = fakeServer(["one", "two"], { shows });
		const { service, write, notes } = worldOf(server);
		await write(row("one"));
		await write(row("two"));
		expect(notes).toEqual([expect.stringContaining(words)]);
		expect(service.canary.echo).toBeUndefined();
		expect(server.held.get("two")).toEqual(new Map([["a", "two"]]));
	});

	it("a service that merges is reported: a replace run does not remove other keys", async () => {
		const server = fakeServer(["one"], { takes: { multipart: "merges" } });
		server.held.set("one", new Map([["old", 1]]));
		const { write, notes } = worldOf(server);
		await write(row("one"));
		expect(notes).toEqual([expect.stringContaining("--mode merge")]);
	});
});

describe("a RAGFlow server", () => {
	it.each([
		["PUT", "ragflow-put", ["probe PATCH", "probe PUT", "list", "PUT json one", "list"]],
		["PATCH", "ragflow-patch", ["probe PATCH", "probe PUT", "list", "PATCH json one", "list"]],
	] as const)("that takes %s is recognised as %s, and gets application/json alone", async (verb, name, calls) => {
		// As v0.23: the part form is answered with success and changes nothing.
		const server = fakeServer(["one"], { verb, isRagflow: true, takes: { multipart: "ignores", json: "keeps" } });
		const { service, write, notes } = worldOf(server, { form: "multipart" });
		await write(row("one"));
		expect(server.calls).toEqual(calls);
		expect(service.recognition).toMatchObject({
			flavour: { name },
			form: "json",
			origin: "found",
			proven: "document_id",
		});
		expect(notes).toEqual([expect.stringContaining("--body multipart is ignored")]);
	});

	it("that splits lists, as v0.24 does, is checked by that rule", async () => {
		const server = fakeServer(["one"], { isRagflow: true, keeps: splitLists });
		const { service, write } = worldOf(server);
		await write(row("one", { tags: ["a, b", "b ", "c"] }));
		expect(server.held.get("one")).toEqual(new Map([["tags", ["a", "b", "c"]]]));
		expect(service.canary.echo).toBe("document_id");
	});

	it("that answers success and loses a row's metadata, as v1.0 does for a value of another type, loses that row alone", async () => {
		const server = fakeServer(["one", "two"], { verb: "PATCH", isRagflow: true, takes: { json: "clears" } });
		server.held.set("one", new Map([["a", "before"]]));
		server.held.set("two", new Map([["a", "before"]]));
		const { write } = worldOf(server, { flavour: { value: ragflow1, origin: "the test" } });
		await expect(write(row("one"))).rejects.toMatchObject({ kind: "rejected", code: "METADATA_REFUSED" });
		server.takes = { json: "keeps" };
		await write(row("two"));
		expect(server.held.get("two")).toEqual(new Map([["a", "two"]]));
	});

	it("that is upgraded from PUT to PATCH during a run loses no row", async () => {
		const ids = Array.from({ length: 40 }, (_, at) => `doc-${at}`);
		const server = fakeServer(ids, { isRagflow: true });
		const { service, write, notes } = worldOf(server);
		for (const [at, id] of ids.entries()) {
			if (at === 20) server.verb = "PATCH";
			await write(row(id));
		}
		for (const id of ids) expect(server.held.get(id)).toEqual(new Map([["a", id]]));
		expect(service.recognition).toMatchObject({ flavour: { name: "ragflow-patch" }, proven: "document_id" });
		expect(notes).toEqual([expect.stringContaining("RAGFlow v0.25 to v0.27")]);
	});

	it("code 100 causes one detection, then fails its rows, and is not repeated without end", async () => {
		const server = fakeServer(["one", "two", "three"], { isRagflow: true });
		const { write } = worldOf(server);
		await write(row("one"));
		server.calls.length = 0;
		server.takes = { json: "contradicts" };
		for (const id of ["two", "three"])
			await expect(write(row(id))).rejects.toMatchObject({ kind: "contradiction", code: "CODE_100" });
		expect(server.calls).toEqual(["PUT json two", "probe PATCH", "probe PUT", "PUT json three"]);
	});

	it("that takes neither PUT nor PATCH is unknown, and nothing is written", async () => {
		const server = fakeServer(["one"], { isRagflow: true });
		const api = server.api({ flavour: documented, form: "multipart" });
		const lost = { ...api, probeUpdate: async () => "wrong_verb" as const };
		const error = { kind: "not_the_api", code: "UNKNOWN_FLAVOUR" };
		await expect(writeInDialect(serviceOf(lost), direct, row("one"), {})).rejects.toMatchObject(error);
		expect(updates(server)).toEqual([]);
	});
});

const REMEMBERED = known({ flavour: ragflowPut, form: "json" });

describe("the stored knowledge of a service", () => {
	it("saves the next run every request but one read-back of its first row", async () => {
		const server = fakeServer(["one", "two"], { isRagflow: true });
		const memory = memoryOf();
		await worldOf(server, { memory }).write(row("one"));
		expect(memory.entry).toMatchObject({ flavour: ragflowPut, form: "json", proven: "document_id" });
		server.calls.length = 0;
		const { service, write } = worldOf(server, { memory });
		await write(row("two"));
		expect(server.calls).toEqual(["list", "PUT json two", "list"]);
		expect(service.recognition).toMatchObject({ origin: "remembered", proven: "document_id" });
		await write(row("one", { a: "again" }));
		expect(server.calls.slice(3)).toEqual(["PUT json one"]);
	});

	it("is learned and proven again after a day, as the service may have changed", async () => {
		const server = fakeServer(["one"], { isRagflow: true });
		const { service, write } = worldOf(server, { memory: memoryOf(REMEMBERED), now: () => 25 * 3_600_000 });
		await write(row("one"));
		expect(server.calls).toEqual(["probe PATCH", "probe PUT", "list", "PUT json one", "list"]);
		expect(service.recognition).toMatchObject({ origin: "found", proven: "document_id" });
	});

	it("is learned again if a success names its document in another way, once", async () => {
		const server = fakeServer(["one", "two"], { isRagflow: true, echo: "id_and_metadata" });
		const { service, write } = worldOf(server, { memory: memoryOf(REMEMBERED) });
		await write(row("one"));
		await write(row("two"));
		expect(server.calls).toEqual(["list", "PUT json one", "list", "probe PATCH", "probe PUT", "PUT json two"]);
		expect(service.recognition).toMatchObject({ flavour: ragflowPut, origin: "found", proven: "id_and_metadata" });
	});

	it("is learned again if an answer contradicts it, and the row arrives", async () => {
		const server = fakeServer(["one"], { isRagflow: true, verb: "PATCH" });
		const memory = memoryOf(REMEMBERED);
		await worldOf(server, { memory }).write(row("one"));
		expect(server.held.get("one")).toEqual(new Map([["a", "one"]]));
		expect(memory.entry).toMatchObject({ flavour: ragflowPatch, proven: "document_id" });
	});

	it("--flavour is neither doubted nor stored", async () => {
		const server = fakeServer(["one"], { isRagflow: true, verb: "PATCH" });
		const memory = memoryOf();
		const { write } = worldOf(server, { memory, flavour: { value: ragflowPut, origin: "--flavour" } });
		const error = { kind: "not_the_api", code: "OTHER_FLAVOUR", message: expect.stringContaining("--flavour") };
		await expect(write(row("one"))).rejects.toMatchObject(error);
		expect(server.calls).toEqual(["list", "PUT json one"]);
		expect(memory.entry).toBeUndefined();
	});
});

describe("a success counts only if what it rests on still holds when it comes", () => {
	it.each<[string, (service: Service) => void, string[]]>([
		["revokes the canary", (service) => service.canary.revoke(), ["list", "PUT multipart two", "list"]],
		[
			"finds another form",
			(service) => service.prefer(service.api.as({ flavour: documented, form: "json" })),
			["PUT json two"],
		],
	])("it is sent again where another row meanwhile %s", async (_, meanwhile, again) => {
		const server = fakeServer(["one", "two"], { takes: { multipart: "keeps", json: "keeps" } });
		const { service, write } = worldOf(server);
		await write(row("one"));
		let isFirst = true;
		const request: Request = async (call) => {
			const answer = await call();
			if (isFirst) meanwhile(service);
			isFirst = false;
			return answer;
		};
		const before = server.calls.length;
		await writeInDialect(service, request, row("two"), {});
		expect(server.calls.slice(before)).toEqual(["PUT multipart two", ...again]);
	});
});

it("a retry of the first row still proves its form: the values before its first attempt count", async () => {
	const server = fakeServer(["one"]);
	const { service, write } = worldOf(server);
	const memory: WriteMemory = {};
	const before: Metadata = new Map();
	memory.before = { document: { metadata: before } };
	server.held.set("one", new Map([["a", "one"]]));
	await write(row("one"), memory);
	expect(service.canary.echo).toBe("document_id");
});
