import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, serve } from "../../support/service.ts";
import { at, parseLines } from "../../support/values.ts";

const TAKEN = '{"t":"x","n":1.5,"b":false,"l":["x","y"],"e":[]}';
const VALUES = [
	["null", "null"],
	["a nested object", '{"x":1}'],
	["a list of objects", '[{"x":1}]'],
	["a list with null", '["x",null]'],
] as const;

/** Flavours, what a row has that they don't accept, and metadata that they do. v1.0 accepts no booleans either. */
const RELEASES = [
	...VALUES.map(([what, value]) => ["ragflow-0.26", what, value, TAKEN] as const),
	...[...VALUES, ["a boolean", "true"] as const, ["a list of booleans", "[false]"] as const].map(
		([what, value]) => ["ragflow-1.0", what, value, TAKEN.replace('"b":false,', "")] as const,
	),
].flatMap((row) => [["upload", ...row] as const, ["tag", ...row] as const]);

it.each(RELEASES)(
	"docs %s to %s: %s fails its row before anything of it is sent, and the other row is sent",
	async (verb, flavour, _, value, taken) => {
		const service = await serve(verb === "tag" ? 2 : 0, { flavour });
		const [bad = "bad.txt", good = "good.txt"] = await service.ids();
		const key = verb === "tag" ? "document_id" : "file";
		const lines = [`{"${key}":"${bad}","meta_fields":{"k":${value}}}`, `{"${key}":"${good}","meta_fields":${taken}}`];
		const manifest = await file("rows.jsonl", lines.join("\n"));
		for (const name of [bad, good]) await writeFile(join(manifest, "..", name), name);
		const argv = ["docs", verb, manifest, "-d", service.dataset, "--json"];
		await ends(ragtag([...argv, "--dry-run"], { env: envOf(service) }), 1, { failed: 1 });
		const counts = { failed: 1, ...(verb === "tag" ? { updated: 1 } : { uploaded: 1 }) };
		const { stdout } = await ends(ragtag(argv, { env: envOf(service) }), 1, counts);
		expect(parseLines(stdout).find((line) => at(line, "error_code") === "VALUE_NOT_TAKEN")).toMatchObject({
			error: expect.stringContaining("Nothing was sent"),
		});
		expect(service.requests.filter((line) => line.includes(bad) && !line.startsWith("GET"))).toEqual([]);
		if (verb === "upload") expect(await service.documents()).toMatchObject([{ name: good }]);
	},
);

it("a value that a release takes is written, whatever it is", async () => {
	const service = await serve(1, { flavour: "ragflow-0.21" });
	const [id = ""] = await service.ids();
	const manifest = await file("tags.jsonl", `{"document_id":"${id}","meta_fields":{"k":null,"o":{"x":[{}]}}}`);
	expect((await ragtag(["docs", "tag", manifest, "-d", service.dataset], { env: envOf(service) })).exit).toBe(0);
	expect(await service.documents()).toMatchObject([{ metadata: { k: null, o: { x: [{}] } } }]);
});
