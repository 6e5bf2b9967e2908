import { expect, test } from "vitest";
import * as by from "../support.ts";
import { names, serve, stored, update } from "./support.ts";

const flavour = "ragflow-1.0";

// What test/sandbox/rules/ can't hold: headers, keys, redirects, and what other requests see afterwards.

test("every answer of the API says that it comes from Go, also one of status 404", async () => {
	const { sandbox, dataset } = await serve(flavour);
	for (const path of [by.documentsPath(dataset), "/api/v1/datasets", "/api/v1/nothing"]) {
		const { headers } = await fetch(sandbox.url + path);
		expect(headers.get("x-api-source")).toBe("go");
	}
	expect((await fetch(`${sandbox.url}/elsewhere`)).headers.get("x-api-source")).toBe(null);
});

test.each([
	["no header", {}, "Missing Authorization header"],
	["a wrong key", { authorization: "Bearer wrong" }, "Invalid access token"],
	["a header of three words", { authorization: "Bearer a b" }, "Invalid access token"],
	["a header without a key", { authorization: "Bearer " }, "Invalid access token"],
])("%s is status 401 with words of its own", async (_, headers, message) => {
	const { sandbox, dataset } = await serve(flavour);
	const answer = await by.send(sandbox, "GET", by.documentsPath(dataset), { key: null, headers });
	expect(answer.status).toBe(401);
	expect(answer.json).toEqual({ code: 401, data: null, message });
});

test("a key is taken alone, and after any word", async () => {
	const { sandbox, dataset } = await serve(flavour);
	for (const authorization of [sandbox.key, `Bearer ${sandbox.key}`, `Token ${sandbox.key}`]) {
		const answer = await by.send(sandbox, "GET", by.documentsPath(dataset), { key: null, headers: { authorization } });
		expect(answer.code).toBe(0);
	}
});

test.each([
	["GET", 301],
	["DELETE", 307],
])("a slash at the end is not the address of all documents: %s is redirected", async (method, status) => {
	const { sandbox, dataset } = await serve(flavour);
	const path = by.documentsPath(dataset);
	const answer = await fetch(`${sandbox.url}${path}/?page=1`, { method, redirect: "manual" });
	expect([answer.status, answer.headers.get("location")]).toEqual([status, `${path}?page=1`]);
});

test("two slashes are one, without a redirect, and an escaped slash divides", async () => {
	const { sandbox, dataset } = await serve(flavour);
	expect((await by.send(sandbox, "GET", `/api/v1//datasets/${dataset}//documents`)).code).toBe(0);
	const { status, message } = await by.send(sandbox, "PATCH", `${by.documentsPath(dataset)}/a%2Fb`);
	expect([status, message]).toEqual([404, `Not Found: ${by.documentsPath(dataset)}/a/b`]);
});

test("names of uploaded files lose their folders, keep %22, and are compared letter by letter", async () => {
	const place = await serve(flavour, [
		"folder/a.txt",
		"A.TXT",
		"a.txt",
		"a(1).txt",
		"b%22c.txt",
		"résumé.txt",
		"Resume.txt",
	]);
	const stored = ["a.txt", "A.TXT", "a(1).txt", "a(1)(1).txt", "b%22c.txt", "résumé.txt", "Resume.txt"];
	expect(await names(place)).toEqual(stored);
	// The database finds them by its collation.
	expect(await names(place, { name: "A.TXT" })).toEqual(["a.txt", "A.TXT"]);
});

test("a name with a number that is taken by a dataset gets one more", async () => {
	const { sandbox } = await serve(flavour, []);
	const make = async (name: string): Promise<unknown> => {
		const sent = { headers: by.jsonHeader, body: JSON.stringify({ name }) };
		return by.at((await by.send(sandbox, "POST", "/api/v1/datasets", sent)).data, "name");
	};
	expect([await make("a.b"), await make("A.B"), await make("a.b(1)")]).toEqual(["a.b", "A.B(1)", "a.b(1)(1)"]);
});

test("an update by an id in the other case succeeds, shows the present metadata, and changes nothing", async () => {
	const place = await serve(flavour);
	await update(place, flavour, '{"author":"Ben"}');
	const loud = { ...place, ids: place.ids.map((id) => id.toUpperCase()) };
	const answer = await update(loud, flavour, '{"author":"Ana"}');
	expect(answer).toMatchObject({ code: 0, data: { id: place.ids[0], meta_fields: { author: "Ben" } } });
	expect(await stored(place)).toBe('{"author":"Ben"}');
});

test("documents are removed by ids in the other case, but not from a dataset whose id is", async () => {
	const place = await serve(flavour, ["a.txt", "b.txt"]);
	const remove = (dataset: string): Promise<by.Answer> => {
		const body = JSON.stringify({ ids: [place.ids[0]?.toUpperCase()] });
		return by.send(place.sandbox, "DELETE", by.documentsPath(dataset), { headers: by.jsonHeader, body });
	};
	expect((await remove(place.dataset.toUpperCase())).code).toBe(102);
	expect(await remove(place.dataset)).toMatchObject({ code: 0, data: { deleted: 1 } });
	expect(await names(place)).toEqual(["b.txt"]);
});

test("documents without metadata are listed alone by return_empty_metadata", async () => {
	const place = await serve(flavour, ["a.txt", "b.txt"]);
	await update(place, flavour, '{"author":"Ana"}');
	expect(await names(place, { return_empty_metadata: "true" })).toEqual(["b.txt"]);
	expect(await names(place, { metadata: '{"author":["Ana"]}' })).toEqual(["a.txt"]);
});

test("a list keeps the number 1 beside the text 1", async () => {
	const place = await serve(flavour);
	// The key takes both once it is a text's.
	await update(place, flavour, '{"a":"x"}');
	expect((await update(place, flavour, '{"a":["1",1,"1",1.0]}')).data).toMatchObject({ meta_fields: { a: ["1", 1] } });
});

test("items of lists lose blanks as Go knows them, which are not those of Python", async () => {
	const place = await serve(flavour);
	const answer = await update(place, flavour, '{"a":["\\u0085x\\u3000","\\u001cy\\u001c","\\ud800"]}');
	expect(answer.data).toMatchObject({ meta_fields: { a: ["x", "\u001cy\u001c", "\ufffd"] } });
});
