import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, serve } from "../../support/service.ts";
import { at } from "../../support/values.ts";

type Entry = { readonly document_id: string; readonly meta_fields: Readonly<Record<string, unknown>> };

function entries(ids: readonly string[]): Entry[] {
	return ids.map((id, index) => ({
		document_id: id,
		meta_fields: {
			title: `Tïtle, "${index}"\nof two lines`,
			pages: index,
			draft: index % 2 === 0,
			tags: ["a", `b${index}`],
		},
	}));
}

function csv(rows: readonly Entry[]): string {
	const lines = rows.map(({ document_id: id, meta_fields: { title, pages, draft, tags } }) => {
		const quoted = `"${String(title).replaceAll('"', '""')}"`;
		return `${id},${quoted},${String(pages)},${String(draft)},${Array.isArray(tags) ? tags.join("|") : ""}`;
	});
	return `document_id,title,pages:number,draft:boolean,tags:list\n${lines.join("\n")}\n`;
}

const forms: readonly (readonly [string, string, (rows: readonly Entry[]) => string | Uint8Array])[] = [
	["CSV", "tags.csv", csv],
	["a JSON array", "tags.json", (rows) => JSON.stringify(rows)],
	["JSON lines", "tags.jsonl", (rows) => rows.map((row) => JSON.stringify(row)).join("\n")],
	["CSV that is gzipped under another name", "tags.data", (rows) => gzipSync(csv(rows))],
];

it.each(forms)("each of 300 documents gets exactly the metadata of its row from %s", async (_what, name, text) => {
	const service = await serve(300);
	const rows = entries(await service.ids());
	const path = await file(name, text(rows));
	const argv = ["docs", "tag", path, "-d", service.dataset, "--rate", "5000", "--json"];
	await ends(ragtag(argv, { env: envOf(service) }), 0, { rows: 300, updated: 300, attempts: 300, changes: 300 });
	const held = new Map((await service.documents()).map(({ id, metadata }) => [id, metadata]));
	for (const row of rows) expect(held.get(row.document_id)).toEqual(row.meta_fields);
	expect(service.requests.filter((line) => line.startsWith("PUT"))).toHaveLength(300);
});

it("a manifest from standard input is written, and the summary goes to standard error alone", async () => {
	const service = await serve(3);
	const stdin = csv(entries(await service.ids()));
	const { stdout } = await says(
		ragtag(["docs", "tag", "-", "-d", service.dataset], { env: envOf(service), stdin }),
		0,
		"3 rows: 3 updated",
		"--mode merge keeps them",
	);
	expect(stdout).toEqual("");
	expect(at((await service.documents())[2]?.metadata, "pages")).toBe(2);
});

it("--set, --map, --ignore, --empty and the dataset of a row have their effect on the document", async () => {
	const service = await serve(1);
	const [id = ""] = await service.ids();
	const path = await file("tags.csv", `ID;dataset_id;Titel;secret;none\n${id};${service.dataset};Zum Anfang;x;\n`);
	const flags = ["--map", "ID=document_id", "--map", "Titel=title", "--ignore", "secret", "--set", "year:number=2024"];
	const argv = ["docs", "tag", path, ...flags, "--set", "team=a=b", "--empty", "null"];
	expect((await ragtag(argv, { env: envOf(service) })).exit).toBe(0);
	const metadata = { title: "Zum Anfang", none: null, year: 2024, team: "a=b" };
	expect((await service.documents())[0]?.metadata).toEqual(metadata);
});
