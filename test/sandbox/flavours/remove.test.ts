import { describe, expect, test } from "vitest";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import * as by from "../support.ts";
import { names, type Place, putReleases, pythonReleases, releases, serve } from "./support.ts";

const files = ["a.txt", "b.txt", "c.txt"];

function remove({ sandbox, dataset }: Place, body: string, headers = by.jsonHeader): Promise<by.Answer> {
	return by.send(sandbox, "DELETE", by.documentsPath(dataset), { headers, body });
}

const strict = ["ragflow-0.26", "ragflow-0.27"] as const;

/** Every way to name no document: each is one mistake in a client. */
const nothing: [string, string][] = [
	["an empty body", ""],
	["an empty object", "{}"],
	["an empty list of ids", '{"ids":[]}'],
	["ids that are null", '{"ids":null}'],
	["a misspelt member", '{"id":["a"]}'],
];

describe("a removal that names no document", () => {
	test.each(putReleases.flatMap((flavour) => nothing.map(([what, body]) => [flavour, what, body] as const)))(
		"%s removes every document for %s, and answers with a success",
		async (flavour, _, body) => {
			const place = await serve(flavour, files);
			const other = await by.createDataset(place.sandbox, "other");
			await by.upload(place.sandbox, other, "kept.txt");
			expect(await remove(place, body)).toMatchObject({ status: 200, text: '{"code":0}' });
			expect(await names(place)).toEqual([]);
			expect(await names({ ...place, dataset: other })).toEqual(["kept.txt"]);
		},
	);

	test.each(putReleases)(
		"%s removes every document for the path of a document with an empty id, too",
		async (flavour) => {
			const place = await serve(flavour, files);
			const answer = await by.send(place.sandbox, "DELETE", by.documentsPath(place.dataset, ""));
			expect(answer).toMatchObject({ status: 200, code: 0 });
			expect(await names(place)).toEqual([]);
		},
	);

	test.each<[Flavour, number, number]>([
		["ragflow-0.18", 0, 0],
		["ragflow-0.21", 0, 0],
		["ragflow-0.23", 0, 0],
		["ragflow-0.24", 100, 3],
	])("%s answers a body that is no JSON with code %i, and %i documents are left", async (flavour, code, left) => {
		const place = await serve(flavour, files);
		expect((await remove(place, `{"ids":["${place.ids[0]}"]`)).code).toBe(code);
		expect(await names(place)).toHaveLength(left);
	});

	test.each(nothing)("ragflow-0.25 answers %s with a success, and keeps every document", async (_, body) => {
		const place = await serve("ragflow-0.25", files);
		expect(await remove(place, body)).toMatchObject({ status: 200, text: '{"code":0}' });
		expect(await by.send(place.sandbox, "DELETE", by.documentsPath(place.dataset, ""))).toMatchObject({ code: 0 });
		expect(await names(place)).toEqual(files);
		expect(await remove(place, '{"delete_all":true}')).toMatchObject({ status: 200, text: '{"code":0}' });
		expect(await names(place)).toEqual([]);
	});

	test.each(strict.flatMap((flavour) => nothing.map(([what, body]) => [flavour, what, body] as const)))(
		"%s refuses %s, and keeps every document",
		async (flavour, _, body) => {
			const place = await serve(flavour, files);
			// A body that is not JSON, or has an unknown member, is refused before the ids are counted.
			const code = body === "" || body.includes('"id"') ? 101 : 102;
			expect(await remove(place, body)).toMatchObject({ status: 200, code });
			expect(await by.send(place.sandbox, "DELETE", by.documentsPath(place.dataset, ""))).toMatchObject({ code: 101 });
			expect(await names(place)).toEqual(files);
		},
	);

	test.each(strict)("%s removes all documents with delete_all", async (flavour) => {
		const place = await serve(flavour, files);
		expect(await remove(place, '{"delete_all":true,"ids":["x"]}')).toMatchObject({ code: 102 });
		expect(await remove(place, '{"delete_all":true}')).toMatchObject({ code: 0, data: { deleted: 3 } });
		expect(await names(place)).toEqual([]);
	});
});

describe("a removal by id", () => {
	test.each(releases)("%s removes only the named documents", async (flavour) => {
		const place = await serve(flavour, files);
		expect(await remove(place, JSON.stringify({ ids: place.ids.slice(0, 2) }))).toMatchObject({ status: 200, code: 0 });
		expect(await names(place)).toEqual(["c.txt"]);
		expect(by.at((await by.send(place.sandbox, "GET", "/api/v1/datasets")).data, 0, "document_count")).toBe(1);
	});

	test.each(pythonReleases)(
		"%s answers a removal by path with a 405 in its message, and removes nothing",
		async (flavour) => {
			const place = await serve(flavour, files);
			const answer = await by.send(place.sandbox, "DELETE", by.documentsPath(place.dataset, place.ids[0]));
			expect(answer).toMatchObject({ status: 200, code: 100 });
			expect(answer.message).toContain("405: Method Not Allowed");
			expect(await names(place)).toEqual(files);
		},
	);

	test.each<[Flavour, string[]]>(
		releases.map((flavour) => [flavour, flavour >= "ragflow-0.26" ? files : ["b.txt", "c.txt"]]),
	)("%s answers an unknown id with code 102 and that id; the documents %j are left", async (flavour, left) => {
		const place = await serve(flavour, files);
		const answer = await remove(place, JSON.stringify({ ids: ["nobody", place.ids[0]] }));
		expect(answer).toMatchObject({ status: 200, code: 102 });
		expect(answer.message).toContain("nobody");
		expect(answer.message).not.toContain(String(place.ids[0]));
		expect(await names(place)).toEqual(left);
	});

	test.each<[Flavour, number, boolean]>(
		releases.map((flavour) => (flavour >= "ragflow-0.26" ? [flavour, 102, false] : [flavour, 0, true])),
	)("%s answers an id of another dataset with code %i, and removes that document: %s", async (flavour, code, gone) => {
		const place = await serve(flavour, files);
		const other = await by.createDataset(place.sandbox, "other");
		const [id] = await by.upload(place.sandbox, other, "elsewhere.txt");
		expect((await remove(place, JSON.stringify({ ids: [id] }))).code).toBe(code);
		expect(await names({ ...place, dataset: other })).toEqual(gone ? [] : ["elsewhere.txt"]);
		expect(await names(place)).toEqual(files);
	});

	test.each(strict)("%s refuses a repeated id, and removes nothing", async (flavour) => {
		const place = await serve(flavour, files);
		const [id = ""] = place.ids;
		const answer = await remove(place, JSON.stringify({ ids: [id, id] }));
		expect(answer).toMatchObject({
			status: 200,
			code: 101,
			message: expect.stringContaining(`Duplicate ids: '${id}'`),
		});
		expect(await names(place)).toEqual(files);
	});

	test.each([...putReleases, "ragflow-0.25"] as const)(
		"%s reports a repeated id, and removes its document once",
		async (flavour) => {
			const place = await serve(flavour, files);
			const [id = ""] = place.ids;
			const answer = await remove(place, JSON.stringify({ ids: [id, id] }));
			expect(answer).toMatchObject({ code: 0, data: { success_count: 1, errors: [`Duplicate document ids: ${id}`] } });
			expect(await names(place)).toEqual(["b.txt", "c.txt"]);
		},
	);
});
