import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, serve } from "../../support/service.ts";
import { at, parseLines } from "../../support/values.ts";

const fast = ["--rate", "5000", "--json"];

describe("a file", () => {
	it.each(["ragflow-0.18", "ragflow-0.26"] as const)("of a type that %s refuses fails one row", async (flavour) => {
		const service = await serve(0, { flavour });
		const home = await folder();
		for (const name of ["a.txt", "b.exe", "c.txt"]) await writeFile(join(home, name), name);
		const argv = ["docs", "upload", ...["a.txt", "b.exe", "c.txt"].map((name) => join(home, name))];
		const { stdout } = await ends(ragtag([...argv, "-d", service.dataset, ...fast], { env: envOf(service) }), 1, {
			uploaded: 2,
			failed: 1,
			attempts: 3,
		});
		const row = parseLines(stdout).find((line) => at(line, "status") === "failed");
		expect(row).toMatchObject({ error_code: "CODE_500", file: expect.stringContaining("b.exe") });
		expect((await service.documents()).map(({ name }) => name).toSorted()).toEqual(["a.txt", "c.txt"]);
	});
});

it("--flavour and the profile override the recognised flavour", async () => {
	const service = await serve(1, { flavour: "ragflow-0.25" });
	const [id] = await service.ids();
	const path = await file("tags.csv", `document_id,a\n${id},1\n`);
	const argv = ["docs", "tag", path, "-d", service.dataset, "--flavour", "ragflow-put"];
	const ended = await ragtag(argv, { env: envOf(service) });
	await says(ended, 6, "405: Method Not Allowed", "not of the flavour ragflow-put, which was given by --flavour");
	expect(service.requests.filter((line) => line.startsWith("PATCH"))).toEqual([]);
	expect((await ragtag([...argv.slice(0, -1), "ragflow-3"], { env: envOf(service) })).exit).toBe(2);
});
