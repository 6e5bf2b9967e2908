import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, serve } from "../../support/service.ts";
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
	const { exit, stdout, stderr } = await ragtag(["docs", "tag", "-", "-d", service.dataset], {
		env: envOf(service),
		stdin,
	});
	expect([exit, stdout]).toEqual([0, ""]);
	expect(stderr).toContain("3 rows: 3 updated");
	expect(stderr).toContain("--mode merge keeps them");
	expect(at((await service.documents())[2]?.metadata, "pages")).toBe(2);
});

it("--set, --map, --ignore and the dataset of a row have their effect on the document", async () => {
	const service = await serve(1);
	const [id = ""] = await service.ids();
	const path = await file("tags.csv", `ID;dataset_id;Titel;secret\n${id};${service.dataset};Zum Anfang;x\n`);
	const flags = ["--map", "ID=document_id", "--map", "Titel=title", "--ignore", "secret", "--set", "year:number=2024"];
	const { exit } = await ragtag(["docs", "tag", path, ...flags, "--set", "team=a=b"], { env: envOf(service) });
	expect(exit).toBe(0);
	expect((await service.documents())[0]?.metadata).toEqual({ title: "Zum Anfang", year: 2024, team: "a=b" });
});

it.each([
	["skip", { kept: "x" }],
	["null", { kept: "x", empty: null }],
	["text", { kept: "x", empty: "" }],
] as const)("an empty cell means what --empty %s says", async (meaning, metadata) => {
	const service = await serve(1);
	const [id = ""] = await service.ids();
	const path = await file("tags.csv", `document_id,kept,empty\n${id},x,\n`);
	const argv = ["docs", "tag", path, "-d", service.dataset, "--empty", meaning];
	expect((await ragtag(argv, { env: envOf(service) })).exit).toBe(0);
	expect((await service.documents())[0]?.metadata).toEqual(metadata);
});

it.each(["plain", "json", "multipart", "auto"])("--body %s transfers the metadata unchanged", async (body) => {
	const service = await serve(1);
	const [id = ""] = await service.ids();
	const path = await file("tags.json", JSON.stringify([{ document_id: id, text: "--x\r\n€ 😀", zero: 0 }]));
	const argv = ["docs", "tag", path, "-d", service.dataset, "--body", body];
	expect((await ragtag(argv, { env: envOf(service) })).exit).toBe(0);
	expect((await service.documents())[0]?.metadata).toEqual({ text: "--x\r\n€ 😀", zero: 0 });
});

it.each([
	["documented", []],
	["documented", ["--no-undo"]],
	["ragflow-0.27", []],
	["ragflow-0.27", ["--no-undo"]],
] as const)(
	"a second run reads back a sample, not every row, and an undo of the first few documents: %s %s",
	async (flavour, flags) => {
		const service = await serve(120, { flavour });
		const ids = await service.ids();
		await service.put(ids[0] ?? "", { author: "Bob" });
		const path = await file("tags.csv", `document_id,author\n${ids.map((id) => `${id},Ann\n`).join("")}`);
		const fast = ["--rate", "5000", "--json"];
		const home = await folder();
		const reads = async (argv: readonly string[], from: string, counts: object): Promise<string[]> => {
			const before = service.requests.length;
			await ends(ragtag(argv, { env: envOf(service), home: from }), 0, counts);
			return service.requests.slice(before).filter((line) => line.startsWith("GET"));
		};
		const argv = ["docs", "tag", path, "-d", service.dataset, ...fast, ...flags];
		await reads(argv, home, { updated: 120 });
		const undo =
			flags.length > 0 ? [] : await reads(["runs", "undo", "--yes", ...fast], home, { failed: 0, pending: 0 });
		expect(undo.length).toBeLessThan(30);
		// On this machine, and on another one with a state folder of its own.
		for (const from of [home, await folder()]) {
			const read = await reads(argv, from, { updated: 120 });
			expect(read.length).toBeLessThan(45);
			if (flags.length > 0 && from === home) expect(read.filter((line) => line.includes("page_size=100"))).toEqual([]);
		}
	},
);
