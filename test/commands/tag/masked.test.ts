import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { type Lie, liar } from "../../support/liar.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, KEY, withoutKey } from "../../support/service.ts";
import { at, parseLines } from "../../support/values.ts";

/** A piece of the key, and what clears a screen and turns text around, as a proxy's own words may hold them. */
const hostile = `${KEY.slice(10, 22)}\u001b[2J\u001b]0;title\u0007\u202E\r\nok`;
const bare = /[^\P{Cc}\n]|\u202E/u;

/** A service that stores every file under that id and name. */
const storing =
	(id: string, name: string, isListed = true): Lie =>
	({ method, path, query }) => {
		if (method === "POST") return { code: 0, data: [{ id, name }] };
		if (method !== "GET" || path === "/api/v1/datasets") return undefined;
		const docs = isListed && query.get("id") === id ? [{ id, name, meta_fields: {} }] : [];
		return { code: 0, data: { total: docs.length, docs } };
	};

it("a piece of the key in a stored name is in no message, no row and no file of failed rows, nor is what moves a cursor", async () => {
	const service = await liar(0, storing("new", hostile));
	const path = await file("a.txt", "text");
	const manifest = await file("files.csv", `file,team\n${path},x\n`);
	const failed = join(await folder(), "failed.csv");
	const argv = ["docs", "upload", manifest, "--files-root", "/", "-d", service.dataset, "--json", "--failed", failed];
	const { stdout, stderr } = await ends(ragtag(argv, { env: envOf(service) }), 1, { uploaded: 0, failed: 1 });
	const row = parseLines(stdout).find((line) => at(line, "type") === "row");
	expect(at(row, "error_code")).toBe("RENAMED");
	const texts = [stderr, String(at(row, "error")), await readFile(failed, "utf8")];
	for (const text of texts) {
		expect(text).toContain("***");
		expect(text).toContain("\\x1b[2J");
		expect(withoutKey(text)).not.toMatch(bare);
	}
	expect(withoutKey(stdout)).not.toMatch(bare);
});

it("the same in the id and name of a file that is not stored, which stops the run", async () => {
	const service = await liar(0, storing(hostile, hostile, false));
	const path = await file("a.txt", "text");
	const { exit, stdout, stderr } = await ragtag(["docs", "upload", path, "-d", service.dataset, "--json"], {
		env: envOf(service),
	});
	expect(exit).toBe(6);
	expect(stderr).toContain("does not list it");
	expect(stderr).toContain("***\\x1b[2J");
	expect(withoutKey(stderr + stdout)).not.toMatch(bare);
});

it.each(["document_id", "id"])("the same where an update's success names another document in %s", async (member) => {
	const service = await liar(1, ({ method }) =>
		method === "PUT" ? { code: 0, data: { [member]: hostile } } : undefined,
	);
	const path = await file("tags.csv", "document_id,a\ndoc-0,1\n");
	const failed = join(await folder(), "failed.csv");
	const argv = ["docs", "tag", path, "-d", service.dataset, "--attempts", "1", "--json", "--failed", failed];
	const { exit, stdout, stderr } = await ragtag(argv, { env: envOf(service) });
	expect(exit).toBe(1);
	const row = parseLines(stdout).find((line) => at(line, "type") === "row");
	for (const text of [stderr, String(at(row, "error")), await readFile(failed, "utf8")]) {
		expect(text).toContain("answered about ***\\x1b[2J");
		expect(withoutKey(text)).not.toMatch(bare);
	}
});

it("an address that holds the key is refused before anything is sent: it would stand in plans and in records of runs", async () => {
	const service = await liar(1, () => undefined);
	const state = await folder();
	const path = await file("tags.csv", "document_id,a\ndoc-0,b\n");
	const env = { ...envOf(service), RAGTAG_BASE_URL: `${service.url}/${KEY.slice(KEY.indexOf("-") + 1)}` };
	const argv = ["docs", "tag", path, "-d", "set", "--state-dir", state];
	const { exit, stderr } = await ragtag(argv, { env });
	expect(exit).toBe(2);
	expect(withoutKey(stderr)).toContain("holds the API key; nothing was sent");
	expect(service.requests).toEqual([]);
	expect(await readdir(state)).toEqual([]);
});
