import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import type { JsonValue, Metadata } from "../../../src/json/values.ts";
import { documented, flavours } from "../../../src/rest/flavours.ts";
import { splitLists } from "../../../src/rest/ragflow.ts";
import { type RememberedService, fileMemory } from "../../../src/run/service/service-memory.ts";
import { arrivalOf, sameMetadata } from "../../../src/run/service/arrival.ts";
import { ragflowPut } from "../../support/flavours.ts";

const url = "https://rag.example.com/api/v1";
const known: RememberedService = {
	flavour: ragflowPut,
	form: "json",
	proven: "document_id",
	how: "it was seen",
	foundAt: 86_400_000,
	unrouted: new Map([["PATCH", "host answered 405"]]),
};

let folder = "";
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "ragtag-"))));
afterEach(() => rm(folder, { recursive: true }));

/** The text of what is known, and what is read where another stands in its file. */
async function stored(): Promise<{ readonly text: string; read(text: string): Promise<unknown> }> {
	const memory = fileMemory(folder, url);
	await memory.save(known);
	const [name = ""] = await readdir(join(folder, "services"));
	const path = join(folder, "services", name);
	const read = async (text: string): Promise<unknown> => {
		await writeFile(path, text);
		return fileMemory(folder, url).load();
	};
	return { text: await readFile(path, "utf8"), read };
}

describe("the stored knowledge of an address", () => {
	test.each(flavours)("reads back as it was written: $name", async (flavour) => {
		const [form] = flavour.update.forms;
		const knowledge = { ...known, flavour, form };
		await fileMemory(folder, url).save(knowledge);
		expect(await fileMemory(folder, url).load()).toEqual(knowledge);
	});

	test.each([
		["it is of another address", (text: string) => text.replace("rag.example.com", "other.example.com")],
		["it names a flavour of another release", (text: string) => text.replace("ragflow-put", "ragflow-post")],
		["it names a form that the flavour does not take", (text: string) => text.replace('"json"', '"multipart"')],
		["its layout is another", (text: string) => text.replace('"schema":3', '"schema":9')],
		[
			"it is of layout 1, which said whether a form was proven and not how documents are named",
			(text: string) => text.replace('"schema":3', '"schema":1').replace('"document_id"', "true"),
		],
		["it is of layout 1 and reads like this one", (text: string) => text.replace('"schema":3', '"schema":1')],
		[
			"it is of layout 2, which took RAGFlow v0.27 for the documented API",
			(text: string) => text.replace('"schema":3', '"schema":2'),
		],
		["it has no layout", (text: string) => text.replace('"schema":3,', "")],
		["its time is none", (text: string) => text.replace("1970", "never")],
		["it says neither yes nor no", (text: string) => text.replace('"document_id"', '"yes"')],
	])("is dropped if %s: rows would be sent in a form that the service refuses", async (_, change) => {
		const { text, read } = await stored();
		expect(await read(change(text))).toBeUndefined();
		expect(await read(text)).toEqual(known);
	});

	it("is dropped if it is cut at any byte", async () => {
		const { text, read } = await stored();
		for (let length = 0; length < text.length - 1; length++) expect(await read(text.slice(0, length))).toBeUndefined();
	});
});

describe("the files", () => {
	it("keep each address apart, readable by their owner alone", async () => {
		const memory = fileMemory(folder, url);
		expect(await memory.load()).toBeUndefined();
		await memory.save(known);
		await fileMemory(folder, "http://other/api/v1").save({ ...known, flavour: documented, form: "multipart" });
		expect(await memory.load()).toEqual(known);
		const names = await readdir(join(folder, "services"));
		expect(names).toHaveLength(2);
		for (const name of names) expect((await stat(join(folder, "services", name))).mode & 0o777).toBe(0o600);
		expect((await stat(join(folder, "services"))).mode & 0o777).toBe(0o700);
		const texts = await Promise.all(names.map((name) => readFile(join(folder, "services", name), "utf8")));
		expect(texts.join("")).toContain(url);
	});

	it("that can't be written do not fail the run", async () => {
		await writeFile(join(folder, "services"), "in the way");
		const memory = fileMemory(folder, url);
		await memory.save(known);
		expect(await memory.load()).toBeUndefined();
	});
});

describe("the comparison of what was sent with what arrived", () => {
	const of = (object: { [key: string]: JsonValue }): Metadata => new Map(Object.entries(object));
	test.each([
		["as_sent", { a: 1 }, { b: 2 }, { b: 2 }],
		["as_sent", {}, { a: { x: [1, { y: null }], z: "t" }, b: 1 }, { b: 1, a: { z: "t", x: [1, { y: null }] } }],
		["as_sent", { a: 1 }, {}, {}],
		["normalised", {}, { a: ["x, y"] }, { a: ["x", "y"] }],
		["unchanged", { a: 1 }, { b: 2 }, { a: 1 }],
		["unchanged", {}, { b: 2 }, {}],
		["merged", { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
		["merged", { a: 1 }, { b: ["x,y"] }, { a: 1, b: ["x", "y"] }],
		["different", { a: 1 }, { b: 2 }, {}],
		["different", {}, { b: 2 }, { b: "2" }],
		["different", {}, { b: [1, 2] }, { b: [2, 1] }],
		["different", { c: 1 }, { b: null }, {}],
		["different", {}, { b: { x: 1 } }, { b: { x: 1, y: 2 } }],
		["different", {}, { b: { x: 1, z: 3 } }, { b: { x: 1, y: 3 } }],
	] as const)("%s: had %j, was sent %j, has %j", (arrival, before, sent, after) => {
		expect(arrivalOf({ before: of(before), sent: of(sent), after: of(after) }, splitLists)).toBe(arrival);
	});

	it("metadata equals itself after JSON, and differs from metadata with one other value", () => {
		const metadata = fc.dictionary(fc.string(), fc.jsonValue()).map((object) => new Map(Object.entries(object)));
		fc.assert(
			fc.property(metadata, (map) => {
				const text = JSON.stringify([...map]);
				const again = new Map(JSON.parse(text) as [string, JsonValue][]);
				expect(sameMetadata(map as Metadata, again)).toBe(true);
				for (const key of again.keys()) {
					expect(sameMetadata(map as Metadata, new Map([...again, [key, "\u0001other"]]))).toBe(false);
					const less = new Map(again);
					less.delete(key);
					expect(sameMetadata(map as Metadata, less)).toBe(false);
				}
			}),
		);
	});
});

// Node's own recursive way of making folders spins for ever there, and `doctor` with it.
test.runIf(process.platform === "linux")("a folder that can't be made stores nothing: the program ends", async () => {
	const memory = fileMemory("/proc/nonesuch/ragtag", url);
	await memory.save(known);
	expect(await memory.load()).toBeUndefined();
});
