import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { rawWorld, updates } from "../../support/raw-world.ts";
import { file, folder } from "../../support/service.ts";
import { at, parse, parseLines, summaryOf } from "../../support/values.ts";

// What RAGFlow v0.12 to v0.23 lists once a script has sent NaN for an empty cell.
const RAW = ['{"pages":NaN,"owner":"Ann"}', '{"owner":"Bob","pages":3}', '{"owner":"Cy","scores":[1,-Infinity]}'];
const MANIFEST = "document_id,owner\ndoc-0,Eve\ndoc-1,Eve\n";
const DOC_0 = "PUT /api/v1/datasets/set/documents/doc-0";

describe("a dataset with NaN in it can be read", () => {
	it.each([
		["table", ["doc-0.txt  Ann    NaN                   doc-0", "doc-2.txt  Cy            [1,-Infinity]  doc-2"]],
		["tsv", ['{"pages":NaN,"owner":"Ann"}', '"scores":[1,-Infinity]']],
	])("as %s, unchanged, with a note that names document and key", async (format, shown) => {
		const service = await rawWorld(RAW);
		const { exit, stdout, stderr } = await service.run("docs", "list", "-d", "set", "--format", format);
		expect(exit).toBe(0);
		for (const text of shown) expect(stdout).toContain(text);
		expect(stderr).toMatch(/warning: 2 documents have NaN .*document doc-0, key pages; document doc-2, key scores/);
	});

	it.each(["json", "jsonl"])("as %s, which stays JSON: the value is next to the metadata, as text", async (format) => {
		const service = await rawWorld(RAW);
		const { exit, stdout, stderr } = await service.run("docs", "list", "-d", "set", "--format", format);
		expect(exit).toBe(0);
		const documents = format === "json" ? parse(stdout) : parseLines(stdout);
		expect(documents).toEqual([
			expect.objectContaining({ meta_fields: { owner: "Ann" }, not_json: { pages: "NaN" } }),
			expect.not.objectContaining({ not_json: expect.anything() }),
			expect.objectContaining({ meta_fields: { owner: "Cy" }, not_json: { scores: "[1,-Infinity]" } }),
		]);
		expect(stderr).toContain('in "not_json"');
		// Fed back it would remove the keys without a word.
		const tagged = await service.run("docs", "tag", await file("list.json", stdout), "-d", "set");
		expect([tagged.exit, tagged.stderr, updates(service)]).toEqual([3, expect.stringContaining("not_json"), []]);
	});

	it("also if the service keeps metadata as JSON text", async () => {
		const service = await rawWorld(['"{\\"pages\\": NaN}"']);
		const { stdout } = await service.run("docs", "list", "-d", "set", "--fields", "document_id,pages");
		expect(stdout).toBe("document_id\tpages\ndoc-0\tNaN\n");
	});

	it("a filter finds it", async () => {
		const service = await rawWorld(RAW);
		const { stdout } = await service.run("docs", "list", "-d", "set", "--where", "pages=NaN", "--json");
		expect(parseLines(stdout)).toHaveLength(1);
	});

	it("manifest init leaves that key out and reports it; the unedited file changes nothing else", async () => {
		const service = await rawWorld(RAW.slice(0, 2));
		const out = join(await folder(), "tags.csv");
		const made = await service.run("manifest", "init", "-d", "set", "--out", out);
		const text =
			"document_id,dataset_id,name,owner,pages:number\ndoc-0,set,doc-0.txt,Ann,\ndoc-1,set,doc-1.txt,Bob,3\n";
		expect([made.exit, await readFile(out, "utf8")]).toEqual([0, text]);
		expect(made.stderr).toMatch(/warning: 1 document has NaN .*document doc-0, key pages.*left empty/);
		const dry = await service.run("docs", "tag", out, "--dry-run", "--json");
		expect(parseLines(dry.stdout).filter((line) => at(line, "type") === "change")).toEqual([
			expect.objectContaining({ document_id: "doc-0", add: {}, change: {}, remove: { pages: "NaN" } }),
		]);
		const merged = await service.run("docs", "tag", out, "--mode", "merge", "--only-changed", "--json");
		expect(summaryOf(merged.stdout)).toMatchObject({ exit_code: 1, failed: 1, unchanged: 1 });
		expect(merged.stdout).toContain('"NOT_JSON"');
		const { exit } = await service.run("docs", "tag", out, "--only-changed");
		expect([exit, service.held.get("doc-0"), service.held.get("doc-1")]).toEqual([0, { owner: "Ann" }, {}]);
	});

	it("manifest init writes a list that contains one so that docs tag refuses the cell: the other items would be lost", async () => {
		const service = await rawWorld(RAW);
		const out = join(await folder(), "tags.csv");
		expect((await service.run("manifest", "init", "-d", "set", "--out", out)).exit).toBe(0);
		expect(await readFile(out, "utf8")).toContain('"[1,-Infinity]"');
		const { exit, stderr } = await service.run("docs", "tag", out);
		expect([exit, stderr, updates(service)]).toEqual([3, expect.stringContaining(`${out}:4:`), []]);
	});

	it.each([[[]], [["--mode", "merge"]]])("a dry run reads it, with %j", async (more) => {
		const service = await rawWorld(RAW);
		const path = await file("tags.csv", "document_id,owner\ndoc-1,Eve\n");
		const { exit, stdout } = await service.run("docs", "tag", path, "-d", "set", "--dry-run", "--json", ...more);
		expect([exit, summaryOf(stdout)]).toEqual([0, expect.objectContaining({ changes: 1, failed: 0 })]);
	});
});

describe("a value that is not JSON is never written back", () => {
	it.each([[[]], [["--only-changed"]], [["--dry-run"]]])(
		"a merge of another key fails only that row and names the key and the remedy, with %j",
		async (more) => {
			const service = await rawWorld(RAW);
			const path = await file("tags.csv", MANIFEST);
			const argv = ["docs", "tag", path, "-d", "set", "--mode", "merge", "--json", ...more];
			const { stdout } = await ends(service.run(...argv), 1, { failed: 1, changes: 1 });
			expect(parseLines(stdout).filter((line) => at(line, "type") === "row")).toEqual([
				expect.objectContaining({
					document_id: "doc-0",
					error_code: "NOT_JSON",
					error: expect.stringMatching(/document doc-0 has NaN .*\(key: pages\); nothing was sent; a row that gives/),
				}),
			]);
			expect(updates(service)).not.toContain(DOC_0);
		},
	);

	it("a replace is sent, and the undo leaves that document alone and names it", async () => {
		const service = await rawWorld(RAW);
		const path = await file("tags.csv", MANIFEST);
		const { exit, stdout } = await service.run("docs", "tag", path, "-d", "set", "--json");
		expect([exit, service.held.get("doc-0")]).toEqual([0, { owner: "Eve" }]);
		const undone = await service.run("runs", "undo", String(at(summaryOf(stdout), "run")), "--yes", "--json");
		expect(summaryOf(undone.stdout)).toMatchObject({ updated: 1, invalid: 1 });
		expect(undone.stderr).toContain("1 row can't be undone, because their previous values are not known (doc-0)");
		expect([service.held.get("doc-0"), service.held.get("doc-1")]).toEqual([
			{ owner: "Eve" },
			{ owner: "Bob", pages: 3 },
		]);
	});

	it("a removal is sent", async () => {
		const service = await rawWorld(RAW);
		const { exit } = await service.run("docs", "rm", "-d", "set", "--id", "doc-0", "--yes");
		expect([exit, Array.from(service.held.keys())]).toEqual([0, ["doc-1", "doc-2"]]);
	});
});
