import { expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { ragtag, envOf } from "../../support/ragtag.ts";
import { file, folder, serve } from "../../support/service.ts";

const OPTIONS = `dataset: D
map:
  Titel: title
types:
  Budget: number
  Frei: boolean
ignore: Notiz
set:
  source: list
  year: 2024
decimal_comma: true
date_format: DD.MM.YYYY
true: [ja]
false: [nein]
names: flat
`;

const table = (ids: readonly string[]): string =>
	`document_id;Titel;Budget;Frei;Stand;Notiz\n${ids.map((id) => `${id};Bericht;1.234,5;ja;24.12.2024;x\n`).join("")}`;

it("options kept in a file are those that would be typed, and are said once", async () => {
	const list = await file("liste.csv", table(["a"]));
	const config = await file("options.yaml", OPTIONS);
	const { exit, stderr } = await ragtag(["manifest", "check", list, "--config", config]);
	expect([exit, stderr]).toEqual([
		0,
		`From ${config}: dataset, date_format, ignore, true, false, map, types, set, decimal_comma\n${list}: 1 row (csv), no problems\n`,
	]);
});

it("what is typed wins: a flag for its member, --map and --set for their column and key", async () => {
	const service = await serve(1);
	const ids = await service.ids();
	const list = await file("liste.csv", table(ids));
	const config = await file("options.yaml", OPTIONS);
	const world = { env: { ...envOf(service), RAGTAG_STATE_DIR: await folder() } };
	const typed = ["-d", service.dataset, "--map", "Stand=date", "--set", "source=typed", "--config", config];
	const tagged = await ends(ragtag(["docs", "tag", list, ...typed, "--json"], world), 0, { updated: 1 });
	const [{ metadata } = { metadata: undefined }] = await service.documents();
	expect(metadata).toEqual({
		title: "Bericht",
		Budget: 1234.5,
		Frei: true,
		date: "2024-12-24",
		source: "typed",
		year: 2024,
	});
	expect(tagged.stderr).not.toContain("dataset,");

	// The record has the options, so the file may be gone.
	await ends(ragtag(["docs", "tag", list, ...typed, "--only-changed", "--json"], world), 0, { unchanged: 1 });
	const report = await ragtag(["runs", "report", "--json"], world);
	expect(report.exit).toBe(0);
});

it("a wrong file is exit 2 before the manifest is read", async () => {
	const check = async (content: string): Promise<string> => {
		const config = await file("options.yaml", content);
		const { exit, stderr } = await ragtag(["manifest", "check", "no-such-file.csv", "--config", config]);
		expect(exit).toBe(2);
		return stderr;
	};
	expect(await check("api_key: x")).toContain("never names a server, a key or a command");
	expect(await check("encoding: klingon")).toContain("encoding: It must be the name of an encoding");
	expect(await check("empty: never")).toContain("empty: Allowed choices are skip, null, text");
	expect(await check("types: {a: zahl}")).toContain("types: a has the type zahl");
	const missing = await ragtag(["manifest", "check", "no-such-file.csv", "--config", "no-such.yaml"]);
	expect([missing.exit, missing.stderr]).toEqual([2, expect.stringContaining("--config: no-such.yaml can't be read")]);
});

it("a type of a column that is not there is a problem, and a type in the header wins", async () => {
	const config = await file("options.yaml", "types: {Budget: number, Preis: number}");
	const list = await file("liste.csv", "document_id,Budget:text\na,x\n");
	const ended = await ragtag(["manifest", "check", list, "-d", "D", "--config", config]);
	await says(ended, 3, "Preis: types of --config names a column that the header does not have");
});
