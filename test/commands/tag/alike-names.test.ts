import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, serve } from "../../support/service.ts";
import { summaryOf } from "../../support/values.ts";

const PAIRS = [
	["letter case", "Report.txt", "report.TXT"],
	["accents", "résumé.txt", "Resume.txt"],
	["a blank at the end", "a.txt", "a.txt "],
] as const;

async function manifestOf(rows: readonly string[]): Promise<string> {
	const lines = rows.map((name, n) => `file-${n}.txt,${name},${n}\n`);
	const manifest = await file("files.csv", `file,name,n\n${lines.join("")}`);
	for (const n of rows.keys()) await writeFile(join(manifest, "..", `file-${n}.txt`), `text ${n}`);
	return manifest;
}

describe.each(PAIRS)("two rows whose names differ by %s", (_, one, other) => {
	it("are a problem of the manifest for RAGFlow, which would store the second under a number", async () => {
		const service = await serve(0, { flavour: "ragflow-0.26" });
		const manifest = await manifestOf([one, "between.txt", other]);
		const argv = ["docs", "upload", manifest, "-d", service.dataset];
		const ended = await ragtag(argv, { env: envOf(service) });
		await says(ended, 3, `${manifest}:4:1: file: the same name to store under as on line 2`, "--on-duplicate");
		expect(await service.documents()).toEqual([]);
		const first = await ragtag([...argv, "--on-duplicate", "first", "--json"], { env: envOf(service) });
		expect([first.exit, summaryOf(first.stdout)]).toMatchObject([0, { uploaded: 2, duplicate_skipped: 1 }]);
	});

	it.each(["documented", "ragflow-1.0"] as const)("are two documents to %s", async (flavour) => {
		const service = await serve(0, { flavour });
		const argv = ["docs", "upload", await manifestOf([one, other]), "-d", service.dataset, "--json"];
		await ends(ragtag(argv, { env: envOf(service) }), 0, { uploaded: 2 });
	});
});

it("a manifest that is invalid anyway asks the service nothing about its names", async () => {
	const service = await serve(0, { flavour: "ragflow-0.26" });
	const manifest = await file("files.csv", "file,name\nabsent.txt,b.txt\nfiles.csv,a.txt\nfiles.csv,A.txt\n");
	const { exit } = await ragtag(["docs", "upload", manifest, "-d", service.dataset], { env: envOf(service) });
	expect([exit, service.requests]).toEqual([3, []]);
});

it("files named on the command line that are one name to RAGFlow are refused before anything is written", async () => {
	const service = await serve(0, { flavour: "ragflow-0.26" });
	const paths = [join(await folder(), "a.txt"), join(await folder(), "A.TXT")];
	for (const path of paths) await writeFile(path, path);
	const argv = ["docs", "upload", ...paths, "-d", service.dataset];
	await says(ragtag(argv, { env: envOf(service) }), 2, "would be stored under one name by this service");
	expect(await service.documents()).toEqual([]);
	const other = await serve(0);
	expect((await ragtag(["docs", "upload", ...paths, "-d", other.dataset], { env: envOf(other) })).exit).toBe(0);
});
