import { describe, expect, test } from "vitest";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import * as by from "../support.ts";
import { type Place, pythonReleases, releases, serve } from "./support.ts";

/** What a list shows of each document, in the order of creation. */
async function shown({ sandbox, dataset }: Place, members: readonly string[], query = {}): Promise<unknown[]> {
	const { data } = await by.list(sandbox, dataset, { desc: "False", page_size: "100", ...query });
	const docs = by.at(data, "docs");
	return Array.isArray(docs) ? docs.map((each: unknown) => members.map((member) => by.at(each, member))) : [];
}

async function runs(place: Place, query = {}): Promise<unknown[]> {
	return (await shown(place, ["run"], query)).flat();
}

function parse({ sandbox, dataset }: Place, ids: readonly string[]): Promise<by.Answer> {
	const sent = { headers: by.jsonHeader, body: JSON.stringify({ document_ids: ids }) };
	return by.send(sandbox, "POST", `/api/v1/datasets/${dataset}/chunks`, sent);
}

function change({ sandbox, dataset, ids }: Place, flavour: Flavour, members: object): Promise<by.Answer> {
	const verb = flavour >= "ragflow-0.25" ? "PATCH" : "PUT";
	const sent = { headers: by.jsonHeader, body: JSON.stringify(members) };
	return by.send(sandbox, verb, by.documentsPath(dataset, ids[0]), sent);
}

/** A place whose first document was parsed to its end. */
async function parsed(flavour: Flavour): Promise<Place> {
	const sandbox = await by.start({ flavour, parsingLists: 1 });
	const dataset = await by.createDataset(sandbox);
	const body = by.multipart(by.filePart("a.txt", "x".repeat(1500)));
	const { data } = await by.send(sandbox, "POST", by.documentsPath(dataset), { headers: by.partsHeader, body });
	const place = { sandbox, dataset, ids: [String(by.at(data, 0, "id"))] };
	await parse(place, place.ids);
	await shown(place, []);
	return place;
}

describe.each(releases)("%s", (flavour) => {
	test("a document is parsed while lists show it, and no other is", async () => {
		const place = await serve(flavour, ["a.txt", "b.txt"]);
		expect(await runs(place)).toEqual(["UNSTART", "UNSTART"]);
		expect((await parse(place, place.ids.slice(0, 1))).code).toBe(0);
		const seen = [];
		for (let turn = 0; turn < 4; turn++) seen.push((await shown(place, ["run", "progress"]))[0]);
		expect(seen).toEqual([
			["RUNNING", 0.005],
			["RUNNING", 1 / 3],
			["RUNNING", 2 / 3],
			["DONE", 1],
		]);
		expect(await runs(place)).toEqual(["DONE", "UNSTART"]);
	});

	test("the name of a document asks for a failure, for one that passes, or for no end", async () => {
		const names = ["parse-fails.txt", "parse-fails-once.txt", "parse-stalls.txt"];
		const place = await serve(flavour, names, { parsingLists: 2 });
		await parse(place, place.ids);
		for (let turn = 0; turn < 5; turn++) await shown(place, []);
		const failed = ["FAIL", -1, expect.stringContaining("[ERROR]the sandbox can't parse parse-fails")];
		const stalled = ["RUNNING", 0.5, expect.any(String)];
		expect(await shown(place, ["run", "progress", "progress_msg"])).toEqual([failed, failed, stalled]);
		await parse(place, place.ids.slice(0, 2));
		for (let turn = 0; turn < 2; turn++) await shown(place, []);
		expect(await runs(place)).toEqual(["FAIL", "DONE", "RUNNING"]);
	});

	test("a document that is parsed again has no chunks until it is done", async () => {
		const place = await parsed(flavour);
		expect(await shown(place, ["run", "chunk_count", "token_count"])).toEqual([["DONE", 2, 375]]);
		await parse(place, place.ids);
		expect(await shown(place, ["run", "chunk_count", "token_count"])).toEqual([["RUNNING", 0, 0]]);
	});

	test("one that is at work ends the request: the Python releases have started those before it", async () => {
		const place = await serve(flavour, ["a.txt", "b.txt", "c.txt"]);
		const sorted = place.ids.toSorted();
		await parse(place, sorted.slice(1, 2));
		const { code, message } = await parse(place, place.ids);
		expect([code, message.toLowerCase()]).toEqual([102, "can't parse document that is currently being processed"]);
		const inPython = pythonReleases.some((each) => each === flavour);
		const expected = new Map(sorted.map((id, at) => [id, at === 1 || (at === 0 && inPython) ? "RUNNING" : "UNSTART"]));
		expect(await runs(place)).toEqual(place.ids.map((id) => expected.get(id)));
	});

	test("a list of one state has the documents in that state", async () => {
		const place = await serve(flavour, ["a.txt", "b.txt"], { parsingLists: 1 });
		await parse(place, place.ids.slice(1));
		if (flavour === "ragflow-0.18")
			return expect(await runs(place, { run: "RUNNING" })).toEqual(["UNSTART", "RUNNING"]);
		expect(await runs(place, { run: "RUNNING" })).toEqual(["RUNNING"]);
		expect(await runs(place, { run: "DONE" })).toEqual(["DONE"]);
		expect(await runs(place, { run: "UNSTART" })).toEqual(["UNSTART"]);
	});

	test("another method of parsing loses what was parsed; up to v0.25.0 the same one loses its chunks", async () => {
		const place = await parsed(flavour);
		await change(place, flavour, { chunk_method: "naive" });
		const drops = flavour > "ragflow-0.18" && flavour < "ragflow-0.26";
		expect(await shown(place, ["run", "chunk_count"])).toEqual([["DONE", drops ? 0 : 2]]);
		await change(place, flavour, { chunk_method: "qa" });
		expect(await shown(place, ["run", "progress", "chunk_count"])).toEqual([["UNSTART", 0, 0]]);
	});

	test("a document that is disabled is never done, and v0.18 can disable none", async () => {
		const place = await serve(flavour, ["a.txt"], { parsingLists: 1 });
		const { data } = await change(place, flavour, { enabled: 0 });
		if (flavour === "ragflow-0.21") expect(data).toBe(true);
		await parse(place, place.ids);
		await shown(place, []);
		expect(await shown(place, ["run", "status"])).toEqual([
			flavour === "ragflow-0.18" ? ["DONE", "1"] : ["RUNNING", "0"],
		]);
	});

	test("a rename keeps what was parsed", async () => {
		const place = await parsed(flavour);
		await change(place, flavour, { name: "x/b.txt" });
		expect(await shown(place, ["name", "run", "chunk_count"])).toEqual([["x/b.txt", "DONE", 2]]);
	});

	test("the header alone says whether an answer is a file, also of JSON", async () => {
		const sandbox = await by.start({ flavour });
		const dataset = await by.createDataset(sandbox);
		const [text, name] = ['{"code":102,"message":"no"}', "ä b.json"];
		const body = by.multipart(by.filePart(name, text), by.filePart("empty.txt", ""));
		const { data } = await by.send(sandbox, "POST", by.documentsPath(dataset), { headers: by.partsHeader, body });
		const paths = [0, 1].map((at) => by.documentsPath(dataset, String(by.at(data, at, "id"))));
		const headers = { authorization: `Bearer ${sandbox.key}` };
		const [file, empty] = await Promise.all(paths.map((path) => fetch(`${sandbox.url}${path}`, { headers })));
		expect([file?.status, await file?.text()]).toEqual([200, text]);
		expect(file?.headers.get("content-disposition")).toMatch(/^attachment; filename/);
		const isByEnding = flavour === "ragflow-0.26" || flavour === "ragflow-0.27";
		expect(file?.headers.get("content-type")).toBe(isByEnding ? "application/json" : "application/octet-stream");
		expect(empty?.headers.get("content-disposition")).toBeNull();
		expect(await empty?.json()).toMatchObject({ code: 102, message: expect.stringMatching(/is empty/) });
	});
});

test("the state of parsing outlives the sandbox", async () => {
	const data = `${await by.folder()}/s.db`;
	const first = await by.start({ flavour: "ragflow-0.25", data });
	const dataset = await by.createDataset(first);
	const ids = await by.upload(first, dataset, "a.txt");
	await parse({ sandbox: first, dataset, ids }, ids);
	await first.close();
	const second = await by.start({ flavour: "ragflow-0.25", data });
	expect(await runs({ sandbox: second, dataset, ids })).toEqual(["RUNNING"]);
});
