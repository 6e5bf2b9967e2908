import { describe, expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, serve, type Service } from "../../support/service.ts";
import { at, parseLines, summaryOf } from "../../support/values.ts";

const FAST = ["--rate", "5000", "--json"];

/** RAGFlow v0.24.0 on Elasticsearch lays an update over what is there, and answers success. */
async function merging(documents = 4): Promise<Service & { readonly tagged: readonly string[] }> {
	const service = await serve(documents, { flavour: "ragflow-0.24" });
	const ids = await service.ids();
	for (const id of ids.slice(1)) await service.put(id, { author: "Ann", category: "news" });
	return { ...service, tagged: ids };
}

async function tag(service: Service, manifest: string, flags: readonly string[] = []) {
	const path = await file("tags.csv", manifest);
	return ragtag(["docs", "tag", path, "-d", service.dataset, ...FAST, ...flags], { env: envOf(service) });
}

function codes(stdout: string): unknown[] {
	const rows = parseLines(stdout).filter((line) => at(line, "type") === "row");
	return rows.map((row) => at(row, "error_code"));
}

describe("a service that keeps keys that an update does not contain", () => {
	it("fails the rows of a replace run that should remove keys: their documents still have them", async () => {
		const service = await merging();
		// The first row removes nothing. What it proves says nothing of the others.
		const rows = service.tagged.map((id, index) => `${id},Author ${index}\n`).join("");
		const { stdout, stderr } = await ends(tag(service, `document_id,author\n${rows}`), 1, { updated: 1, failed: 3 });
		expect(codes(stdout)).toEqual(["KEYS_KEPT", "KEYS_KEPT", "KEYS_KEPT"]);
		expect(stderr).toContain("(category): this service keeps keys that an update does not have");
	});

	it("fails the rows of a merge that should remove a key", async () => {
		const service = await merging();
		const [, one] = service.tagged;
		const { exit, stdout } = await tag(service, `document_id,author,category\n${one},Ben,!delete\n`, [
			"--mode",
			"merge",
		]);

		expect([exit, codes(stdout)]).toEqual([1, ["KEYS_KEPT"]]);
	});

	it("restores all but the keys that the run added, also where it added one to the first ten documents", async () => {
		const service = await merging(13);
		const [, first, ...others] = service.tagged;
		const last = others.pop();
		const lines = [
			{ document_id: first, meta_fields: { added: "x" } },
			...others.map((id) => ({ document_id: id, meta_fields: { author: "Ben", added: "x" } })),
			{ document_id: last, meta_fields: { author: "Ben" } },
		].map((row) => JSON.stringify(row));
		const path = await file("tags.jsonl", lines.join("\n"));
		const env = { ...envOf(service), RAGTAG_STATE_DIR: await folder() };
		const argv = ["docs", "tag", path, "-d", service.dataset, "--mode", "merge", ...FAST];
		expect(summaryOf((await ragtag(argv, { env })).stdout)).toMatchObject({ updated: 12 });
		const { exit, stdout } = await ragtag(["runs", "undo", "--yes", "--concurrency", "1", ...FAST], { env });

		expect([exit, summaryOf(stdout)]).toMatchObject([1, { updated: 1, failed: 11, stop: null }]);
		expect(new Set(codes(stdout))).toEqual(new Set(["KEYS_KEPT"]));
		const before = { author: "Ann", category: "news" };
		const added = { ...before, added: "x" };
		const held = (await service.documents()).map(({ metadata }) => metadata);
		expect(held).toEqual([{}, ...Array.from({ length: 11 }, () => added), before]);
	});

	it("waits once for keys to go, and not for each row, so that the undo of many rows ends this night", async () => {
		const service = await merging(13);
		const lines = service.tagged.map((id) => JSON.stringify({ document_id: id, meta_fields: { added: "x" } }));
		const path = await file("tags.jsonl", lines.join("\n"));
		const env = { ...envOf(service), RAGTAG_STATE_DIR: await folder() };
		const argv = ["docs", "tag", path, "-d", service.dataset, "--mode", "merge", ...FAST];
		expect(summaryOf((await ragtag(argv, { env })).stdout)).toMatchObject({ updated: 13 });
		const before = service.requests.length;
		await ends(ragtag(["runs", "undo", "--yes", ...FAST], { env }), 1, { failed: 13 });
		const reads = service.requests.slice(before).filter((line) => /^GET .*[?&]ids?=/.test(line));
		expect(reads.length).toBeLessThan(13 * 3);
	});

	it("fails no row that removes nothing", async () => {
		const service = await merging();
		const rows = service.tagged.map((id, index) => `${id},Author ${index},blog\n`).join("");
		await ends(tag(service, `document_id,author,category\n${rows}`), 0, { updated: 4, failed: 0 });
	});

	it("fails the upload whose document keeps the old keys", async () => {
		const service = await merging();
		const path = await file("document-0000002.txt", "");
		const manifest = await file("files.csv", `file,author\n${path},Ben\n`);
		const flags = ["--files-root", "/", "--on-existing", "update-metadata"];
		const { exit, stdout } = await ragtag(["docs", "upload", manifest, "-d", service.dataset, ...FAST, ...flags], {
			env: envOf(service),
		});

		expect([exit, codes(stdout)]).toEqual([1, ["KEYS_KEPT"]]);
	});
});
