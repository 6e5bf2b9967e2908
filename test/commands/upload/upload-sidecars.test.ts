import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { says } from "../../support/ended.ts";
import { recorded, type RecordedOptions, runOf, stopAt } from "../../support/recorded.ts";
import { file, folder } from "../../support/service.ts";
import { summaryOf } from "../../support/values.ts";

/** A folder with two files, of which one has a sidecar, and the command that uploads all that is in it. */
async function papers(sidecar: string, options: RecordedOptions = {}) {
	const world = await recorded(0, options);
	const home = await folder();
	const path = (name: string): string => join(home, name);
	await writeFile(path("a.pdf"), "the file a");
	await writeFile(path("a.pdf.meta.json"), sidecar);
	await writeFile(path("b.txt"), "the file b");
	const all = ["a.pdf", "a.pdf.meta.json", "b.txt"].map(path);
	const upload = (...more: string[]) =>
		world.run(["docs", "upload", ...all, "-d", world.service.dataset, "--json", ...more]);
	const held = async (): Promise<Record<string, unknown>> => {
		return Object.fromEntries((await world.service.documents()).map(({ name, metadata }) => [name, metadata]));
	};
	return { ...world, path, upload, held };
}

it("reads papers/* as files with their metadata: the sidecars would be documents", async () => {
	const { upload, held } = await papers('{"title":"A","pages":7}');
	const { exit, stdout, stderr } = await upload("--set", "team=docs");
	expect([exit, await held()]).toEqual([
		0,
		{ "a.pdf": { title: "A", pages: 7, team: "docs" }, "b.txt": { team: "docs" } },
	]);
	expect(stderr).toContain("1 sidecar is read as metadata, and not uploaded; --no-sidecars uploads them.");
	expect(summaryOf(stdout)).toMatchObject({ rows: 2, uploaded: 2 });
});

it("takes what stands in meta_fields, under other names and without ignored ones, and what --set gives wins", async () => {
	const { upload, held } = await papers('{"meta_fields":{"Titel":"A","draft":1,"team":"x"}}');
	expect((await upload("--map", "Titel=title", "--ignore", "draft", "--set", "team=docs")).exit).toBe(0);
	expect(await held()).toEqual({ "a.pdf": { title: "A", team: "docs" }, "b.txt": { team: "docs" } });
});

it("uploads them with --no-sidecars, and where their file is not named", async () => {
	const { upload, held, run, path, service } = await papers('{"title":"A"}');
	expect((await upload("--no-sidecars")).exit).toBe(0);
	expect(await held()).toEqual({ "a.pdf": {}, "a.pdf.meta.json": {}, "b.txt": {} });
	const alone = ["docs", "upload", path("b.txt"), path("a.pdf.meta.json"), "-d", service.dataset];
	expect((await run([...alone, "--on-existing", "upload-again"])).exit).toBe(0);
	expect(await service.documents()).toHaveLength(5);
});

it.each([
	["no JSON", '{"title":', "a.pdf.meta.json:1:10: "],
	["no date", '{\n "publish_date": "1.2.24"}', "a.pdf.meta.json:2:18: publish_date: "],
])("with %s uploads nothing: the file would be there without its metadata", async (_, sidecar, place) => {
	const { upload, service } = await papers(sidecar);
	await says(upload(), 3, place, "ragtag: the sidecars have 1 problem; nothing was sent");
	expect(service.requests).toEqual([]);
});

it("is exit 3 by a schema that one breaks", async () => {
	const { upload, service } = await papers('{"title":"A"}');
	const schema = await file("schema.json", '{"required":["pages"]}');
	expect((await upload("--schema", schema)).exit).toBe(3);
	expect(service.requests).toEqual([]);
});

it("resumes with the metadata that was checked, and the failed rows keep it", async () => {
	const world = await papers('{"title":"A"}', stopAt(2, "POST"));
	const stopped = await world.upload("--concurrency", "1");
	expect(stopped.exit).toBe(4);
	await writeFile(world.path("a.pdf.meta.json"), '{"title":"changed"}');
	// The upload in doubt is looked for again after ten seconds, or after the timeout where that is longer.
	expect((await world.run(["runs", "resume", runOf(stopped.stdout), "--timeout", "1s"])).exit).toBe(0);
	expect(await world.held()).toEqual({ "a.pdf": { title: "A" }, "b.txt": {} });

	const failed = join(await folder(), "failed.jsonl");
	expect((await world.upload("--failed", failed)).exit).toBe(1);
	expect(await readFile(failed, "utf8")).toContain('"title":"changed"');
});
