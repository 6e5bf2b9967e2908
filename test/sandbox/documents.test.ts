import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { join } from "node:path";
import Database from "libsql";
import { describe, expect, test } from "vitest";
import * as by from "./support.ts";

describe("uploads", () => {
	test("files are stored byte for byte under their names, and listed in the order of their parts", async () => {
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

	test("a second upload with the same name makes a second document with that name", async () => {
		const sandbox = await by.start();
		const dataset = await by.createDataset(sandbox);
		const [first] = await by.upload(sandbox, dataset, "a.txt");
		const [second] = await by.upload(sandbox, dataset, "a.txt");
		expect(second).not.toBe(first);
		expect(await by.names(sandbox, dataset, { name: "a.txt" })).toEqual(["a.txt", "a.txt"]);
	});

	const file = by.multipart(by.filePart("good.txt", "x".repeat(100_000)));
	const named = (...names: readonly string[]): Buffer => by.multipart(...names.map((name) => by.filePart(name, "x")));
	const partOf = (names: string): Buffer =>
		by.multipart({ head: [`Content-Disposition: form-data; ${names}`], body: "x" });
	const long = { ...by.partsHeader, "content-length": String(512 * 1024 * 1024 + 1) };

	test.each<[string, Record<string, string>, Buffer, number, string]>([
		["a file without a name", by.partsHeader, named("good.txt", "", "late.txt"), 400, "empty"],
		["a file called ..", by.partsHeader, named(".."), 400, "empty"],
		["a field instead of a file", by.partsHeader, partOf('name="file"'), 400, "no file name"],
		["a name over 255 bytes", by.partsHeader, named("é".repeat(128)), 400, "over 255 bytes"],
		["another part name", by.partsHeader, partOf('name="files"; filename="a"'), 400, "no part named file"],
		["a cut body", by.partsHeader, file.subarray(0, -10), 400, "cut short"],
		["no boundary", by.plainHeader, file, 415, "boundary"],
		["JSON", by.jsonHeader, Buffer.from("{}"), 415, "multipart/form-data"],
		["over 512 MiB", long, Buffer.alloc(0), 413, "over 536870912 bytes"],
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

	test("an upload whose connection breaks leaves no document and no bytes, and the sandbox keeps serving", async () => {
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

	test("a removal also removes the document's bytes, and a second removal is an error", async () => {
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
