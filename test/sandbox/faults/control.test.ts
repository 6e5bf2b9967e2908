import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../../src/sandbox/index.ts";
import { parse, parseLines } from "../../support/values.ts";
import * as by from "../support.ts";
import { exchange, requestText, updateText } from "./wire.ts";
import { idOf } from "../../support/service.ts";

type Init = { readonly method?: string; readonly body?: string; readonly headers?: Readonly<Record<string, string>> };

function ask(sandbox: Sandbox, path: string, init: Init = {}): Promise<Response> {
	return fetch(`${sandbox.control?.url}${path}`, { ...init, headers: { connection: "close", ...init.headers } });
}

function post(
	sandbox: Sandbox,
	path: string,
	body = "",
	headers: Record<string, string> = by.jsonHeader,
): Promise<Response> {
	return ask(sandbox, path, { method: "POST", body, headers });
}

const reset = { fault: "reset", when: "after", on: { method: "PUT", nth: 1 } } as const;

describe("the control address", () => {
	test("is open only when an option asks for it, and differs from the API's address", async () => {
		expect((await by.start()).control).toBeUndefined();
		const sandbox = await by.start({ control: true });
		expect(sandbox.control?.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
		expect(sandbox.control?.url).not.toBe(sandbox.url);
		expect((await by.send(sandbox, "GET", "/ledger")).status).toBe(404);
	});

	test("reports requests and changes with the request's own id, whatever the client received", async () => {
		const sandbox = await by.start({ documents: 3, faults: { faults: [reset] } });
		const id = idOf(2);
		await exchange(sandbox.port, updateText(sandbox, id, ["X-Request-Id: run/row/1"]));
		await exchange(sandbox.port, updateText(sandbox, id, ["X-Request-Id: run/row/2"]));
		const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
		const path = by.documentsPath(sandbox.datasetId ?? "", id);
		const request = { type: "request", time, method: "PUT", path, document: id };
		const meta_sha256 = expect.stringMatching(/^[0-9a-f]{64}$/);
		const stored = { meta_sha256, meta_fields: { author: "Ana" } };
		const place = { method: "PUT", action: "update", dataset: sandbox.datasetId, document: id };
		const applied = { type: "applied", time, ...place, ...stored };
		const entries = [
			{ entry: 1, ...applied, request: 1, request_id: "run/row/1" },
			{
				entry: 2,
				...request,
				request: 1,
				request_id: "run/row/1",
				fault: { name: "reset", index: 0, when: "after" },
				status: null,
			},
			{ entry: 3, ...applied, request: 2, request_id: "run/row/2" },
			{ entry: 4, ...request, request: 2, request_id: "run/row/2", fault: null, status: 200 },
		];
		await expect.poll(() => sandbox.control?.ledger()).toEqual(entries);
		expect(parseLines(await (await ask(sandbox, "/ledger")).text())).toEqual(entries);
		expect(parseLines(await (await ask(sandbox, "/ledger?from=4")).text())).toEqual(entries.slice(3));
		expect(parseLines(await (await ask(sandbox, "/counts")).text())).toEqual([
			{ requests: 2, applied: 2 },
			{ document: id, updates: 2, requests: 2 },
		]);
		expect(sandbox.control?.countOf(id)).toEqual({ document: id, updates: 2, requests: 2 });
		const report = { ...reset, fitted: 2, fired: 1, planned: 1 };
		expect(parse(await (await ask(sandbox, "/faults")).text())).toEqual({ faults: [report] });
	});

	test.each([
		[0, null],
		[11, null],
		[12, 200],
	])("an answer that is cut at byte %i is recorded with status %s", async (at, status) => {
		const sandbox = await by.start({ documents: 1, faults: { faults: [{ fault: "cut", at }] } });
		await exchange(sandbox.port, updateText(sandbox, idOf(1)));
		const requests = (): unknown => sandbox.control?.ledger().filter(({ type }) => type === "request");
		await expect.poll(requests).toMatchObject([{ status }]);
	});

	test("distinguishes uploads, removals, new datasets and updates, and counts a refused request as not applied", async () => {
		const sandbox = await by.start({ control: true });
		const dataset = await by.createDataset(sandbox);
		const [one = "", two = ""] = await by.upload(sandbox, dataset, "a.txt", "b.txt");
		await by.send(sandbox, "DELETE", by.documentsPath(dataset, two));
		await by.put(sandbox, dataset, two, "{}");
		const applied = sandbox.control?.ledger().flatMap((entry) => (entry.type === "applied" ? [entry] : []));
		expect(applied?.map(({ action, document }) => [action, document])).toEqual([
			["create", null],
			["upload", one],
			["upload", two],
			["remove", two],
		]);
		expect(sandbox.control?.counts()).toEqual({
			requests: 4,
			applied: 4,
			documents: [{ document: two, updates: 0, requests: 2 }],
		});
	});

	test("takes another plan, refuses a plan that is not valid, and clears everything on reset", async () => {
		const sandbox = await by.start({ documents: 2, control: true });
		expect((await post(sandbox, "/faults", JSON.stringify({ faults: [reset] }))).status).toBe(200);
		const wrong = await post(sandbox, "/faults", '{"faults":[{"fault":"rest"}]}');
		expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining("unknown name rest")]);
		expect((await post(sandbox, "/faults", "{")).status).toBe(400);
		expect((await exchange(sandbox.port, updateText(sandbox, idOf(1)))).end).toBe("rst");
		expect((await post(sandbox, "/reset")).status).toBe(200);
		expect([sandbox.control?.plan(), sandbox.control?.ledger()]).toEqual([[], []]);
		expect(sandbox.control?.counts()).toEqual({ requests: 0, applied: 0, documents: [] });
	});

	test("refuses requests of web pages, and any host name other than this machine's", async () => {
		const sandbox = await by.start({ control: true });
		const plan = '{"faults":[]}';
		expect((await post(sandbox, "/reset", "", { origin: "http://evil.example" })).status).toBe(403);
		expect((await post(sandbox, "/faults", plan, { "content-type": "text/plain" })).status).toBe(415);
		const port = Number(new URL(sandbox.control?.url ?? "").port);
		const asked = requestText({ port: 1, key: "" }, "GET", "/ledger");
		expect((await exchange(port, asked)).text).toMatch(/^HTTP\/1\.1 403 /);
		expect((await ask(sandbox, "/nothing")).status).toBe(404);
		expect((await ask(sandbox, "/ledger?from=x")).status).toBe(400);
	});

	test("closes with the sandbox, even while a fault keeps connections open", async () => {
		const sandbox = await by.start({ documents: 2, faults: { faults: [{ fault: "silence" }] } });
		const waiting = exchange(sandbox.port, updateText(sandbox, idOf(1)), { quiet: 5000 });
		await expect.poll(() => sandbox.control?.counts().requests).toBe(1);
		await sandbox.close();
		expect((await waiting).end).not.toBe("open");
		await expect(ask(sandbox, "/faults")).rejects.toThrow();
	});
});
