import { afterEach, describe, expect, test } from "vitest";
import { answer, apiFor, Cleanup, key, rawServer, rejection, type Script, success } from "./raw-server.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const fields = new Map([["author", "x"]]);
const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

describe("the connections of a run", () => {
	test("are at most twice its requests in flight, however many are allowed", async () => {
		const server = cleanup.add(await rawServer((socket) => socket.write(success("d1"))));
		const api = cleanup.add(apiFor(server.baseUrl, { connections: 64 }));
		const worker = async (): Promise<void> => {
			for (let row = 0; row < 30; row++) await api.updateMetadata("ds", "d1", fields);
		};
		await Promise.all(range(3).map(worker));
		expect(server.requests).toHaveLength(90);
		// undici opens another one for a request that comes in the same turn as an answer.
		expect(server.connections()).toBeLessThanOrEqual(6);
	});

	test("carry each of a thousand waiting rows once, and no two of them at once", async () => {
		const busy = new Set<unknown>();
		let doubled = false;
		const idOf = (request: string): string => /documents\/(\w+)/.exec(request)?.[1] ?? "";
		const server = cleanup.add(
			await rawServer((socket, request) => {
				doubled ||= busy.has(socket);
				busy.add(socket);
				setImmediate(() => (busy.delete(socket), socket.write(success(idOf(request)))));
			}),
		);
		// Its last row waits for all others, which took more than two seconds on a loaded machine.
		const api = cleanup.add(apiFor(server.baseUrl, { connections: 3, timeout: 60_000 }));
		const ids = range(1_000).map((row) => `d${row}`);
		await Promise.all(ids.map((id) => api.updateMetadata("ds", id, fields)));
		expect(server.requests).toHaveLength(ids.length);
		expect(new Set(server.requests.map(idOf))).toEqual(new Set(ids));
		expect([server.connections(), doubled]).toEqual([3, false]);
	});

	test.each<[string, string, Script]>([
		["a reset", "CONNECTION_RESET", (socket) => socket.resetAndDestroy()],
		["an end", "CONNECTION_CLOSED", (socket) => socket.end()],
		["an end in the answer", "CONNECTION_CLOSED", (socket) => socket.end(success("d1").slice(0, -5))],
		["another protocol", "BAD_HTTP", (socket) => socket.write("SSH-2.0-OpenSSH_9.2\r\n")],
		[
			"two lengths",
			"BAD_HTTP",
			(socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\ncontent-length: 11\r\n\r\n{"code":0} '),
		],
		["a header without end", "BAD_HTTP", (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}`)],
		[
			"an upgrade",
			"CONNECTION_CLOSED",
			(socket) => socket.write("HTTP/1.1 101 No\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
		],
		["too much", "ANSWER_TOO_LARGE", (socket) => socket.write(answer("x".repeat(1024 * 1024 + 1)))],
		["another document", "ECHO_MISMATCH", (socket) => socket.write(success("d0"))],
		["a 100 unasked", "CONNECTION_CLOSED", (socket) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${success("d1")}`)],
		["silence", "TIMEOUT", () => undefined],
		["only headers", "TIMEOUT", (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n")],
	])("are free again after %s, which may have been applied and is no success", async (_, code, script) => {
		const server = cleanup.add(
			await rawServer((socket, bytes, count) => {
				if (count === 1) script(socket, bytes, count);
				else socket.write(success("d1"));
			}),
		);
		const api = cleanup.add(apiFor(server.baseUrl, { connections: 1, timeout: 1_500 }));
		expect(await rejection(api.updateMetadata("ds", "d1", fields))).toMatchObject({ kind: "ambiguous", code });
		await expect(api.updateMetadata("ds", "d1", fields)).resolves.toBe("document_id");
		expect(server.requests).toHaveLength(2);
	});

	test("are free again after a request that undici refuses to write", async () => {
		const api = cleanup.add(apiFor("http://127.0.0.1:9/api/v1", { connections: 1, key: `${key}\n` }));
		for (let row = 0; row < 3; row++) {
			expect(await rejection(api.updateMetadata("ds", "d1", fields))).toMatchObject({ kind: "not_sent" });
		}
	});

	test("end with the client: a row that waits for one was certainly not sent", async () => {
		const server = cleanup.add(await rawServer(() => undefined));
		const api = apiFor(server.baseUrl, { connections: 1 });
		const [sent, waiting] = [1, 2].map(() => rejection(api.updateMetadata("ds", "d1", fields)));
		await expect.poll(() => server.requests.length).toBe(1);
		await api.close();
		expect(await sent).toMatchObject({ kind: "ambiguous", code: "CLOSED" });
		expect(await waiting).toMatchObject({ kind: "not_sent", code: "CLOSED" });
		expect(await rejection(api.updateMetadata("ds", "d1", fields))).toMatchObject({ kind: "not_sent", code: "CLOSED" });
		expect(server.requests).toHaveLength(1);
	});

	test("are not opened after the end of the client", async () => {
		const server = cleanup.add(await rawServer((socket) => socket.write(success("d1"))));
		const api = apiFor(server.baseUrl);
		await api.close();
		expect(await rejection(api.updateMetadata("ds", "d1", fields))).toMatchObject({ kind: "not_sent", code: "CLOSED" });
		expect(server.connections()).toBe(0);
	});

	test("are given up after an answer of another row, and rows that waited for them are still sent once", async () => {
		const server = cleanup.add(
			await rawServer((socket, request, count) => {
				const id = /documents\/(\w+)/.exec(request)?.[1] ?? "";
				socket.write(success(count === 1 ? "another" : id));
			}),
		);
		const api = cleanup.add(apiFor(server.baseUrl, { connections: 1 }));
		const rows = ["d1", "d2", "d3"].map((id) => api.updateMetadata("ds", id, fields).catch((error: unknown) => error));
		const [first, ...others] = await Promise.all(rows);
		expect(first).toMatchObject({ code: "ECHO_MISMATCH" });
		expect(others).toEqual(["document_id", "document_id"]);
		await api.updateMetadata("ds", "d4", fields);
		expect(server.requests).toHaveLength(4);
		expect(server.connections()).toBe(2);
	});

	test("carry no answer without a request over to the next row", async () => {
		const surplus = answer('{"code":0}');
		const refused = answer('{"code":102,"message":"no"}');
		const server = cleanup.add(
			await rawServer((socket, _, count) => socket.write(count === 1 ? surplus + surplus : refused)),
		);
		const api = cleanup.add(apiFor(server.baseUrl, { connections: 1 }));
		const rows = [1, 2].map(() => api.updateMetadata("ds", "d1", fields).catch((error: unknown) => error));
		expect(await Promise.all(rows)).toEqual(["nothing", expect.objectContaining({ code: "CODE_102" })]);
		expect(server.connections()).toBe(2);
	});
});
