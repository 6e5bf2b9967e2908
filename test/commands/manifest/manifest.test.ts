import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { liar } from "../../support/liar.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, serve } from "../../support/service.ts";

const id = "5f1c0123456789abcdef0123456789ab";

it("a manifest is checked without a service, and a valid one is summarised", async () => {
	const path = await file("tags.csv", `document_id,title\n${id},a\n`);
	const { exit, stdout, stderr } = await ragtag(["manifest", "check", path, "-d", "D"]);
	expect([exit, stdout, stderr]).toEqual([0, "", `${path}: 1 row (csv), no problems\n`]);
	await ends(ragtag(["manifest", "check", path, "-d", "D", "--json"]), 0, { rows: 1, pending: 1, invalid: 0 });
});

it("--for says what is required: ids to tag and remove, files to upload", async () => {
	const tags = await file("tags.csv", `document_id,publish_date\n${id},soon\n`);
	const check = async (path: string, purpose: string): Promise<number> =>
		(await ragtag(["manifest", "check", path, "-d", "D", "--for", purpose])).exit;
	expect([await check(tags, "tag"), await check(tags, "rm"), await check(tags, "upload")]).toEqual([3, 0, 3]);
	const files = await file("files.csv", "file\nfiles.csv\n");
	expect([await check(files, "tag"), await check(files, "upload")]).toEqual([3, 0]);
});

it("manifest init names each document, and the unedited file changes none, whatever the names and keys are", async () => {
	const names = ["report.pdf", 'a,"b"\r\nc;d', "=1+1", "nul\0nul", "\u2028\u202e", "", "00123"];
	const documents = names.map((name, n) => ({ id: `doc-${n}`, name, meta_fields: { name: `key ${n}`, pages: n } }));
	const service = await liar(0, ({ method, path, query }) => {
		if (method !== "GET" || !path.endsWith("/documents")) return undefined;
		const found = query.get("page") === "1" || query.has("id") ? documents : [];
		return { code: 0, data: { total: documents.length, docs: found } };
	});
	const world = { env: envOf(service) };
	const out = join(await folder(), "tags.csv");
	expect((await ragtag(["manifest", "init", "-d", "set", "--out", out], world)).exit).toBe(0);
	const manifest = await readFile(out, "utf8");
	expect(manifest).toMatch(/^document_id,dataset_id,name,name:text,pages:number\ndoc-0,set,report.pdf,key 0,0\n/);
	expect(manifest).toContain("doc-3,set,nul\\x00nul,key 3,3\n");
	const dry = await ragtag(["docs", "tag", out, "--dry-run", "--detailed-exitcode"], world);
	expect([dry.exit, dry.stdout]).toEqual([0, "No document would change.\n"]);
});

it("manifest init writes to --out what it prints, and writes over no file", async () => {
	const service = await serve(2);
	const init = ["manifest", "init", "-d", service.dataset];
	const printed = await ragtag(init, { env: envOf(service) });
	const out = join(await folder(), "tags.csv");
	const written = ragtag([...init, "--out", out], { env: envOf(service) });
	expect((await says(written, 0, `ragtag docs tag ${out}`)).stdout).toBe("");
	await says(ragtag([...init, "--out", out], { env: envOf(service) }), 2, "exists already");
	expect(await readFile(out, "utf8")).toBe(printed.stdout);
});

it.each([true, false])("manifest init warns that a list may hide metadata, with --out: %s", async (isFile) => {
	const service = await liar(2, ({ method, path }) => {
		if (method !== "GET" || !path.endsWith("/documents")) return undefined;
		return { code: 0, data: { total: 2, docs: ["doc-0", "doc-1"].map((each) => ({ id: each, name: each })) } };
	});
	const out = isFile ? ["--out", join(await folder(), "tags.csv")] : [];
	const { stderr } = await says(
		ragtag(["manifest", "init", "-d", "set", ...out], { env: envOf(service) }),
		0,
		"or the service does not show it. In the second case docs tag would remove it",
	);
	expect(stderr).not.toContain("No document has metadata yet");
	const empty = await serve(2);
	const shown = await ragtag(
		["manifest", "init", "-d", empty.dataset, ...out.map((each) => each.replace("tags", "other"))],
		{ env: envOf(empty) },
	);
	expect(shown.stderr).not.toContain("does not show it");
});
