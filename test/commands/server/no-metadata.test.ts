import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { liar } from "../../support/liar.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder } from "../../support/service.ts";
import { summaryOf } from "../../support/values.ts";

const UPLOAD_DRY = ["docs", "upload", "tags.csv", "--on-existing", "update-metadata", "--dry-run"];

it.each([
	["--only-changed", ["docs", "tag", "tags.csv", "--only-changed"]],
	["--dry-run", ["docs", "tag", "tags.csv", "--dry-run"]],
	["--dry-run", UPLOAD_DRY],
	["docs plan", ["docs", "plan", "tags.csv", "--out", "plan.jsonl"]],
	["--verify", ["docs", "tag", "tags.csv", "--verify", "all"]],
	["--verify", ["docs", "upload", "tags.csv", "--verify", "all"]],
	["--verify", ["docs", "upload", "--as", "files", "tags.csv", "--verify", "all"]],
])("%s is refused where the list shows no metadata, as every value would appear new: %j", async (what, words) => {
	const docs = [{ id: "doc-0", dataset_id: "set", name: "doc-0.txt" }];
	const service = await liar(1, ({ method, path }) =>
		method === "GET" && path.endsWith("/documents") ? { code: 0, data: { total: 1, docs } } : undefined,
	);
	const state = await folder();
	const path = await file("tags.csv", "document_id,file,a\ndoc-0,tags.csv,1\n");
	const given = words.map((word) => (word.includes(".") ? join(dirname(path), word) : word));
	const argv = [...given, "-d", "set", "--state-dir", state, "--json"];
	const { exit, stdout, stderr } = await ragtag(argv, { env: envOf(service) });
	expect([exit, stderr]).toEqual([
		2,
		expect.stringContaining(`shows no metadata, so ${what} has nothing to compare with; nothing was sent`),
	]);
	expect(summaryOf(stdout)).toMatchObject({ pending: 1, updated: 0, uploaded: 0, run: null, exit_code: 2 });
	expect(service.requests.filter((line) => !line.startsWith("GET") && line.includes("/set/"))).toEqual([]);
	await expect(stat(join(state, "runs"))).rejects.toThrow();
	expect(await readdir(dirname(path))).toEqual(["tags.csv"]);
});
