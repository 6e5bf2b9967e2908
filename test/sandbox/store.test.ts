import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import Database from "libsql";
import { afterAll, describe, expect, test, vi } from "vitest";
import { startSandbox } from "../../src/sandbox/index.ts";
import * as by from "./support.ts";

describe("uploads", () => {
	test("files are stored byte for byte under their names, and answered in the order of their parts", async () => {
		const data = join(await by.folder(), "data.db");
		const sandbox = await by.start({ data });
		const dataset = await by.createDataset(sandbox);
		const bytes = Buffer.concat([randomBytes(700_000), Buffer.from("\r\n--frontier-between\r\n\0\xff", "latin1")]);
		const body = by.multipart(
			by.filePart("größe 日本.bin", bytes),
			{ head: ['Content-Disposition: form-data; name="run"'], body: "ignored" },
			by.filePart("../folder/a.txt", "text"),
			by.filePart("empty.txt", ""),
		);
		const answer = await by.send(sandbox, "POST", by.documentsPath(dataset), { headers: by.partsHeader, body });
		const stored = ["größe 日本.bin", "a.txt", "empty.txt"].map((name, index) => ({
			id: expect.stringMatching(/^[0-9a-f]{32}$/),
			name,
			size: [bytes.length, 4, 0][index],
		}));
		expect(answer.json).toEqual({ code: 0, message: "Success", data: stored });
		const listed = await by.list(sandbox, dataset);
		const rest = { dataset_id: dataset, create_time: expect.any(Number), meta_fields: {} };
		expect(listed.data).toEqual({ total: 3, docs: stored.map((document) => ({ ...document, ...rest })) });
		await sandbox.close();
		expect(storedBytes(data, String(by.at(answer.data, 0, "id"))).equals(bytes)).toBe(true);
	});

	test("the same name again is a document of its own under that name", async () => {
		const sandbox = await by.start();
		const dataset = await by.createDataset(sandbox);
		const [first] = await by.upload(sandbox, dataset, "a.txt");
		const [second] = await by.upload(sandbox, dataset, "a.txt");
		expect(second).not.toBe(first);
		expect(await by.names(sandbox, dataset, { name: "a.txt" })).toEqual(["a.txt", "a.txt"]);
	});

	test.each<[string, Record<string, string>, Buffer, number, string]>([
		[
			"a file without a name",
			by.partsHeader,
			by.multipart(by.filePart("good.txt", "x"), by.filePart("", "x")),
			400,
			"empty",
		],
		["a file called ..", by.partsHeader, by.multipart(by.filePart("..", "x")), 400, "empty"],
		[
			"a field instead of a file",
			by.partsHeader,
			by.multipart({ head: ['Content-Disposition: form-data; name="file"'], body: "x" }),
			400,
			"no file name",
		],
		["a name over 255 bytes", by.partsHeader, by.multipart(by.filePart("é".repeat(128), "x")), 400, "over 255 bytes"],
		[
			"another part name",
			by.partsHeader,
			by.multipart({ ...by.filePart("a", "x"), head: ['Content-Disposition: form-data; name="files"; filename="a"'] }),
			400,
			"no part named file",
		],
		[
			"a cut body",
			by.partsHeader,
			by.multipart(by.filePart("good.txt", "x".repeat(100_000))).subarray(0, -10),
			400,
			"cut short",
		],
		["no boundary", by.plainHeader, by.multipart(by.filePart("good.txt", "x")), 415, "boundary"],
		["JSON", by.jsonHeader, Buffer.from("{}"), 415, "multipart/form-data"],
		[
			"over 512 MiB",
			{ ...by.partsHeader, "content-length": String(512 * 1024 * 1024 + 1) },
			Buffer.alloc(0),
			413,
			"over 536870912 bytes",
		],
	])("%s is refused, and nothing of the request is stored", async (_, headers, body, status, message) => {
		const data = join(await by.folder(), "data.db");
		const sandbox = await by.start({ data });
		const dataset = await by.createDataset(sandbox);
		const answer = await by.send(sandbox, "POST", by.documentsPath(dataset), { headers, body });
		expect(answer).toMatchObject({ status, code: status });
		expect(answer.message).toContain(message);
		expect((await by.list(sandbox, dataset)).data).toEqual({ total: 0, docs: [] });
		await sandbox.close();
		expect(rows(data, "SELECT document FROM chunks")).toEqual([]);
	});

	test("an upload whose connection breaks leaves no document and no bytes, and the sandbox goes on", async () => {
		const data = join(await by.folder(), "data.db");
		const sandbox = await by.start({ data });
		const dataset = await by.createDataset(sandbox);
		const body = by.multipart(by.filePart("a.txt", "x".repeat(300_000)));
		const socket = connect(sandbox.port, "127.0.0.1");
		const head = [
			`POST ${by.documentsPath(dataset)} HTTP/1.1`,
			`Host: 127.0.0.1:${sandbox.port}`,
			`Authorization: Bearer ${sandbox.key}`,
			`Content-Type: ${by.partsHeader["content-type"]}`,
			`Content-Length: ${body.length}`,
		];
		await new Promise((resolve) => socket.write(`${head.join("\r\n")}\r\n\r\n`, resolve));
		await new Promise((resolve) => socket.write(body.subarray(0, 200_000), resolve));
		socket.destroy();
		await by.upload(sandbox, dataset, "b.txt");
		expect(await by.names(sandbox, dataset)).toEqual(["b.txt"]);
		await sandbox.close();
		expect(rows(data, "SELECT document FROM chunks")).toEqual([]);
	});

	test("a removed document is gone with its bytes, and removing it again is an error", async () => {
		const data = join(await by.folder(), "data.db");
		const sandbox = await by.start({ data });
		const dataset = await by.createDataset(sandbox);
		const body = by.multipart(by.filePart("a", "xyz"), by.filePart("b", "xyz"));
		const { data: stored } = await by.send(sandbox, "POST", by.documentsPath(dataset), {
			headers: by.partsHeader,
			body,
		});
		const [gone, kept] = [String(by.at(stored, 0, "id")), String(by.at(stored, 1, "id"))];
		const answer = await by.send(sandbox, "DELETE", by.documentsPath(dataset, gone));
		expect(answer.json).toEqual({ code: 0, message: "Success", data: { document_id: gone } });
		expect(await by.send(sandbox, "DELETE", by.documentsPath(dataset, gone))).toMatchObject({ status: 404, code: 404 });
		expect(by.at((await by.send(sandbox, "GET", "/api/v1/datasets")).data, 0, "document_count")).toBe(1);
		expect(await by.names(sandbox, dataset)).toEqual(["b"]);
		await sandbox.close();
		expect(rows(data, "SELECT DISTINCT document FROM chunks")).toMatchObject([{ document: kept }]);
	});
});

describe("documents made at the start", () => {
	test("have ids that a manifest can be written for beforehand, and are made once", async () => {
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

	test("never fill a store that someone else's datasets are in", async () => {
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

describe("what cannot be started is said in one sentence", () => {
	test("a data file of another kind is named and left alone", async () => {
		const path = join(await by.folder(), "notes.txt");
		const text = "not a database, and dear to someone".repeat(100);
		await writeFile(path, text);
		await expect(startSandbox({ port: 0, data: path })).rejects.toThrow(`${path} is not a SQLite file`);
		expect(await readFile(path, "utf8")).toBe(text);
	});

	test("the database of another program is left alone", async () => {
		const path = join(await by.folder(), "other.db");
		const other = new Database(path);
		other.exec("CREATE TABLE customers (name TEXT)");
		other.close();
		const before = await readFile(path);
		await expect(startSandbox({ port: 0, data: path })).rejects.toThrow("not of a sandbox");
		expect((await readFile(path)).equals(before)).toBe(true);
	});

	test("a missing folder, a folder, a file in use and a port in use are told apart", async () => {
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
	])("%j", async (options) => {
		await expect(startSandbox(options)).rejects.toThrow(/sandbox's/);
	});
});

describe("what was answered stays", () => {
	const bundles: string[] = [];
	const children: ChildProcess[] = [];
	afterAll(async () => {
		for (const child of children) child.kill("SIGKILL");
		for (const path of bundles) await rm(path, { recursive: true, force: true });
	});

	test("after the process was killed outright, every answered update is there", async () => {
		const data = join(await by.folder(), "data.db");
		const child = spawn(process.execPath, [await bundle(), data], { stdio: ["ignore", "pipe", "inherit"] });
		children.push(child);
		const [line]: unknown[] = await once(child.stdout, "data");
		const sandbox = { ...(await stub(String(line))), datasetId: "d0000000000000000000000000000001" };
		const answered: string[] = [];
		let stopped = false;
		const work = Array.from({ length: 8 }, async (_, worker) => {
			for (let number = worker + 1; !stopped; number += 8) {
				const id = number.toString(16).padStart(32, "0");
				const answer = await by.put(sandbox, sandbox.datasetId, id, `{"n":${number}}`).catch(() => undefined);
				if (answer?.code !== 0) return;
				answered.push(id);
				if (answered.length === 200) stopped = child.kill("SIGKILL");
			}
		});
		await Promise.all(work);
		if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
		const again = await by.start({ data });
		for (const id of answered) {
			const found = await by.list(again, sandbox.datasetId, { id });
			expect(by.at(found.data, "docs", 0, "meta_fields", "n")).toBe(Number.parseInt(id, 16));
		}
		expect(answered.length).toBeGreaterThanOrEqual(200);
	});

	test("a temporary store is readable by its owner alone, and leaves nothing behind", async () => {
		const folder = await by.folder();
		vi.stubEnv("TMPDIR", folder);
		const sandbox = await by.start().finally(() => vi.unstubAllEnvs());
		const [made = ""] = await readdir(folder);
		expect((await stat(join(folder, made))).mode & 0o077).toBe(0);
		await sandbox.close();
		expect(await readdir(folder)).toEqual([]);
	});

	/** The sandbox as a program of its own; beside the packages it loads, because that is where it looks for them. */
	async function bundle(): Promise<string> {
		const root = fileURLToPath(new URL("../../", import.meta.url));
		const path = await mkdtemp(join(root, "node_modules", ".sandbox-test-"));
		bundles.push(path);
		const contents =
			'import { startSandbox } from "./src/sandbox/index.ts";' +
			"const { port, key } = await startSandbox({ port: 0, data: process.argv[2], documents: 100_000 });" +
			"process.stdout.write(`${port} ${key}`);";
		const outfile = join(path, "child.mjs");
		await build({
			stdin: { contents, resolveDir: root, loader: "ts" },
			outfile,
			bundle: true,
			platform: "node",
			format: "esm",
			packages: "external",
		});
		return outfile;
	}

	async function stub(line: string): Promise<Awaited<ReturnType<typeof startSandbox>>> {
		const [port, key = ""] = line.split(" ");
		return { url: "", port: Number(port), key, datasetId: undefined, close: async () => {} };
	}
});

function rows(path: string, query: string): unknown[] {
	const database = new Database(path);
	const found = database.prepare(query).all();
	database.close();
	return found;
}

function storedBytes(path: string, id: string): Buffer {
	const found = rows(path, `SELECT bytes FROM chunks WHERE document = '${id}' ORDER BY position`);
	const chunks = found.map((row) => by.at(row, "bytes"));
	return Buffer.concat(
		chunks.map((chunk) => (chunk instanceof ArrayBuffer ? Buffer.from(chunk) : Buffer.from(String(chunk)))),
	);
}
