import { describe, expect, test } from "vitest";
import { flavours, isFlavour } from "../../../src/sandbox/flavours/index.ts";
import type { PlannedFault } from "../../../src/sandbox/faults/plan.ts";
import { expectFired } from "../../support/faults.ts";
import * as by from "../support.ts";
import { exchange, storedMetadata, requestText, updateBody } from "./wire.ts";
import { idOf } from "../../support/service.ts";

const id = idOf(1);

describe("data that differ from the answer", () => {
	test.each([
		["trim", '{"a":" x ","b":[" y ",1]}', '{"a":"x","b":["y",1]}'],
		["split", '{"a":"x, y","b":["p, q","p"]}', '{"a":"x, y","b":["p","q"]}'],
	])("normalise with how=%s stores %s as %s", async (how, sent, stored) => {
		const sandbox = await by.start({ documents: 2, faults: { faults: [{ fault: "normalise", how }] } });
		await by.put(sandbox, sandbox.datasetId ?? "", id, sent);
		expect(await storedMetadata(sandbox, id)).toBe(stored);
	});

	test.each([
		[0, ["{}", "{}"]],
		[1, ['{"a":1}', "{}"]],
		[2, ['{"a":1}', '{"a":1}', "{}"]],
	])("forget with shown=%i shows the metadata that many times, and then the previous metadata", async (shown, seen) => {
		const sandbox = await by.start({ documents: 2, faults: { faults: [{ fault: "forget", shown }] } });
		await by.put(sandbox, sandbox.datasetId ?? "", id, '{"a":1}');
		for (const each of seen) expect(await storedMetadata(sandbox, id)).toBe(each);
		expect(sandbox.control?.ledger().some((entry) => entry.type === "applied" && entry.action === "lose")).toBe(true);
	});

	test("a late upload is delayed once, although it writes its bytes and its document", async () => {
		const late = 2_500;
		const sandbox = await by.start({ documents: 1, control: true });
		const dataset = sandbox.datasetId ?? "";
		sandbox.control?.setPlan({ faults: [{ fault: "late", milliseconds: late }] });
		const sent = { headers: by.partsHeader, body: by.multipart(by.filePart("a.txt", "text")) };
		expect((await by.send(sandbox, "POST", by.documentsPath(dataset), sent)).code).toBe(0);
		await expect.poll(() => sandbox.control?.ledger()).toHaveLength(2);
		const entries = sandbox.control?.ledger() ?? [];
		const [arrived, applied] = ["request", "applied"].map((type) => {
			const entry = entries.find((each) => each.type === type);
			return entry !== undefined && "time" in entry ? Date.parse(entry.time) : Number.NaN;
		});
		expect((applied ?? 0) - (arrived ?? 0)).toBeGreaterThanOrEqual(late - 5);
		expect((applied ?? 0) - (arrived ?? 0)).toBeLessThan(2 * late);
	});

	test("a late update is applied even after its client has closed the connection", async () => {
		const sandbox = await by.start({ documents: 2, faults: { faults: [{ fault: "late", milliseconds: 200 }] } });
		const path = by.documentsPath(sandbox.datasetId ?? "", id);
		const gone = await exchange(sandbox.port, requestText(sandbox, "PUT", path, { body: updateBody }), { quiet: 30 });
		expect([gone.text, sandbox.control?.countOf(id).updates]).toEqual(["", 0]);
		await expect.poll(() => sandbox.control?.countOf(id).updates).toBe(1);
	});
});

describe("lists that differ from the documents", () => {
	const pages = async (fault: PlannedFault, count = 4): Promise<string[]> => {
		const sandbox = await by.start({ documents: 9, faults: { faults: [fault] } });
		const found: string[] = [];
		for (let page = 1; page <= count; page++) {
			const { data } = await by.list(sandbox, sandbox.datasetId ?? "", { page: String(page), page_size: "3" });
			const docs = by.at(data, "docs") as { id: string }[];
			found.push(docs.map((document) => Number.parseInt(document.id, 16)).join(""));
		}
		expectFired(sandbox);
		return found;
	};
	test.each<[PlannedFault, string[]]>([
		[{ fault: "list-repeat" }, ["123", "356", "689", ""]],
		[{ fault: "list-omit" }, ["23", "56", "89", ""]],
		[{ fault: "list-omit", item: -1, on: { nth: 2 } }, ["123", "45", "789", ""]],
		[{ fault: "list-same-page" }, ["123", "123", "123", "123"]],
		[{ fault: "list-cycle" }, ["123", "456", "123", "456"]],
		[{ fault: "list-empty-page", page: 2 }, ["123", "", "789", ""]],
		[{ fault: "list-huge-page", items: 7 }, ["1231231", "4564564", "7897897", ""]],
	])("the plan %j makes the list show %j", async (fault, expected) => {
		expect(await pages(fault)).toEqual(expected);
	});

	test("list-total never shows the true total", async () => {
		const sandbox = await by.start({ documents: 9, faults: { faults: [{ fault: "list-total" }] } });
		const totals = new Set<unknown>();
		for (let read = 0; read < 12; read++)
			totals.add(by.at((await by.list(sandbox, sandbox.datasetId ?? "")).data, "total"));
		expect([totals.has(9), totals.size > 2]).toEqual([false, true]);
	});

	test.each([
		["twice", ["a.txt", "a.txt", "b.txt", "b.txt"]],
		["none", []],
		["short", ["a.txt"]],
		["reversed", ["b.txt", "a.txt"]],
	])("upload-answer with how=%s names %j, and both files are stored", async (how, names) => {
		const sandbox = await by.start({ documents: 1, faults: { faults: [{ fault: "upload-answer", how }] } });
		const body = by.multipart(by.filePart("a.txt", ""), by.filePart("b.txt", ""));
		const path = by.documentsPath(sandbox.datasetId ?? "");
		const { data } = await by.send(sandbox, "POST", path, { headers: by.partsHeader, body });
		expect((data as { name: string }[]).map(({ name }) => name)).toEqual(names);
		expect(await by.names(sandbox, sandbox.datasetId ?? "")).toHaveLength(3);
	});
});

describe("a write whose fault fires before it", () => {
	test.each(flavours)("%s stores no update, upload, removal or new dataset", async (flavour) => {
		if (!isFlavour(flavour)) throw new Error(flavour);
		const faults = ["PUT", "PATCH", "POST", "DELETE"].map((method) => ({ fault: "lie", on: { method } }));
		const sandbox = await by.start({ documents: 3, flavour, faults: { faults } });
		const dataset = sandbox.datasetId ?? "";
		const verb = flavour >= "ragflow-0.25" ? "PATCH" : "PUT";
		const json = { headers: by.jsonHeader };
		const update = { ...json, body: updateBody };
		expect(await by.send(sandbox, verb, by.documentsPath(dataset, id), update)).toMatchObject({ code: 0 });
		expect(await by.upload(sandbox, dataset, "a.txt")).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
		const removal = flavour === "documented" ? by.documentsPath(dataset, id) : by.documentsPath(dataset);
		const named = { ...json, body: JSON.stringify({ ids: [id] }) };
		expect(await by.send(sandbox, "DELETE", removal, named)).toMatchObject({ code: 0 });
		const created = { ...json, body: '{"name":"new"}' };
		expect(await by.send(sandbox, "POST", "/api/v1/datasets", created)).toMatchObject({ code: 0 });
		expect(sandbox.control?.counts()).toMatchObject({ requests: 4, applied: 0 });
		sandbox.become("documented");
		expect((await by.list(sandbox, dataset)).data).toMatchObject({ total: 3 });
		expect(await storedMetadata(sandbox, id)).toBe("{}");
		expect((await by.send(sandbox, "GET", "/api/v1/datasets")).data).toHaveLength(1);
	});

	test.each(flavours)("%s: the ledger records what a status fault applied, before and after", async (flavour) => {
		if (!isFlavour(flavour)) throw new Error(flavour);
		const on = { method: flavour >= "ragflow-0.25" ? "PATCH" : "PUT" };
		const faults = [
			{ fault: "status", when: "before", on: { ...on, nth: 1 } },
			{ fault: "status", when: "after", on: { ...on, nth: 2 } },
		] as const;
		const sandbox = await by.start({ documents: 3, flavour, faults: { faults } });
		const path = by.documentsPath(sandbox.datasetId ?? "", id);
		for (const updates of [0, 1]) {
			const answer = await by.send(sandbox, on.method, path, { headers: by.jsonHeader, body: updateBody });
			expect([answer.status, sandbox.control?.countOf(id).updates]).toEqual([500, updates]);
		}
	});
});
