import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { rawWorld, updates } from "../../support/raw-world.ts";
import { file, folder } from "../../support/service.ts";
import { at, parseLines, summaryOf } from "../../support/values.ts";

// Half a surrogate pair: what cutting a text in two leaves of an emoji.
const HALVES = ['{"a":"x\\ud83dy","b":1}', '{"a":"whole \\ud83d\\ude00"}', '{"a":["p\\ude00"],"c":{"d\\ud800":"e"}}'];

describe("text with half a surrogate pair", () => {
	it("is written by manifest init so that the unedited file changes nothing, with a warning", async () => {
		const service = await rawWorld(HALVES);
		const out = join(await folder(), "tags.csv");
		const made = await service.run("manifest", "init", "-d", "set", "--out", out);
		await says(made, 0, /warning: 2 documents have text with half a surrogate pair .*document doc-0, key a/);
		const text = await readFile(out, "utf8");
		expect(text).not.toContain("\ufffd");
		expect(text).toContain('"""x\\ud83dy"""');
		await ends(service.run("docs", "tag", out, "--dry-run", "--detailed-exitcode", "--json"), 0, { unchanged: 3 });
	});

	it.each(["multipart", "plain", "json"])("is sent unchanged, in the body form %s", async (form) => {
		const service = await rawWorld(['{"n":1}']);
		const path = await file("tags.csv", 'document_id,a:json\ndoc-0,"""x\\ud83dy"""\n');
		const argv = ["docs", "tag", path, "-d", "set", "--flavour", "documented", "--body", form];
		expect((await service.run(...argv)).exit).toBe(0);
		expect(service.held.get("doc-0")).toEqual({ a: "x\ud83dy" });
	});

	it("can be undone, and merged with", async () => {
		const service = await rawWorld(HALVES);
		const path = await file("tags.csv", "document_id,z\ndoc-0,1\n");
		const { stdout } = await service.run("docs", "tag", path, "-d", "set", "--mode", "merge", "--json");
		expect(service.held.get("doc-0")).toEqual({ a: "x\ud83dy", b: 1, z: "1" });
		await service.run("runs", "undo", String(at(summaryOf(stdout), "run")), "--yes");
		expect(service.held.get("doc-0")).toEqual({ a: "x\ud83dy", b: 1 });
	});

	it("in two rows of one document is equal only if it is the same half", async () => {
		const service = await rawWorld(HALVES);
		const row = (half: string): string => `{"document_id":"doc-0","a":"${half}"}\n`;
		const other = await file("tags.jsonl", row("\\ud83d") + row("\\ud83e"));
		expect((await service.run("docs", "tag", other, "-d", "set")).exit).toBe(3);
		const same = await file("tags.jsonl", row("\\ud83d") + row("\\uD83D"));
		await ends(service.run("docs", "tag", same, "-d", "set", "--json"), 0, { updated: 1, duplicate_skipped: 1 });
	});

	it("in a key is possible only in JSON: no header can contain it", async () => {
		const service = await rawWorld(['{"a\\ud83d":1}']);
		await says(service.run("manifest", "init", "-d", "set"), 2, "half a surrogate pair");
		const { stdout } = await service.run("docs", "list", "-d", "set", "--json");
		expect(parseLines(stdout)).toEqual([expect.objectContaining({ meta_fields: { "a\ud83d": 1 } })]);
	});

	it("in a name is a problem of its row: no address and no file can have it", async () => {
		const service = await rawWorld(HALVES);
		const path = await file("names.jsonl", '{"name":"a\\ud83d","k":1}\n');
		const { exit, stdout } = await service.run("docs", "resolve", path, "-d", "set", "--json");
		expect([exit, stdout]).toEqual([3, expect.stringContaining("LONE_SURROGATE")]);
	});
});

describe("metadata that is nested deep", () => {
	const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

	it("is read and written to the same depth, in CSV and in JSON", async () => {
		const service = await rawWorld([nested(64)]);
		const out = join(await folder(), "tags.csv");
		expect((await service.run("manifest", "init", "-d", "set", "--out", out)).exit).toBe(0);
		await says(service.run("docs", "tag", out, "--dry-run", "--detailed-exitcode"), 0, "1 unchanged");
		const listed = await service.run("docs", "list", "-d", "set", "--json");
		const again = await service.run("docs", "tag", await file("t.jsonl", listed.stdout), "--only-changed", "--json");
		expect(summaryOf(again.stdout)).toMatchObject({ unchanged: 1 });
	});

	it.each([
		["a cell", "t.csv", `document_id,a:json\ndoc-0,"${nested(64).replaceAll('"', '""')}"\n`],
		["a row", "t.jsonl", `{"document_id":"doc-0","a":${nested(64)}}\n`],
		["meta_fields", "t.jsonl", `{"document_id":"doc-0","meta_fields":${nested(65)}}\n`],
	])("is never written deeper than it could be read back, from %s", async (_, name, text) => {
		const service = await rawWorld(["{}"]);
		const { exit, stdout } = await service.run("docs", "tag", await file(name, text), "-d", "set", "--json");
		expect([exit, stdout, updates(service)]).toEqual([3, expect.stringContaining("TOO_DEEP"), []]);
	});
});
