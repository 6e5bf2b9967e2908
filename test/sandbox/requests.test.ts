import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../src/sandbox/index.ts";
import * as by from "./support.ts";

describe("which requests are accepted", () => {
	test.each([
		["no key", null],
		["a wrong key", "sandbox-wrong"],
		["a key that only begins right", "secret-ke"],
	])("%s is HTTP 401 in every error style", async (_, key) => {
		for (const errorStyle of ["status", "envelope"] as const) {
			const sandbox = await by.start({ key: "secret-key", errorStyle });
			const answer = await by.send(sandbox, "GET", "/api/v1/datasets", { key });
			expect(answer).toMatchObject({ status: 401, code: 401 });
			expect(answer.text).not.toContain("secret");
		}
	});

	test("a web page whose name resolves to this machine is refused, even with the key", async () => {
		const sandbox = await by.start();
		for (const host of [
			"evil.example",
			`evil.example:${sandbox.port}`,
			"127.0.0.1:1",
			`127.0.0.1.evil.example:${sandbox.port}`,
		]) {
			expect(await by.send(sandbox, "GET", "/api/v1/datasets", { headers: { host } })).toMatchObject({
				status: 403,
				code: 403,
			});
		}
		for (const host of [`127.0.0.1:${sandbox.port}`, `LocalHost:${sandbox.port}`, `[::1]:${sandbox.port}`]) {
			expect((await by.send(sandbox, "GET", "/api/v1/datasets", { headers: { host } })).status).toBe(200);
		}
	});

	test("browsers get no permission to read answers for another page", async () => {
		const sandbox = await by.start();
		const response = await fetch(`${sandbox.url}/api/v1/datasets`, {
			headers: { authorization: `Bearer ${sandbox.key}`, origin: "http://evil.example" },
		});
		expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
		expect((await by.send(sandbox, "OPTIONS", "/api/v1/datasets")).status).toBe(405);
	});
});

describe("routes", () => {
	test.each([
		["GET", "/", 404],
		["GET", "/api/v1", 404],
		["GET", "/api/v2/datasets", 404],
		["GET", "/api/v1/datasets/", 404],
		["GET", "/api/v1/datasets/x", 404],
		["PUT", "/api/v1/datasets/x/documents/", 404],
		["DELETE", "/api/v1/datasets//documents/y", 404],
		["PUT", "/api/v1/datasets/x/documents/y/z", 404],
		["GET", "/api/v1/datasets/x/chunks", 404],
		["GET", "/api/v1/datasets/x/documents", 404],
		["DELETE", "/api/v1/datasets/x/documents/y", 404],
		["DELETE", "/api/v1/datasets", 405],
		["DELETE", "/api/v1/datasets/x/documents", 405],
		["PATCH", "/api/v1/datasets/x/documents/y", 405],
		["GET", "/api/v1/datasets/x/documents/y", 405],
		["GET", "/api/v1/datasets/%ff/documents", 400],
	])("%s %s is %i with an envelope: a mistyped address is no empty result", async (method, path, status) => {
		const answer = await by.send(await by.start(), method, path);
		expect(answer).toMatchObject({ status, code: status });
		expect(answer.message).not.toBe("");
		const quiet = await by.send(await by.start({ errorStyle: "envelope" }), method, path);
		expect(quiet).toMatchObject({ status: 200, code: status, message: answer.message });
	});
});

describe("datasets", () => {
	test("a created dataset is listed with its count, and is found by id and by name", async () => {
		const sandbox = await by.start();
		const one = await by.createDataset(sandbox, "one");
		const two = await by.createDataset(sandbox, "zwei – 二");
		expect(one).toMatch(/^[0-9a-f]{32}$/);
		await by.upload(sandbox, two, "a.txt", "b.txt");
		const both = [
			{ id: one, name: "one", document_count: 0 },
			{ id: two, name: "zwei – 二", document_count: 2 },
		];
		expect((await by.send(sandbox, "GET", "/api/v1/datasets")).json).toEqual({
			code: 0,
			message: "Success",
			data: both,
		});
		const find = (query: string): Promise<by.Answer> => by.send(sandbox, "GET", `/api/v1/datasets?${query}`);
		expect((await find("name=one")).data).toEqual(both.slice(0, 1));
		expect((await find(`id=${two}`)).data).toEqual(both.slice(1));
		expect((await find("page=2&page_size=1")).data).toEqual(both.slice(1));
		expect((await find("page=3&page_size=1")).data).toEqual([]);
	});

	test.each([
		["{}", 400, "missing"],
		['{"name":1}', 400, "not text"],
		['{"name":" "}', 400, "empty"],
		['{"name":"a\\u0000b"}', 400, "NUL"],
		[JSON.stringify({ name: "x".repeat(129) }), 400, "over 128"],
		["[", 400, "not JSON"],
	])("a dataset from %s is refused and not created", async (body, status, message) => {
		const sandbox = await by.start();
		const answer = await by.send(sandbox, "POST", "/api/v1/datasets", { headers: by.jsonHeader, body });
		expect(answer).toMatchObject({ status, code: status });
		expect(answer.message).toContain(message);
		expect((await by.send(sandbox, "GET", "/api/v1/datasets")).data).toEqual([]);
	});
});

describe("latency, log and closing", () => {
	test("answers to concurrent requests are delayed side by side, not one after the other", async () => {
		const arrivals: number[] = [];
		const answers: number[] = [];
		const log = (line: string): void => {
			arrivals.push(Date.parse(line.split(" ")[0] ?? ""));
			answers.push(Date.now());
		};
		const sandbox = await by.start({ latency: 250, log });
		await Promise.all(Array.from({ length: 20 }, () => by.send(sandbox, "GET", "/api/v1/datasets")));
		await sandbox.close();
		expect(arrivals).toHaveLength(20);
		// A line is written with the answer and has the time of arrival: so it shows what had arrived by the first answer.
		expect(arrivals.filter((arrival) => arrival < Math.min(...answers)).length).toBeGreaterThan(1);
	});

	test("every request writes one line with time, method, path and status", async () => {
		const lines: string[] = [];
		const sandbox = await by.start({ log: (line) => lines.push(line) });
		await by.send(sandbox, "GET", "/api/v1/datasets?page=1");
		await by.send(sandbox, "PUT", "/api/v1/nothing", { body: "x" });
		await by.send(sandbox, "GET", "/api/v1/datasets", { key: null });
		await sandbox.close();
		const time = String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
		expect(lines).toEqual([
			expect.stringMatching(`${time} GET /api/v1/datasets\\?page=1 200$`),
			expect.stringMatching(`${time} PUT /api/v1/nothing 404$`),
			expect.stringMatching(`${time} GET /api/v1/datasets 401$`),
		]);
		expect(lines.join()).not.toContain(sandbox.key);
	});

	test("close ends connections that are kept alive, so that the program can exit", async () => {
		const sandbox = await by.start();
		const socket = connect(sandbox.port, "127.0.0.1");
		socket.write(
			`GET /api/v1/datasets HTTP/1.1\r\nHost: 127.0.0.1:${sandbox.port}\r\nAuthorization: Bearer ${sandbox.key}\r\n\r\n`,
		);
		await new Promise((resolve) => socket.once("data", resolve));
		const ended = new Promise((resolve) => socket.once("close", resolve));
		await sandbox.close();
		await ended;
		await expect(refused(sandbox)).resolves.toBe("ECONNREFUSED");
	});
});

async function refused(sandbox: Sandbox): Promise<unknown> {
	return by.send(sandbox, "GET", "/").catch((error: unknown) => by.at(error, "code"));
}
