import { describe, expect, test } from "vitest";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import * as by from "../support.ts";
import { patchReleases, putReleases, pythonReleases, releases, serve } from "./support.ts";

const datasets = "/api/v1/datasets";

describe("a refused key", () => {
	test.each(putReleases)("%s answers a missing or malformed header with code 0", async (flavour) => {
		const { sandbox } = await serve(flavour, []);
		for (const headers of [{}, { authorization: "" }, { authorization: "Bearer" }, { authorization: sandbox.key }]) {
			const answer = await by.send(sandbox, "GET", datasets, { key: null, headers });
			expect(answer).toMatchObject({ status: 200, code: 0, data: false });
			expect(answer.message).toMatch(/authorization/i);
		}
	});

	test.each(patchReleases)("%s accepts a key without the word Bearer", async (flavour) => {
		const { sandbox } = await serve(flavour, []);
		const headers = { authorization: sandbox.key };
		expect(await by.send(sandbox, "GET", datasets, { key: null, headers })).toMatchObject({ status: 200, code: 0 });
	});

	test("ragflow-0.25 still answers removals with the older codes, and status 401", async () => {
		const { sandbox, dataset } = await serve("ragflow-0.25", []);
		const remove = (sent: by.Sent) => by.send(sandbox, "DELETE", by.documentsPath(dataset), { body: "{}", ...sent });
		expect(await remove({ key: null })).toMatchObject({ status: 401, code: 0, data: null });
		const word = { key: null, headers: { authorization: sandbox.key } };
		expect(await remove(word)).toMatchObject({ status: 401, code: 109, data: null });
		expect(await remove({ key: "wrong-key" })).toMatchObject({ status: 401, code: 109, data: null });
	});

	test.each(releases)("%s refuses a member's key where no member key was set", async (flavour) => {
		const { sandbox } = await serve(flavour, []);
		expect((await by.send(sandbox, "GET", datasets, { key: "member-key" })).code).not.toBe(0);
	});
});

describe("a mistyped address", () => {
	test.each<[Flavour, number, number]>([
		["ragflow-0.18", 200, 100],
		["ragflow-0.21", 200, 100],
		["ragflow-0.23", 404, 404],
		["ragflow-0.24", 404, 404],
		["ragflow-0.25", 404, 404],
		["ragflow-0.26", 404, 404],
		["ragflow-0.27", 404, 404],
	])("%s answers an unknown path with status %i and code %i", async (flavour, status, code) => {
		const { sandbox, dataset } = await serve(flavour, []);
		for (const path of ["/api/v1/nothing", "/api/v2/datasets", "/api", `${datasets}/${dataset}/papers`]) {
			const answer = await by.send(sandbox, "GET", path);
			expect(answer).toMatchObject({ status, code });
			expect(answer.message).toMatch(/404|Not Found/);
		}
	});

	test.each(releases)("%s answers paths outside the API with an HTML page and status 200", async (flavour) => {
		const { sandbox } = await serve(flavour, []);
		for (const path of ["/", "/v1/datasets", "/datasets", "/apis"]) {
			const response = await fetch(`${sandbox.url}${path}`, { headers: { authorization: `Bearer ${sandbox.key}` } });
			expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/html"]);
			expect(await response.text()).toMatch(/^<!doctype html>/);
		}
	});

	test.each(releases)("%s refuses a request whose Host names another machine", async (flavour) => {
		const { sandbox } = await serve(flavour, []);
		const headers = { host: "evil.example" };
		expect(await by.send(sandbox, "GET", datasets, { headers })).toMatchObject({ status: 403, code: 403 });
	});
});

describe("datasets", () => {
	test.each(releases)("%s lists datasets newest first, and filters them by id and by name", async (flavour) => {
		const { sandbox, dataset: papers } = await serve(flavour);
		const books = await by.createDataset(sandbox, "books");
		const find = (query: string): Promise<by.Answer> => by.send(sandbox, "GET", `${datasets}?${query}`);
		const both = [
			{ id: books, name: "books", document_count: 0 },
			{ id: papers, name: "papers", document_count: 1 },
		];
		expect((await find("")).data).toMatchObject(both);
		expect((await find("")).message).toBe("undefined");
		expect((await find("desc=False")).data).toMatchObject(both.toReversed());
		expect((await find(`id=${papers}`)).data).toMatchObject(both.slice(1));
		expect((await find("name=books")).data).toMatchObject(both.slice(0, 1));
		expect((await find("page=2&page_size=1")).data).toMatchObject(both.slice(1));
		expect((await find("page=3&page_size=1")).data).toEqual([]);
	});

	test.each<[Flavour, number | undefined]>([
		["ragflow-0.18", undefined],
		["ragflow-0.21", 1],
		["ragflow-0.23", 1],
		["ragflow-0.24", 1],
		["ragflow-0.25", 1],
		["ragflow-0.26", 1],
		["ragflow-0.27", 1],
	])("%s reports the total %s", async (flavour, total) => {
		const { sandbox } = await serve(flavour, []);
		expect(by.at((await by.send(sandbox, "GET", datasets)).json, "total_datasets")).toBe(total);
	});

	test.each(pythonReleases)("%s counts the letters or the bytes of a dataset's name", async (flavour) => {
		const sandbox = await by.start({ flavour });
		const make = (name: string): Promise<by.Answer> =>
			by.send(sandbox, "POST", datasets, { headers: by.jsonHeader, body: JSON.stringify({ name }) });
		// v0.18 accepts 127 characters, v0.21 128 characters, and later releases 128 bytes.
		expect((await make("x".repeat(127))).code).toBe(0);
		expect((await make("x".repeat(128))).code).toBe(flavour === "ragflow-0.18" ? 102 : 0);
		expect((await make("é".repeat(65))).code).toBe(flavour >= "ragflow-0.23" ? 102 : 0);
	});
});
