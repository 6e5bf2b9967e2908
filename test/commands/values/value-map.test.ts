import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { liar } from "../../support/liar.ts";
import { rawWorld } from "../../support/raw-world.ts";
import { envOf, type Ended, ragtag, type World } from "../../support/ragtag.ts";
import { ONE_BY_ONE, recorded, resumeOf, runOf, stopAt } from "../../support/recorded.ts";
import { schemaFaults } from "../../support/schemas.ts";
import { file, folder, serve, type Service } from "../../support/service.ts";
import { parseLines, summaryOf } from "../../support/values.ts";

/** A dataset with these values, and a way to call the program with one state folder. */
async function holding(...metadata: readonly object[]): Promise<{
	service: Service;
	ids: readonly string[];
	run: (argv: readonly string[], world?: World) => Promise<Ended>;
	held: () => Promise<unknown[]>;
}> {
	const service = await serve(metadata.length);
	const ids = await service.ids();
	for (const [at, each] of metadata.entries()) await service.put(ids[at] ?? "", each);
	const state = await folder();
	return {
		service,
		ids,
		run: (argv, world) =>
			ragtag([...argv, "--state-dir", state], { env: { ...envOf(service), RAGTAG_DATASET: "" }, ...world }),
		held: async () => {
			const found = new Map((await service.documents()).map((each) => [each.id, each.metadata]));
			return ids.map((id) => found.get(id));
		},
	};
}

const LEGAL = [
	{ category: "Legal", n: 1 },
	{ category: "Legal ", n: 2 },
	{ category: "Finance", n: 3 },
	{ n: 4 },
	{ category: "Legal ", n: 5 },
] as const;

describe("a map of values", () => {
	it("is written with the values, and once its new values are filled in exactly those documents change, until an undo", async () => {
		const { service, run, held } = await holding(...LEGAL);
		const map = join(await folder(), "map.csv");
		const written = await run(["values", "category", "-d", service.dataset, "--out", map]);
		expect([written.exit, written.stdout]).toEqual([0, ""]);
		expect(written.stderr).toContain(
			`category: 4 of 5 documents, 1 lacks it: ragtag docs list -d ${service.dataset} --missing category`,
		);
		expect(written.stderr).toContain(`--map ${map} --dry-run`);
		expect(await readFile(map, "utf8")).toBe("old,new,documents\nLegal ,,2\nFinance,,1\nLegal,,1\n");

		await writeFile(map, "old,new,documents\nLegal ,Legal,2\nFinance,,1\nLegal,Legal,1\n");
		const argv = ["values", "category", "-d", service.dataset, "--map", map, "--json"];
		const from = service.requests.length;
		const dry = await ends(run([...argv, "-n", "--detailed-exitcode"]), 10, { rows: 2, changes: 2, run: null });
		expect(parseLines(dry.stdout)).toContainEqual(
			expect.objectContaining({ type: "change", line: 2, change: { category: { from: "Legal ", to: "Legal" } } }),
		);
		expect(service.requests.slice(from).filter((line) => /^(?!GET).* 200$/.test(line))).toEqual([]);

		const sent = await ends(run(argv), 0, { rows: 2, updated: 2, failed: 0 });
		expect(sent.stderr).toContain("To change: 2 of 5 documents.");
		expect(service.requests.filter((line) => line.startsWith("PUT"))).toHaveLength(2);
		expect(await held()).toEqual(
			LEGAL.map((each) => ("category" in each ? { ...each, category: each.category.trim() } : each)),
		);
		// The same map finds nothing any more.
		const again = await ends(run(argv), 0, { rows: 0 });
		expect(again.stderr).toContain(`no document has these values of the map: "Legal " (line 2)`);
		expect(again.stderr).toContain("Nothing to change in 5 documents.");

		const undone = await run(["runs", "undo", runOf(sent.stdout), "--yes"]);
		expect(undone.exit).toBe(0);
		expect(await held()).toEqual(LEGAL);
	});

	it("keeps numbers, texts and lists apart, takes items of lists one by one, and removes what is marked", async () => {
		const { service, run, held } = await holding(
			{ year: 2024 },
			{ year: "2024" },
			{ year: ["2024", "2025", "x"] },
			{ year: "x", a: 1 },
			{ year: "2020|2021" },
		);
		const map = join(await folder(), "map.csv");
		await run(["values", "year", "-d", service.dataset, "--out", map]);
		const lines = (await readFile(map, "utf8")).split("\n");
		expect(lines).toEqual([
			"old:json,new:json,documents",
			'"""2024""",,2',
			'"""x""",,2',
			'"""2020|2021""",,1',
			"2024,,1",
			'"""2025""",,1',
			"",
		]);
		await writeFile(
			map,
			[
				"old:json;new:json;documents",
				'"""2024""";2024;',
				'"""x""";!delete;',
				'2024;"""2024"""',
				'"""2020|2021""";"[2020,2021]";',
			]
				.join("\n")
				.replace('2024;"""2024"""', '2024;"""2024""";'),
		);
		await ends(run(["values", "year", "-d", service.dataset, "--map", map, "--json"]), 0, { updated: 5 });
		expect(await held()).toEqual([
			{ year: "2024" },
			{ year: 2024 },
			{ year: [2024, "2025"] },
			{ a: 1 },
			{ year: [2020, 2021] },
		]);
	});

	it("is written as a plan for review, and a document that changed since is left alone", async () => {
		const { service, ids, run, held } = await holding(...LEGAL);
		const map = await file("map.csv", "old,new\nLegal ,Legal\n");
		const plan = join(await folder(), "plan.jsonl");
		const planned = await run(["values", "category", "-d", service.dataset, "--map", map, "-o", plan]);
		expect([planned.exit, planned.stderr]).toEqual([0, expect.stringContaining(`ragtag docs apply ${plan}`)]);
		expect(service.requests.some((line) => line.startsWith("PUT"))).toBe(false);
		await service.put(ids[1] ?? "", { category: "Legal ", n: 77 });
		await ends(run(["docs", "apply", plan, "--json"]), 1, { updated: 1, failed: 1 });
		expect((await held())[1]).toEqual({ category: "Legal ", n: 77 });
	});

	it.each<[string, string, string]>([
		[
			"two new values for one",
			"old,new\na,b\na,c\n",
			":3:1: old: the same old value as on line 2, with other values; leave one",
		],
		["a column of no map", "old,new,color\na,b,c\n", ":1:9: color: is no column of a map; it has old, new, documents"],
		["no column old", "from,new\na,b\n", "old: the header has no such column"],
		["an empty old value", "old,new\n,b\n", ":2:1: old: is empty"],
		["no rows", "old,new\n", "Write a map with: ragtag values KEY"],
		["a member that no map has", '[{"old":"a","to":"b"}]', "to: is no member of a map"],
	])("with %s sends nothing", async (_, content, message) => {
		const { service, run } = await holding({ category: "a" });
		const map = await file("map.csv", content);
		await says(run(["values", "category", "-d", service.dataset, "--map", map]), 3, message);
		expect(service.requests).toEqual([]);
		const checked = await ragtag(["manifest", "check", map, "--for", "map"]);
		expect(checked.exit).toBe(3);
	});

	it("may not give a date that is none to a key of dates", async () => {
		const { service, run } = await holding({ publish_date: "2024-01-01" });
		const map = await file("map.json", '[{"old":"2024-01-01","new":"yesterday","documents":1}]');
		const { exit, stdout } = await run(["values", "publish_date", "-d", service.dataset, "--map", map, "--json"]);
		expect(exit).toBe(3);
		expect(parseLines(stdout)).toContainEqual(
			expect.objectContaining({ type: "problem", line: 1, error_code: "BAD_DATE" }),
		);
	});

	it("fails the rows of documents whose other values can't be sent back, and changes the others", async () => {
		const service = await rawWorld([
			'{"category":"a","tweet_id":12345678901234567890}',
			'{"category":"a"}',
			'{"category":12345678901234567890}',
		]);
		const out = join(await folder(), "map.csv");
		await service.run("values", "category", "-d", "set", "--out", out);
		// No map can name a value that came rounded.
		expect(await readFile(out, "utf8")).toBe("old,new,documents\na,,2\n");
		const map = await file("map.csv", "old,new\na,b\n");
		const { exit, stdout } = await service.run("values", "category", "-d", "set", "--map", map, "--json");
		expect([exit, summaryOf(stdout)]).toEqual([1, expect.objectContaining({ rows: 2, updated: 1, failed: 1 })]);
		expect(parseLines(stdout)).toContainEqual(
			expect.objectContaining({ type: "row", document_id: "doc-0", error_code: "INEXACT_NUMBER" }),
		);
		expect(service.held.get("doc-1")).toEqual({ category: "b" });
		expect([service.held.get("doc-0"), service.held.get("doc-2")]).toEqual([{}, {}]);
	});

	it("of which no value is filled in changes nothing, and a list that stays short sends nothing", async () => {
		const { service, run } = await holding({ category: "a" });
		const map = await file("map.csv", "old,new\na,\nb,b\n");
		await says(run(["values", "category", "-d", service.dataset, "--map", map]), 0, "Nothing to change in 1 document.");
		const short = await liar(1, ({ method, path }) =>
			method === "GET" && path.endsWith("/documents")
				? {
						code: 0,
						data: { total: 9, docs: [{ id: "doc-0", name: "0", dataset_id: "set", meta_fields: { category: "a" } }] },
					}
				: undefined,
		);
		const other = await file("map.csv", "old,new\na,b\n");
		const argv = ["values", "category", "-d", "set", "--map", other, "--rate", "5000"];
		await says(ragtag(argv, { env: envOf(short) }), 1, "nothing was sent, because the list");
		expect(short.held.get("doc-0")).toEqual({});
	});
});

describe("a renamed key", () => {
	it("keeps its value and its place, and a document that has another value under the new name is a failed row", async () => {
		const { service, run, held } = await holding(
			{ a: 1, author: "Ann", z: 2 },
			{ author: "Ann", writer: "Bob" },
			{ author: "Ann", writer: "Ann" },
			{ z: 1 },
		);
		const before = await held();
		const argv = ["values", "-d", service.dataset, "--rename", "author=writer", "--json"];
		const plan = join(await folder(), "plan.jsonl");
		expect((await run([...argv, "--out", plan])).exit).toBe(1);
		const lines = parseLines(await readFile(plan, "utf8"));
		expect(lines.flatMap((line) => schemaFaults("plan", line) ?? [])).toEqual([]);
		const { stdout } = await ends(run(argv), 1, { rows: 3, updated: 2, failed: 1 });
		expect(parseLines(stdout)).toContainEqual(
			expect.objectContaining({
				type: "row",
				error_code: "KEY_TAKEN",
				error: expect.stringContaining("has author and writer"),
			}),
		);
		const failed = join(await folder(), "failed.jsonl");
		await says(run([...argv, "--failed", failed]), 1, "Remove one of the two keys");
		// Fed back as it is, it would clear the document.
		await says(run(["docs", "tag", failed, "-d", service.dataset]), 3, "meta_fields: is not a JSON object");
		const after = await held();
		expect(after).toEqual([
			{ a: 1, writer: "Ann", z: 2 },
			{ author: "Ann", writer: "Bob" },
			{ writer: "Ann" },
			{ z: 1 },
		]);
		expect(Object.keys(after[0] ?? {})).toEqual(["a", "writer", "z"]);
		expect((await run(["runs", "undo", runOf(stdout), "--yes"])).exit).toBe(0);
		expect(await held()).toEqual(before);
	});

	it("is a run of values in the list of runs, which goes on where it was stopped and is sent again as a plan", async () => {
		const world = await recorded(3, stopAt(3 + 2));
		for (const id of await world.service.ids()) await world.service.put(id, { author: "Ann" });
		const argv = ["values", "-d", world.service.dataset, "--rename", "author=writer", ...ONE_BY_ONE];
		const stopped = await ends(world.run(argv), 4, { updated: 1, pending: 2 });
		const [listed] = parseLines((await world.run(["runs", "list", "--json"])).stdout);
		expect(listed).toMatchObject({ command: "values", state: "unfinished" });
		await ends(world.run([...resumeOf(stopped.stdout), "--json"]), 0, { rows: 3, updated: 3 });
		const [id = ""] = await world.service.ids();
		await world.service.put(id, {});
		const verified = await world.run(["runs", "verify"]);
		expect(verified.stderr).toMatch(/Send what was lost again.*: ragtag docs apply \S+$/m);
		const blamed = parseLines((await world.run(["runs", "blame", id, "--json"])).stdout);
		expect(blamed).toContainEqual(expect.objectContaining({ key: "writer", command: "values" }));
	});

	it("that no document has is a mistake, and the one that was probably meant is named", async () => {
		const { service, run } = await holding({ author: "Ann" });
		await says(run(["values", "-d", service.dataset, "--rename", "autor=writer"]), 2, "Did you mean author?");
	});
});
