import { utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { documented } from "../../src/rest/flavours.ts";
import { openUpload } from "../../src/rest/bodies.ts";
import {
	answer,
	apiFor,
	Cleanup,
	key,
	listAnswer,
	listed,
	rawServer,
	type RawServer,
	rejection,
	success,
} from "./raw-server.ts";
import { file as written } from "../support/service.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const serve = async (body: string): Promise<RawServer> => cleanup.add(await rawServer((socket) => socket.write(body)));
const metadata = new Map([
	["author", "Ägir"],
	["10", "ten"],
	["__proto__", "data"],
]);

const payload = '{"meta_fields":{"author":"Ägir","10":"ten","__proto__":"data"}}';

function head(server: RawServer, line: string, more: string): string {
	return (
		`${line} HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nconnection: keep-alive\r\nauthorization: Bearer ${key}\r\n` +
		`accept-encoding: identity\r\nuser-agent: ragtag\r\naccept: application/json\r\n${more}\r\n`
	);
}

/** In place of each boundary, which is random and as long. */
const BOUNDARY = `ragtag-${"0".repeat(32)}`;

const sentTo = (server: RawServer): string[] =>
	server.requests.map((request) => request.replaceAll(/ragtag-[0-9a-f]{32}/g, BOUNDARY));

function latin1(text: string): string {
	return Buffer.from(text).toString("latin1");
}

describe("the bytes of an update", () => {
	test("the documented part form goes out exactly, or a strict service changes nothing", async () => {
		const server = await serve(success("d1"));
		await cleanup.add(apiFor(server.baseUrl)).updateMetadata("ds", "d1", metadata);
		const body = latin1(
			`--${BOUNDARY}\r\nContent-Disposition: form-data; name=""; filename=""\r\nContent-Type: application/json\r\n\r\n${payload}\r\n--${BOUNDARY}--\r\n`,
		);
		const more = `content-type: multipart/form-data; boundary=${BOUNDARY}\r\ncontent-length: ${body.length}\r\n`;
		expect(sentTo(server)).toEqual([head(server, "PUT /api/v1/datasets/ds/documents/d1", more) + body]);
	});

	test.each([
		["plain", "multipart/form-data"],
		["json", "application/json"],
	] as const)("the %s form carries the JSON alone under %s", async (form, type) => {
		const server = await serve(success("d1"));
		await cleanup
			.add(apiFor(server.baseUrl, { dialect: { flavour: documented, form } }))
			.updateMetadata("ds", "d1", metadata);
		const body = latin1(payload);
		const more = `content-type: ${type}\r\ncontent-length: ${body.length}\r\n`;
		expect(sentTo(server)).toEqual([head(server, "PUT /api/v1/datasets/ds/documents/d1", more) + body]);
	});

	test("a random boundary has 128 bits and is another one in each body: no value can end its part early", async () => {
		const server = await serve(success("d1"));
		const api = cleanup.add(apiFor(server.baseUrl));
		for (let turn = 0; turn < 2; turn++) await api.updateMetadata("ds", "d1", metadata);
		const [one, two] = server.requests.map((request) => /boundary=ragtag-([0-9a-f]{32})\r/.exec(request)?.[1]);
		expect(one).toBeDefined();
		expect(one).not.toBe(two);
	});
});

describe("the bytes of the other requests", () => {
	test("a removal uses the path and has no body that could name more documents", async () => {
		const server = cleanup.add(
			await rawServer((socket, request) => socket.write(listAnswer(request) ?? success("d1"))),
		);
		const api = cleanup.add(apiFor(server.baseUrl));
		await api.removeDocument(await listed(api, "ds", "d1"));
		expect(server.requests.slice(1)).toEqual([head(server, "DELETE /api/v1/datasets/ds/documents/d1", "")]);
	});

	test("a list asks for its page and filters", async () => {
		const list = {
			total: 1,
			docs: [{ id: "d", dataset_id: "ds", name: "n", size: 3, create_time: 7, meta_fields: { a: [1] } }],
		};
		const server = await serve(answer(JSON.stringify({ code: 0, data: list })));
		const api = cleanup.add(apiFor(server.baseUrl));
		const query = { page: 2, pageSize: 50, id: "a&b", name: "é +" };
		const page = await api.listDocuments("ds", query);
		const line = "GET /api/v1/datasets/ds/documents?page=2&page_size=50&id=a%26b&name=%C3%A9%20%2B";
		expect(server.requests).toEqual([head(server, line, "")]);
		const document = { id: "d", datasetId: "ds", name: "n", size: 3, createTime: 7, metadata: new Map([["a", [1]]]) };
		expect(page).toMatchObject({ items: [document], total: 1 });
	});

	test("datasets are listed and created", async () => {
		const bodies = [
			{ code: 0, data: [{ id: "i", name: "n", document_count: 4 }] },
			{ code: 0, data: { id: "j", name: "ü" } },
		];
		const server = cleanup.add(await rawServer((socket) => socket.write(answer(JSON.stringify(bodies.shift())))));
		const api = cleanup.add(apiFor(server.baseUrl));
		expect(await api.listDatasets({ page: 1, pageSize: 100 })).toEqual({
			items: [{ id: "i", name: "n", documentCount: 4 }],
			total: undefined,
		});
		expect(await api.createDataset("ü")).toEqual({ id: "j", name: "ü" });
		expect(server.requests).toEqual([
			head(server, "GET /api/v1/datasets?page=1&page_size=100", ""),
			head(server, "POST /api/v1/datasets", "content-type: application/json\r\ncontent-length: 13\r\n") +
				latin1('{"name":"ü"}'),
		]);
	});
});

describe("an upload", () => {
	const file = (content: string): Promise<string> => written("file", content);
	const stored = (size: number): string =>
		answer(JSON.stringify({ code: 0, data: [{ id: "new", name: "a.txt", size }] }));

	test("the file arrives byte for byte, and a name with quotes and line breaks can't forge a header", async () => {
		const path = await file("hello");
		const server = await serve(stored(5));
		const api = cleanup.add(apiFor(server.baseUrl));
		const name = 'a"\r\nx: y.txt';
		expect(await api.uploadDocument("ds", { path, name, size: 5 })).toEqual({ id: "new", name: "a.txt", size: 5 });
		const body =
			`--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a\\"%0D%0Ax: y.txt"\r\n` +
			`Content-Type: application/octet-stream\r\n\r\nhello\r\n--${BOUNDARY}--\r\n`;
		const more = `content-type: multipart/form-data; boundary=${BOUNDARY}\r\ncontent-length: ${body.length}\r\n`;
		expect(sentTo(server)).toEqual([head(server, "POST /api/v1/datasets/ds/documents", more) + body]);
	});

	test("a large file is streamed whole", async () => {
		const content = "0123456789abcdef".repeat(40_000);
		const path = await file(content);
		const server = await serve(stored(content.length));
		await cleanup.add(apiFor(server.baseUrl)).uploadDocument("ds", { path, name: "a", size: content.length });
		expect(server.requests[0]?.includes(content)).toBe(true);
	});

	test("a copy of another size is not taken for the file", async () => {
		const path = await file("hello");
		const server = await serve(stored(4));
		const promise = cleanup.add(apiFor(server.baseUrl)).uploadDocument("ds", { path, name: "a", size: 5 });
		expect(await rejection(promise)).toMatchObject({ kind: "rejected", code: "SIZE_MISMATCH" });
	});

	test.each([
		["FILE_CHANGED", 4],
		["FILE_CHANGED", 6],
	])("a file that is no longer the one planned is %s and is not sent", async (code, size) => {
		const path = await file("hello");
		const server = await serve(stored(5));
		const promise = cleanup.add(apiFor(server.baseUrl)).uploadDocument("ds", { path, name: "a", size });
		expect(await rejection(promise)).toMatchObject({ kind: "rejected", code });
		expect(server.requests).toEqual([]);
	});

	test("a file that is missing or not regular fails its own row", async () => {
		const server = await serve(stored(5));
		const api = cleanup.add(apiFor(server.baseUrl));
		for (const path of [join(tmpdir(), "ragtag-no-such-file"), tmpdir()]) {
			const error = await rejection(api.uploadDocument("ds", { path, name: "a", size: 5 }));
			expect(error).toMatchObject({ kind: "rejected", code: "FILE_UNREADABLE" });
		}
	});

	test.skipIf(process.platform !== "linux")(
		"a file of /proc, which has more bytes than it says, is not stored empty",
		async () => {
			const server = await serve(stored(0));
			const upload = cleanup
				.add(apiFor(server.baseUrl))
				.uploadDocument("ds", { path: "/proc/self/status", name: "a", size: 0 });
			expect(await rejection(upload)).toMatchObject({ kind: "rejected", code: "FILE_UNREADABLE" });
			expect(server.requests).toEqual([]);
		},
	);

	test("the bytes of a file are counted as they go out, and those around it are not", async () => {
		const path = await file("x".repeat(200_000));
		const moved: number[] = [];
		const opened = await openUpload({ path, name: "a", size: 200_000 }, (bytes) => moved.push(bytes));
		cleanup.add(opened);
		let taken = 0;
		for await (const chunk of opened.body) taken += Buffer.from(chunk).length;
		expect(taken).toBe(opened.length);
		expect(moved.length).toBeGreaterThan(1);
		expect(moved.reduce((sum, bytes) => sum + bytes, 0)).toBe(200_000);
	});

	test.each(["short", "same size 2"])(
		"a file that changes during its upload aborts the request before the body is complete: %s",
		async (after) => {
			const before = "same size 1";
			const path = await file(before);
			const opened = await openUpload({ path, name: "a", size: before.length });
			cleanup.add(opened);
			// Changed contents of the same size show in the time of change alone.
			await writeFile(path, after);
			await utimes(path, 1, 1);
			let taken = "";
			const error = await rejection(
				(async () => {
					for await (const chunk of opened.body) taken += String(chunk);
				})(),
			);
			expect(error).toMatchObject({ kind: "rejected", code: "FILE_CHANGED" });
			expect(taken).not.toContain("--BOUNDARY--");
		},
	);
});
