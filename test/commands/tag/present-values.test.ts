import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { type Ended, envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, type Service, serve, writes } from "../../support/service.ts";
import { at, parseLines, summaryOf } from "../../support/values.ts";

const tag = (service: Service, path: string, ...more: string[]): Promise<Ended> =>
	ragtag(["docs", "tag", path, "-d", service.dataset, "--rate", "5000", "--json", ...more], { env: envOf(service) });

/** The manifest that `manifest init` prints of the dataset. */
async function initialised(service: Service): Promise<string> {
	const { stdout, exit } = await ragtag(["manifest", "init", "-d", service.dataset], { env: envOf(service) });
	expect(exit).toBe(0);
	return file("init.csv", stdout);
}

/** Values that a careless reader or writer of CSV takes for something else, each in a document of its own. */
const ODD: readonly (readonly [string, unknown])[] = [
	["a large number", 1e21],
	["a negative zero", -0],
	["a tenth", 0.1],
	["a small number", 1e-7],
	["leading zeros", "007"],
	["commas and quotes", 'say "a, b"; c\td'],
	["line ends", "one\ntwo\r\nthree\rfour\n"],
	["control characters", "\u0001\u001b[31m\u007f\u0085\u2028"],
	["a formula", "=1+1"],
	["other formulas", ["@SUM(A1)", "-1", "+2", "=x"]],
	["a list with bars and backslashes", ["a|b", "c\\", "\\|", "", "d\\e"]],
	["a list of one blank item", [""]],
	["an empty list", []],
	["a mixed list", ["1", 1, null, true, ["x"]]],
	["nested objects", { a: { b: [1, { c: null }] }, __proto__x: 1 }],
	["null", null],
	["empty text", ""],
	["booleans", [true, false]],
	["true", true],
	["text like JSON", '{"a":1}'],
	["text like null", "null"],
	["text like a number", "1e3"],
	["a blank", " "],
	["blanks around", "  x  "],
	["the delete token", "!delete"],
	["the delete token beside other values", ["!delete"]],
	["what looks like a change of a list", ["+x", "-y"]],
	["a list that takes its own item away", ["-x"]],
	["text like a step", "+x"],
	["other scripts", "Zoë 日本 😀 \u202eevil"],
	["a date that is none", "yesterday"],
];

const KEYS = [
	"value",
	"name",
	"document_id",
	"dataset_id",
	"meta_fields",
	"file",
	"_line",
	"a:number",
	"a:int",
	"Document ID",
	"__proto__",
	"constructor",
	"toString",
	"clé 日本 😀",
	" leading",
	"trailing ",
	"two\nlines",
	"cr\rhere",
	"semi;colon;;;;;;;;;;;;;;;;;;;;;;;",
	'quo"ted',
	"",
	"url",
	"publish_date",
	"!delete",
];

/** A dataset where each odd value stands under an odd key, and documents with nothing at all. */
async function oddities(): Promise<Service> {
	const service = await serve(ODD.length + KEYS.length + 2);
	const ids = await service.ids();
	for (const [index, [, value]] of ODD.entries()) await service.put(ids[index] ?? "", { value, common: "x" });
	for (const [index, key] of KEYS.entries()) {
		const [, value] = ODD[index % ODD.length] ?? [];
		// A literal would make __proto__ the prototype.
		const metadata = Object.fromEntries([[key, index % 3 === 0 ? value : "some text"]]);
		await service.put(ids[ODD.length + index] ?? "", metadata);
	}
	await service.put(ids.at(-2) ?? "", { url: "no address", publish_date: 5, value: "!delete" });
	return service;
}

describe("the unedited output of manifest init", () => {
	it.each([
		["--only-changed", []],
		["--only-changed", ["--mode", "merge"]],
		["--dry-run", []],
		["--dry-run", ["--mode", "merge"]],
		["--dry-run", ["--mode", "merge", "--delete-token", "x"]],
	] as const)("changes nothing with %s %j, however odd the values and keys are", async (how, more) => {
		const service = await oddities();
		const before = await service.documents();
		const path = await initialised(service);
		const { stdout, stderr, exit } = await tag(service, path, how, ...more);
		expect(parseLines(stdout).slice(1, -1)).toEqual([]);
		expect(stderr).not.toContain("init.csv:");
		expect([exit, at(summaryOf(stdout), "unchanged")]).toEqual([0, before.length]);
		expect(writes(service)).toEqual([]);
		expect(await service.documents()).toEqual(before);
	});

	it("is an empty plan", async () => {
		const service = await oddities();
		const out = join(await folder(), "plan.jsonl");
		const argv = ["docs", "plan", await initialised(service), "--out", out, "--detailed-exitcode", "--json"];
		const { exit, stdout } = await ragtag(argv, { env: envOf(service) });
		expect([exit, at(summaryOf(stdout), "unchanged")]).toEqual([0, (await service.ids()).length]);
	});

	it.each(["null", "text"])("keeps a current null and a current empty text with --empty %s", async (empty) => {
		const service = await serve(2);
		const [one = "", two = ""] = await service.ids();
		await service.put(one, { a: null, b: "", c: "x" });
		await service.put(two, { a: "", b: null, c: "x" });
		const before = await service.documents();
		const path = await initialised(service);
		for (const how of ["--dry-run", "--only-changed"]) {
			await ends(tag(service, path, how, "--empty", empty), 0, { unchanged: 2 });
		}
		expect(await service.documents()).toEqual(before);
	});

	it("restores every document by a replace run, whatever has become of it since", async () => {
		const service = await oddities();
		const before = await service.documents();
		const path = await initialised(service);
		for (const { id } of before) await service.put(id, { spoilt: true });
		await ends(tag(service, path, "--schema", "none"), 0, { updated: before.length });
		expect(await service.documents()).toEqual(before);
	});
});

describe("a value that is already present", () => {
	const world = async (): Promise<{ service: Service; ids: string[] }> => {
		const service = await serve(4);
		const ids = await service.ids();
		for (const id of ids) await service.put(id, { url: "no address", author: "Ann" });
		return { service, ids };
	};
	const rows = (ids: readonly string[], cells: readonly string[]): Promise<string> =>
		file("t.csv", `document_id,url,author\n${cells.map((cell, n) => `${ids[n]},${cell}\n`).join("")}`);

	it("does not keep the rest of its row from being written", async () => {
		const { service, ids } = await world();
		const path = await rows(ids, ["no address,Bob", "no address,Ann", "no address,Cid"]);
		await ends(tag(service, path, "--only-changed"), 0, { updated: 2, unchanged: 1, invalid: 0 });
		const held = (await service.documents()).slice(0, 3);
		expect(held.map(({ metadata }) => at(metadata, "author"))).toEqual(["Bob", "Ann", "Cid"]);
	});

	it("permits no other value, and no row of a missing document", async () => {
		const { service, ids } = await world();
		const path = await rows(
			[...ids.slice(0, 3), "nobody"],
			["no address,Bob", "another,Bob", "no address,Bob", "no address,Bob"],
		);
		const { stdout } = await says(tag(service, path, "--only-changed"), 3, `${path}:3:`, `${path}:5:`);
		expect(parseLines(stdout).filter((line) => at(line, "type") === "problem")).toMatchObject([
			{ line: 3, field: "url", error_code: "BAD_URL" },
			{ line: 5, field: "url", error_code: "BAD_URL" },
		]);
		expect(summaryOf(stdout)).toMatchObject({ invalid: 2, pending: 2, updated: 0 });
		expect(writes(service)).toEqual([]);
	});

	it("is invalid if nothing is compared, and causes no request", async () => {
		const { service, ids } = await world();
		const { exit } = await tag(service, await rows(ids, ["no address,Ann"]));
		expect([exit, service.requests]).toEqual([3, []]);
	});

	it("causes a request only if nothing but values is invalid: other problems are reported without a request", async () => {
		const { service, ids } = await world();
		const path = await file("t.csv", `document_id,url,n:number\n${ids[0]},no address,x\n${ids[1]},,y\n`);
		for (const how of ["--dry-run", "--only-changed"]) {
			await says(tag(service, path, how), 3, "t.csv:2:");
			expect(service.requests).toEqual([]);
		}
	});

	it("may break a schema by its value, not by a missing key", async () => {
		const { service, ids } = await world();
		const schema = await file(
			"s.json",
			JSON.stringify({
				properties: { author: { enum: ["Bob"] }, url: {} },
				required: ["url"],
				additionalProperties: false,
			}),
		);
		await service.put(ids[2] ?? "", { author: "Ann", extra: 1 });
		await service.put(ids[3] ?? "", { extra: 1 });
		const path = await file(
			"t.jsonl",
			[
				{ document_id: ids[0], meta_fields: { url: "no address", author: "Ann" } },
				{ document_id: ids[1], meta_fields: { url: "no address", author: "Cid" } },
				{ document_id: ids[2], meta_fields: { author: "Ann", extra: 1 } },
				{ document_id: ids[3], meta_fields: { url: "https://a.example", extra: 1 } },
			]
				.map((row) => JSON.stringify(row))
				.join("\n"),
		);
		const { stdout } = await tag(service, path, "--dry-run", "--schema", schema);
		const problems = parseLines(stdout).filter((line) => at(line, "type") === "problem");
		// Of a row that lacks a key nothing is asked: all that is wrong with it is told.
		const told = problems.map((line) => `${String(at(line, "line"))} ${String(at(line, "field"))}`);
		expect(told.toSorted()).toEqual(["2 author", "3 author", "3 extra", "3 url"]);
	});

	it("is found at the cost of one list, however many rows have one", async () => {
		const service = await serve(300);
		const ids = await service.ids();
		for (const id of ids) await service.put(id, { url: "no address" });
		const path = await rows(
			ids,
			ids.map(() => "no address,"),
		);
		await ends(tag(service, path, "--dry-run", "--flavour", "documented"), 0, { unchanged: 300 });
		expect(service.requests.length).toBeLessThan(30);
	});

	it("is no problem of the manifest if the service can't be reached: the run ends for that reason", async () => {
		const { service, ids } = await world();
		const path = await rows(ids, ["no address,Ann", "no address,Bob", "no address,Ann"]);
		const { stderr } = await ends(
			ragtag(["docs", "tag", path, "-d", service.dataset, "--json", "--only-changed"], {
				env: { ...envOf(service), RAGTAG_API_KEY: "ragflow-Wrong9Key4Zq7Xw2Lp8Vt" },
			}),
			4,
			{ rows: 3, pending: 3, invalid: 0 },
		);
		expect(stderr).not.toContain("t.csv:");
	});
});
