import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Ajv2020 } from "ajv/dist/2020.js";
import { jsonLine, type ProgressState } from "../src/io/progress-lines.ts";
import { type Ended, envOf, ragtag } from "./support/ragtag.ts";
import { faultsOfLines, schemaFaults, schemaOf, type SchemaName } from "./support/schemas.ts";
import { file, folder, serve } from "./support/service.ts";
import { PAPERS, synced } from "./support/synced.ts";
import { parseLines } from "./support/values.ts";

const SCHEMAS: readonly SchemaName[] = ["help", "list", "output", "plan", "progress"];

it("each schema is a valid JSON Schema of 2020-12, and none is missing here", async () => {
	const names = await readdir(new URL("../schema", import.meta.url));
	expect(names.toSorted()).toEqual(SCHEMAS.map((name) => `${name}.schema.json`));
	for (const name of SCHEMAS) expect(new Ajv2020({ strict: false }).validateSchema(schemaOf(name))).toBe(true);
});

it("the package has them", async () => {
	const text = await readFile(new URL("../package.json", import.meta.url), "utf8");
	expect(JSON.parse(text)).toMatchObject({ files: expect.arrayContaining(["schema"]) });
});

describe("a line that a schema does not describe is found", () => {
	const undeclared = { type: "undeclared", dataset_id: "d", document_id: "x", name: null };

	it.each([
		["of a new type", { ...undeclared, type: "new" }],
		["with a new member", { ...undeclared, more: 1 }],
		["without a member", { type: "undeclared", dataset_id: "d", name: null }],
		["with a member of another type", { ...undeclared, document_id: 1 }],
	])("%s", (_, line) => {
		expect(faultsOfLines(JSON.stringify(undeclared))).toEqual([]);
		expect(faultsOfLines(JSON.stringify(line))).toHaveLength(1);
	});

	it("but a script that uses a schema takes new members", () => {
		expect(schemaFaults("output", { ...undeclared, more: 1 }, false)).toBeUndefined();
		expect(schemaFaults("output", { type: "undeclared" }, false)).toBeDefined();
	});
});

it("every line of the golden outputs has a schema", async () => {
	const place = new URL("golden/", import.meta.url);
	const names = (await readdir(place)).filter((name) => name.endsWith(".txt"));
	let lines = 0;
	for (const name of names) {
		const text = await readFile(new URL(name, place), "utf8");
		// Times and seconds are masked there.
		const typed = text.split("\n").filter((line) => line.startsWith('{"type":'));
		const unmasked = typed.map((line) =>
			line.replaceAll(/:(DURATION|N)\b/g, ":0").replaceAll('"TIME"', '"2026-01-01T00:00:00Z"'),
		);
		expect(faultsOfLines(unmasked.join("\n"))).toEqual([]);
		lines += typed.length;
	}
	expect(lines).toBeGreaterThan(10);
});

it.each([
	[
		"of a policy's breach, which has no field",
		{ type: "problem", file: "a.csv", line: 2, column: 1, field: null, error_code: "X", error: "x" },
	],
	[
		"of a document with NaN",
		{
			dataset_id: "d",
			document_id: "a",
			name: "a",
			size: null,
			create_time: null,
			meta_fields: {},
			not_json: { n: "NaN" },
		},
	],
])("a line %s has a schema", (_, line) => {
	expect(faultsOfLines(JSON.stringify(line))).toEqual([]);
});

it.each<ProgressState>([
	{},
	{ rows: { done: 1, total: 3, failed: 1 }, rate: 2.04, left: 5 },
	{ rows: { done: 1, failed: 0 }, activity: { state: "waiting", cause: "429", seconds: 1.5, of: 4 } },
	{ activity: { state: "slowed", seconds: 1, rate: { now: 20, cap: 100 } } },
	{ activity: { state: "reading", what: "documents", seconds: 0, count: { done: 5, total: 9 } } },
])("a line of the progress has a schema: %j", (state) => {
	expect(faultsOfLines(jsonLine(state, "2026-11-22T23:06:52.206Z"))).toEqual([]);
});

describe("every line that a command prints with --json has a schema", () => {
	it("of all commands, one after another", async () => {
		const service = await serve(4);
		const [home, work] = [await folder(), await folder()];
		const ids = await service.ids();
		const rows = ids.slice(0, 2).map((id, n) => `${id},Ann,${n}\n`);
		const tags = await file("tags.csv", `document_id,author,n:number\n${rows.join("")}absent,x,3\n`);
		const wrong = await file("wrong.csv", "document_id,n:number\na,four\n");
		const names = await file("names.csv", "name\ndocument-0000001.txt\n");
		const upload = await file("up.txt", "hi");
		const out = join(work, "plan.jsonl");
		const set = ["-d", service.dataset];
		const seen = new Set<string>();
		const run = async (argv: readonly string[], exit = 0): Promise<string> => {
			const ended = await ragtag(argv, { env: envOf(service), home });
			expect([argv, ended.exit, ended.exit === exit ? "" : ended.stderr]).toEqual([argv, exit, ""]);
			const text = ended.stdout.replaceAll(/^\[$|^\]$|,$/gm, "") + ended.stderr;
			expect(faultsOfLines(text)).toEqual([]);
			for (const [, type = "item"] of text.matchAll(/^\{(?:"type":"(\w+)")?/gm)) seen.add(type);
			return ended.stdout;
		};
		await run(["docs", "tag", tags, ...set, "--dry-run", "--json"], 1);
		await run(["docs", "plan", tags, ...set, "--out", out, "--undeclared", "report", "--json"], 1);
		const plan = parseLines(await readFile(out, "utf8"));
		expect(plan.flatMap((line) => schemaFaults("plan", line) ?? [])).toEqual([]);
		await run(["docs", "apply", out, "--json", "--verify", "all"]);
		await run(["docs", "tag", tags, ...set, "--set", "x=1", "--json", "--verify", "all", "--progress", "json"], 1);
		await service.put(ids[0] ?? "", { other: 1 });
		await run(["runs", "verify", "--json"], 10);
		for (const format of [["--json"], ["--format", "json"], ["--format", "jsonl"]]) {
			await run(["docs", "list", ...set, ...format]);
			await run(["datasets", "list", ...format]);
			await run(["values", ...set, ...format]);
			await run(["values", ...set, "author", ...format]);
			await run(["runs", "list", ...format]);
			await run(["runs", "blame", ids[1] ?? "", ...format]);
			await run(["runs", "blame", ids[1] ?? "", "--all", ...format]);
		}
		await run(["docs", "show", ids[1] ?? "", ...set, "--json"]);
		await run(["runs", "show", "--json"]);
		await run(["runs", "report", "--json"]);
		await run(["runs", "undo", "--yes", "--json"], 1);
		await run(["docs", "resolve", names, ...set, "--json"]);
		await run(["docs", "upload", upload, ...set, "--json"]);
		await run(["docs", "upload", upload, ...set, "--on-existing", "upload-again", "--dry-run", "--json"]);
		await run(["docs", "rm", "--id", ids[3] ?? "", ...set, "--dry-run", "--json"]);
		await run(["docs", "rm", "--id", ids[3] ?? "", ...set, "--yes", "--json"]);
		await run(["manifest", "check", wrong, ...set, "--json"], 3);
		await run(["doctor", "--json"]);
		await run(["help", "--json"]);
		const expected = ["change", "check", "doctor", "error", "help", "item", "note", "problem", "row", "setting"];
		expect([...seen].toSorted()).toEqual([...expected, "summary", "undeclared", "verify", "version"]);
	});

	it("of a sync with a step of each kind, and its plan too", async () => {
		const { sync, run, write, move, remove, home } = await synced(PAPERS, { flavour: "ragflow-0.21" });
		await sync("--set", "by={name}");
		await remove("top.md");
		await move("hr/b.txt", "hr/c.txt");
		for (const name of ["hr/a.txt", "new.txt"]) await write(name, `${name}, changed`);
		await write("it/a.txt.meta.json", '{"by":"hand"}');
		const plan = join(home, "plan.jsonl");
		const ended: Ended[] = [await sync("--remove", "--dry-run"), await sync("--remove", "--out", plan)];
		await write("bad.txt", "bad");
		await write("bad.txt.meta.json", "{");
		ended.push(
			await sync("--trash"),
			await run(["runs", "verify", "--json"]),
			await run(["runs", "undo", "--yes", "--json"]),
		);
		expect(ended.map(({ exit }) => exit)).toEqual([0, 0, 1, 0, 0]);
		expect(ended.flatMap(({ stdout }) => faultsOfLines(stdout))).toEqual([]);
		const steps = parseLines(await readFile(plan, "utf8"));
		expect([steps.length, steps.flatMap((line) => schemaFaults("plan", line) ?? [])]).toEqual([7, []]);
	});
});
