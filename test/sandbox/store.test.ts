import { once } from "node:events";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import Database from "libsql";
import { describe, expect, test, vi } from "vitest";
import { startSandbox } from "../../src/sandbox/index.ts";
import { startBuiltSandbox } from "../support/built-sandbox.ts";
import * as by from "./support.ts";
import { idOf } from "../support/service.ts";

describe("documents that are created at the start", () => {
	test("have known ids, for which a manifest can be written before, and are created once", async () => {
		const data = join(await by.folder(), "data.db");
		const sandbox = await by.start({ data, documents: 300 });
		const dataset = "d0000000000000000000000000000001";
		expect(sandbox.datasetId).toBe(dataset);
		expect((await by.send(sandbox, "GET", "/api/v1/datasets")).data).toEqual([
			{ id: dataset, name: "sandbox", document_count: 300 },
		]);
		const last = await by.list(sandbox, dataset, { page: "300", page_size: "1" });
		expect(last.data).toMatchObject({
			total: 300,
			docs: [{ id: "0000000000000000000000000000012c", name: "document-0000300.txt", meta_fields: {} }],
		});
		await by.put(sandbox, dataset, "0000000000000000000000000000012c", '{"a":1}');
		await sandbox.close();
		const again = await by.start({ data, documents: 5 });
		expect(again.datasetId).toBe(dataset);
		expect((await by.list(again, dataset, { page: "300", page_size: "1" })).data).toMatchObject({
			total: 300,
			docs: [{ meta_fields: { a: 1 } }],
		});
	});

	test("are not created in a store that has datasets already", async () => {
		const data = join(await by.folder(), "data.db");
		const sandbox = await by.start({ data });
		expect(sandbox.datasetId).toBeUndefined();
		await by.createDataset(sandbox, "mine");
		await sandbox.close();
		const again = await by.start({ data, documents: 5 });
		expect(again.datasetId).toBeUndefined();
		expect((await by.send(again, "GET", "/api/v1/datasets")).data).toMatchObject([{ name: "mine" }]);
	});
});

describe("a sandbox that can't start reports the reason in one sentence", () => {
	test("the database of another program is left unchanged", async () => {
		const path = join(await by.folder(), "other.db");
		const other = new Database(path);
		other.exec("CREATE TABLE customers (name TEXT)");
		other.close();
		const before = await readFile(path);
		await expect(startSandbox({ port: 0, data: path })).rejects.toThrow("not of a sandbox");
		expect((await readFile(path)).equals(before)).toBe(true);
	});

	test("a missing folder, a folder, a file in use and a port in use have different messages", async () => {
		const folder = await by.folder();
		await expect(startSandbox({ port: 0, data: join(folder, "no", "data.db") })).rejects.toThrow(
			/^Cannot open .*folder/,
		);
		await expect(startSandbox({ port: 0, data: folder })).rejects.toThrow(/^Cannot open .*folder/);
		const data = join(folder, "data.db");
		const sandbox = await by.start({ data });
		await expect(startSandbox({ port: 0, data })).rejects.toThrow("in use by another process");
		await expect(startSandbox({ port: sandbox.port })).rejects.toThrow(`Port ${sandbox.port} is in use`);
	});

	test.each([
		{ port: -1 },
		{ port: 65_536 },
		{ port: 0, latency: -1 },
		{ port: 0, documents: 1.5 },
		{ port: 0, pageSizeLimit: 0 },
		{ port: 0, key: "" },
		{ port: 0, key: "two words" },
		{ port: 0, data: "" },
	])("%j is refused", async (options) => {
		await expect(startSandbox(options)).rejects.toThrow(/sandbox's/);
	});
});

describe("stored data", () => {
	test("after SIGKILL, every answered update is stored", async () => {
		const data = join(await by.folder(), "data.db");
		const { child, ...sandbox } = await startBuiltSandbox(["--data", data, "--documents", "100000"]);
		const answered: string[] = [];
		let stopped = false;
		const work = Array.from({ length: 8 }, async (_, worker) => {
			for (let number = worker + 1; !stopped; number += 8) {
				const id = idOf(number);
				const answer = await by.put(sandbox, sandbox.dataset, id, `{"n":${number}}`).catch(() => undefined);
				if (answer?.code !== 0) return;
				answered.push(id);
				if (answered.length === 200) stopped = child.kill("SIGKILL");
			}
		});
		await Promise.all(work);
		if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
		const again = await by.start({ data });
		for (const id of answered) {
			const found = await by.list(again, sandbox.dataset, { id });
			expect(by.at(found.data, "docs", 0, "meta_fields", "n")).toBe(Number.parseInt(id, 16));
		}
		expect(answered.length).toBeGreaterThanOrEqual(200);
	});

	test("a data file is readable by its owner alone, because it contains uploads", async () => {
		const data = join(await by.folder(), "data.db");
		await by.start({ data, documents: 3 });
		expect(((await stat(data)).mode & 0o777).toString(8)).toBe("600");
	});

	test("a temporary store is readable by its owner alone, and is removed at the end", async () => {
		const folder = await by.folder();
		vi.stubEnv("TMPDIR", folder);
		const sandbox = await by.start().finally(() => vi.unstubAllEnvs());
		const [made = ""] = await readdir(folder);
		expect((await stat(join(folder, made))).mode & 0o077).toBe(0);
		await sandbox.close();
		expect(await readdir(folder)).toEqual([]);
	});
});
