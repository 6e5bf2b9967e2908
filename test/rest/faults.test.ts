import { afterEach, describe, expect, test } from "vitest";
import type { Exchange } from "../../src/rest/types.ts";
import {
	answer,
	apiFor,
	Cleanup,
	key,
	rawServer,
	rejection,
	type Script,
	success,
	listAnswer,
	listed,
} from "./raw-server.ts";
import { freePort } from "../support/redis.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const fields = new Map([["author", "x"]]);

async function update(script: Script, options: Parameters<typeof apiFor>[1] = {}): Promise<unknown> {
	const server = cleanup.add(await rawServer(script));
	return rejection(cleanup.add(apiFor(server.baseUrl, options)).updateMetadata("ds", "d1", fields));
}

describe("requests that certainly did not reach the service", () => {
	test("a refused connection: the row can be sent again safely", async () => {
		const api = cleanup.add(apiFor(`http://127.0.0.1:${await freePort()}/api/v1`));
		expect(await rejection(api.updateMetadata("ds", "d1", fields))).toMatchObject({
			kind: "not_sent",
			code: "CONNECTION_REFUSED",
		});
	});

	test("a request that waits for a connection until its time is up is never sent afterwards", async () => {
		const server = cleanup.add(await rawServer((socket, _, count) => void (count > 1 && socket.write(success("d1")))));
		const api = cleanup.add(apiFor(server.baseUrl, { connections: 1, timeout: 1_000 }));
		// The second's time is up a moment after the first's: nothing else may run in that moment, or it is sent in time.
		const overdue = (error: unknown): unknown => {
			const until = performance.now() + 20;
			while (performance.now() < until);
			return error;
		};
		const [first, second] = await Promise.all([
			rejection(api.updateMetadata("ds", "first", fields)).then(overdue),
			rejection(api.updateMetadata("ds", "second", fields)),
		]);
		expect(first).toMatchObject({ kind: "ambiguous", code: "TIMEOUT" });
		expect(second).toMatchObject({ kind: "not_sent", code: "TIMEOUT" });
		expect(server.requests).toHaveLength(1);
	});
});

describe("requests that may have been applied", () => {
	test("a 100 Continue that no request asked for ends the connection", async () => {
		const server = cleanup.add(
			await rawServer((socket, _, count) => {
				socket.write(count % 2 === 1 ? success("d1") : `HTTP/1.1 100 Continue\r\n\r\n${success("d1")}`);
			}),
		);
		let surplus = 0;
		const api = cleanup.add(apiFor(server.baseUrl, { onSurplusAnswer: () => (surplus += 1) }));
		await api.updateMetadata("ds", "d1", fields);
		const error = await rejection(api.updateMetadata("ds", "d1", fields));
		expect(error).toMatchObject({ kind: "ambiguous", code: "CONNECTION_CLOSED" });
		// It belongs to this request: no other row is in doubt.
		expect(surplus).toBe(0);
		// The connection is given up: what comes behind it must not become the next answer.
		await api.updateMetadata("ds", "d1", fields);
		expect(server.connections()).toBe(2);
	});

	test("an answer that drips for ever ends at its timeout", async () => {
		const error = await update(
			(socket) => {
				socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
				const drip = setInterval(() => socket.write(" "), 10);
				socket.on("close", () => clearInterval(drip));
			},
			{ timeout: 1_000 },
		);
		expect(error).toMatchObject({ kind: "ambiguous", code: "TIMEOUT" });
	});

	test.each([
		["with a length", (whole: string) => whole],
		[
			"to the end of the connection",
			(whole: string) => whole.replace(/content-length: \d+\r\n/, "connection: close\r\n"),
		],
		[
			"in chunks",
			(whole: string) => {
				const body = whole.slice(whole.indexOf("\r\n\r\n") + 4);
				return `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
			},
		],
	])("an answer %s that is cut at any byte is never taken for a success", async (_, shape) => {
		const whole = shape(success("d1"));
		const bodyEnd = whole.lastIndexOf("}") + 1;
		const server = cleanup.add(await rawServer((socket, __, count) => socket.end(whole.slice(0, count - 1))));
		const api = cleanup.add(apiFor(server.baseUrl));
		for (let cut = 0; cut < bodyEnd; cut++) {
			expect(await rejection(api.updateMetadata("ds", "d1", fields))).toMatchObject({ kind: "ambiguous" });
		}
		expect(server.requests).toHaveLength(bodyEnd);
	});

	test("an answer without end does not fill the memory: its connection is dropped", async () => {
		let closed = false;
		const error = await update((socket) => {
			socket.write("HTTP/1.1 200 OK\r\n\r\n");
			const more = (): void => void (socket.writable && socket.write("x".repeat(65_536), more));
			more();
			socket.on("close", () => (closed = true));
		});
		expect(error).toMatchObject({ kind: "ambiguous", code: "ANSWER_TOO_LARGE" });
		await expect.poll(() => closed).toBe(true);
	});
});

describe("lists", () => {
	test.each([
		"null",
		"[]",
		"{}",
		'{"docs":{}}',
		'{"docs":[7]}',
		'{"docs":[{"id":"d"}]}',
		'{"docs":[{"id":"","name":"n"}]}',
		'{"docs":[{"id":1,"name":"n"}]}',
		'{"docs":[],"total":"1"}',
		'{"docs":[],"total":-1}',
		'{"docs":[{"id":"d","name":"n","size":"big"}]}',
		'{"docs":[{"id":"d","name":"n","meta_fields":7}]}',
		`{"docs":[{"id":"d","name":"n","meta_fields":{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}}]}`,
	])("%.60s is an error, not an empty dataset", async (data) => {
		const server = cleanup.add(await rawServer((socket) => socket.write(answer(`{"code":0,"data":${data}}`))));
		const error = await rejection(cleanup.add(apiFor(server.baseUrl)).listDocuments("ds", { page: 1, pageSize: 9 }));
		expect(error).toMatchObject({ kind: "ambiguous", code: "BAD_DATA" });
	});

	test("the documents of another dataset are not taken for this one's", async () => {
		const data = '{"docs":[{"id":"d","name":"n","dataset_id":"other"}]}';
		const server = cleanup.add(await rawServer((socket) => socket.write(answer(`{"code":0,"data":${data}}`))));
		const error = await rejection(cleanup.add(apiFor(server.baseUrl)).listDocuments("ds", { page: 1, pageSize: 9 }));
		expect(error).toMatchObject({ code: "ECHO_MISMATCH" });
	});

	test("a list of several megabytes arrives, and metadata keys are data", async () => {
		const document = `{"id":"d","name":"${"n".repeat(3_000_000)}","meta_fields":{"__proto__":"x","constructor":1}}`;
		const server = cleanup.add(
			await rawServer((socket) => socket.write(answer(`{"code":0,"data":{"docs":[${document}]}}`))),
		);
		const page = await cleanup.add(apiFor(server.baseUrl)).listDocuments("ds", { page: 1, pageSize: 9 });
		expect([...(page.items[0]?.metadata ?? [])]).toEqual([
			["__proto__", "x"],
			["constructor", 1],
		]);
	});
});

describe("connections", () => {
	test("a server that closes after each answer still gets every row once", async () => {
		const server = cleanup.add(
			await rawServer((socket) => socket.end(success("d1").replace("\r\n", "\r\nconnection: close\r\n"))),
		);
		const api = cleanup.add(apiFor(server.baseUrl));
		await Promise.all(Array.from({ length: 50 }, () => api.updateMetadata("ds", "d1", fields)));
		expect(server.requests).toHaveLength(50);
	});

	test.each([102, 103])("a %i before the answer does no harm", async (status) => {
		const server = cleanup.add(
			await rawServer((socket) => socket.write(`HTTP/1.1 ${status} Wait\r\n\r\n${success("d1")}`)),
		);
		const updated = cleanup.add(apiFor(server.baseUrl)).updateMetadata("ds", "d1", fields);
		await expect(updated).resolves.toBe("document_id");
	});
});

describe("a redirect", () => {
	test.each([301, 302, 303, 307, 308])("%i: the key and the metadata never reach its target", async (status) => {
		const target = cleanup.add(await rawServer((socket) => socket.write(success("d1")), "127.0.0.2"));
		for (const location of [`http://127.0.0.2:${target.port}/x`, `//127.0.0.2:${target.port}/x`, "/login", undefined]) {
			const head = `HTTP/1.1 ${status} Moved\r\n${location === undefined ? "" : `location: ${location}\r\n`}`;
			const error = await update((socket) => socket.write(answer('{"code":0}', head)));
			expect(error).toMatchObject({ kind: "untrusted", code: "REDIRECT", status });
		}
		expect(target.connections()).toBe(0);
	});
});

describe("a proxy", () => {
	test("plain http goes to the proxy whole, with its own credentials", async () => {
		const proxy = cleanup.add(await rawServer((socket) => socket.write(success("d1"))));
		const uri = `http://us%40er:pass@127.0.0.1:${proxy.port}`;
		await cleanup.add(apiFor("http://service.invalid/api/v1", { proxy: uri })).updateMetadata("ds", "d1", fields);
		expect(proxy.requests[0]).toMatch(
			/^PUT http:\/\/service\.invalid\/api\/v1\/datasets\/ds\/documents\/d1 HTTP\/1\.1\r\nhost: service\.invalid\r\n/,
		);
		expect(proxy.requests[0]).toContain(
			`proxy-authorization: Basic ${Buffer.from("us@er:pass").toString("base64")}\r\n`,
		);
	});

	test.each(["http", "https"])(
		"one that wants credentials stops a run over %s, without its password",
		async (scheme) => {
			const proxy = cleanup.add(
				await rawServer((socket) => socket.end("HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n")),
			);
			const uri = `http://user:SECRET@127.0.0.1:${proxy.port}`;
			const api = cleanup.add(apiFor(`${scheme}://service.invalid/api/v1`, { proxy: uri }));
			const error = await rejection(api.updateMetadata("ds", "d1", fields));
			expect(error).toMatchObject({ kind: "untrusted", code: "PROXY" });
			expect(String(error)).not.toContain("SECRET");
		},
	);

	test("https goes through a tunnel: the proxy sees neither key nor metadata", async () => {
		const proxy = cleanup.add(await rawServer((socket) => socket.end("HTTP/1.1 502 Bad\r\ncontent-length: 0\r\n\r\n")));
		const api = cleanup.add(apiFor("https://service.invalid/api/v1", { proxy: `http://127.0.0.1:${proxy.port}` }));
		expect(await rejection(api.updateMetadata("ds", "d1", fields))).toMatchObject({ kind: "not_sent", code: "PROXY" });
		expect(proxy.requests).toHaveLength(1);
		expect(proxy.requests[0]).toMatch(/^CONNECT service\.invalid:443 /);
		expect(proxy.requests[0]).not.toContain(key);
	});
});

test("the debug record has each request and its result, and nothing of its key or body", async () => {
	const exchanges: Exchange[] = [];
	const server = cleanup.add(
		await rawServer((socket, request, count) =>
			socket.write(listAnswer(request) ?? (count === 2 ? success("d1") : answer('{"code":102}'))),
		),
	);
	const api = cleanup.add(apiFor(server.baseUrl, { onExchange: (exchange) => exchanges.push(exchange) }));
	const document = await listed(api, "ds", "d1");
	exchanges.length = 0;
	await api.updateMetadata("ds", "d1", fields);
	await rejection(api.removeDocument(document));
	await server.close();
	await rejection(api.removeDocument(document));
	const path = "/api/v1/datasets/ds/documents/d1";
	expect(exchanges).toMatchObject([
		{ method: "PUT", path, status: 200, result: "ok" },
		{ method: "DELETE", path, status: 200, result: "CODE_102" },
		{ method: "DELETE", path, status: undefined },
	]);
	expect(JSON.stringify(exchanges)).not.toMatch(/SECRET|author/);
});
