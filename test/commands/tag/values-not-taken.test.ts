import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, serve } from "../../support/service.ts";
import { at, parseLines } from "../../support/values.ts";

const VALUES = [
	["null", "null"],
	["a nested object", '{"x":1}'],
	["a list of objects", '[{"x":1}]'],
	["a list with null", '["x",null]'],
] as const;

const TAKEN = '{"t":"x","n":1.5,"b":false,"l":["x","y"],"e":[]}';

/** Flavours, what a row has that they don't accept, and metadata that they do. v1.0 accepts no booleans either. */
const RELEASES = [
	...VALUES.map(([what, value]) => ["ragflow-0.26", what, value, TAKEN] as const),
	...[...VALUES, ["a boolean", "true"] as const, ["a list of booleans", "[false]"] as const].map(
		([what, value]) => ["ragflow-1.0", what, value, TAKEN.replace('"b":false,', "")] as const,
	),
];
const codes = (stdout: string): unknown[] =>
	parseLines(stdout).flatMap((line) => (at(line, "type") === "row" ? [at(line, "error_code")] : []));

describe("a value that a release with PATCH does not accept", () => {
	it.each(RELEASES)("%s: %s fails its row before its file is stored", async (flavour, _, value, taken) => {
		const service = await serve(0, { flavour });
		const lines = [`{"file":"bad.txt","meta_fields":{"k":${value}}}`, `{"file":"good.txt","meta_fields":${taken}}`];
		const manifest = await file("files.jsonl", lines.join("\n"));
		for (const name of ["bad.txt", "good.txt"]) await writeFile(join(manifest, "..", name), name);
		const argv = ["docs", "upload", manifest, "-d", service.dataset, "--json"];
		await ends(ragtag([...argv, "--dry-run"], { env: envOf(service) }), 1, { failed: 1 });
		const { stdout } = await ends(ragtag(argv, { env: envOf(service) }), 1, { uploaded: 1, failed: 1 });
		expect(codes(stdout)).toContain("VALUE_NOT_TAKEN");
		expect(stdout).toContain("Nothing was sent");
		expect((await service.documents()).map(({ name }) => name)).toEqual(["good.txt"]);
	});

	it.each(RELEASES)(
		"%s: %s fails its row of docs tag, and nothing is sent for it",
		async (flavour, _, value, taken) => {
			const service = await serve(2, { flavour });
			const [one = "", two = ""] = await service.ids();
			const rows = [
				`{"document_id":"${one}","meta_fields":{"k":${value}}}`,
				`{"document_id":"${two}","meta_fields":${taken}}`,
			];
			const manifest = await file("tags.jsonl", rows.join("\n"));
			const argv = ["docs", "tag", manifest, "-d", service.dataset, "--json"];
			await ends(ragtag([...argv, "--dry-run"], { env: envOf(service) }), 1, { failed: 1 });
			const { stdout } = await ends(ragtag(argv, { env: envOf(service) }), 1, { updated: 1, failed: 1 });
			expect(codes(stdout)).toEqual(["VALUE_NOT_TAKEN"]);
			expect(service.requests.filter((line) => line.includes(one) && line.startsWith("PATCH"))).toEqual([]);
		},
	);

	it("is written if the release accepts any value", async () => {
		const service = await serve(1, { flavour: "ragflow-0.21" });
		const [id = ""] = await service.ids();
		const manifest = await file("tags.jsonl", `{"document_id":"${id}","meta_fields":{"k":null,"o":{"x":[{}]}}}`);
		const { exit } = await ragtag(["docs", "tag", manifest, "-d", service.dataset], { env: envOf(service) });
		expect(exit).toBe(0);
		expect(await service.documents()).toMatchObject([{ metadata: { k: null, o: { x: [{}] } } }]);
	});
});
