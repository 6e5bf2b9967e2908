import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, serve, type Service } from "../../support/service.ts";
import { at, parseLines, summaryOf } from "../../support/values.ts";

const typed = [
	"ragflow-0.24",
	"ragflow-0.25",
	"ragflow-0.26",
	"ragflow-0.27",
	"ragflow-1.0",
] as const satisfies readonly Flavour[];
const FAST = ["--json", "--rate", "5000"];

type World = {
	readonly service: Service;
	readonly ids: readonly string[];
	run(argv: readonly string[]): ReturnType<typeof ragtag>;
};

async function world(flavour: Flavour, documents = 6): Promise<World> {
	const service = await serve(documents, { flavour });
	const ids = await service.ids();
	const env = { ...envOf(service), RAGTAG_STATE_DIR: await folder() };
	return { service, ids, run: (argv) => ragtag(argv, { env }) };
}

/** Documents of which all but the last have a number as pages. */
async function counted(flavour: Flavour, documents = 6): Promise<World> {
	const made = await world(flavour, documents);
	for (const id of made.ids.slice(0, -1)) await made.service.put(id, { pages: 4, author: "Ann" });
	return made;
}

async function manifest(ids: readonly string[], value: (n: number) => object | undefined): Promise<string> {
	const rows = ids.map((id, n) => JSON.stringify({ document_id: id, meta_fields: value(n) }));
	return file("tags.jsonl", rows.join("\n"));
}

function problems(stdout: string): readonly unknown[] {
	const lines = parseLines(stdout).filter((line) => at(line, "type") === "problem");
	return lines.map((line) => [at(line, "line"), at(line, "field"), at(line, "error_code"), at(line, "error")]);
}

const problem = (line: number, key: string, text: string): unknown[] => [line, key, "TYPE_CHANGE", text];
const NOT_A_NUMBER = 'pages: the service holds numbers, and "n/a" is text';
const isUpdate = (request: string): boolean => /^(?:PUT|PATCH) .*(?<!0{32}) 200$/.test(request);

describe.each(typed)("%s, where a value of another type costs a document its metadata", (flavour) => {
	it.each([[["--mode", "merge"]], [[]], [["--dry-run"]], [["--only-changed"]]])(
		"nothing is sent where the dataset has another type: docs tag %j",
		async (flags) => {
			const { service, ids, run } = await counted(flavour);
			const path = await manifest(ids, (n) => ({ pages: n < 4 ? n : "n/a" }));
			const argv = ["docs", "tag", path, "-d", service.dataset, ...flags, ...FAST];
			const { exit, stdout, stderr } = await run(argv);
			expect([exit, problems(stdout)]).toEqual([
				9,
				[problem(5, "pages", NOT_A_NUMBER), problem(6, "pages", NOT_A_NUMBER)],
			]);
			expect(summaryOf(stdout)).toMatchObject({ updated: 0, pending: 6, run: null, exit_code: 9 });
			expect(stderr).toContain(
				"tags.jsonl has 2 values of another type than their keys have at the service; nothing was sent",
			);
			expect(stderr).toContain("--allow-type-change");
			expect(service.requests.filter(isUpdate)).toEqual([]);
		},
	);

	it("nor where two rows of the manifest clash, also with --no-undo", async () => {
		const { service, ids, run } = await world(flavour);
		const values = [{ a: 1 }, { a: "x" }, { d: "2024-05-01" }, { d: "soon" }, { "": 1 }, { "a.b": 1 }];
		const path = await manifest(ids, (n) => values[n]);
		for (const flags of [[], ["--no-undo"]]) {
			const { exit, stdout } = await run(["docs", "tag", path, "-d", service.dataset, ...flags, ...FAST]);
			expect([exit, problems(stdout)]).toEqual([
				9,
				[
					problem(2, "a", 'a: line 1 has numbers, and "x" is text'),
					problem(4, "d", 'd: line 3 has dates, and "soon" is text'),
					problem(5, "", '"": a key that is empty or blank, or begins with a dot, is refused'),
					problem(6, "a.b", "a.b: line 1 has numbers under a, and a key with a dot is an object"),
				],
			]);
		}
		expect(service.requests.filter(isUpdate)).toEqual([]);
	});

	it("nor by a filter, a plan, an upload", async () => {
		const { service, ids, run } = await counted(flavour);
		const set = ["--set", "pages=many"];
		const filtered = ["docs", "tag", "-d", service.dataset, "--where", "author=Ann", "--mode", "merge"];
		const found = await run([...filtered, ...set, ...FAST]);
		expect([found.exit, problems(found.stdout).length]).toEqual([9, 5]);
		const path = await manifest(ids, () => ({ pages: "n/a" }));
		const plan = join(await folder(), "plan.jsonl");
		const planned = await run(["docs", "plan", path, "-d", service.dataset, "--out", plan, "--json"]);
		expect([planned.exit, problems(planned.stdout).length]).toEqual([9, 6]);
		await run(["docs", "plan", path, "-d", service.dataset, "--out", plan, "--json", "--allow-type-change"]);
		const applied = await run(["docs", "apply", plan, ...FAST]);
		expect([applied.exit, problems(applied.stdout).length]).toEqual([9, 6]);
		const files = await file("files.json", JSON.stringify([{ file: "new.txt", meta_fields: { pages: "n/a" } }]));
		await writeFile(join(dirname(files), "new.txt"), "new");
		const uploaded = await run(["docs", "upload", files, "-d", service.dataset, ...FAST]);
		expect([uploaded.exit, problems(uploaded.stdout).length]).toEqual([9, 1]);
		expect((await service.documents()).length).toBe(6);
		expect(service.requests.filter(isUpdate)).toEqual([]);
	});

	it("a resumed run still allows what it was begun with", async () => {
		const { service, ids, run } = await counted(flavour);
		const path = await manifest(ids, (n) => ({ pages: n < 5 ? n : "n/a" }));
		const argv = ["docs", "tag", path, "-d", service.dataset, "--mode", "merge", "--allow-type-change", ...FAST];
		await ends(run([...argv, "--max-errors", "1", "--concurrency", "1"]), 1, { failed: 1 });
		const retried = await run(["runs", "retry", "--json"]);
		expect([retried.exit, problems(retried.stdout)]).toEqual([1, []]);
		expect(summaryOf(retried.stdout)).toMatchObject({ updated: 5, failed: 1 });
	});

	it("sends what fits: whole numbers, numbers as text, days, and what a document has already", async () => {
		const { service, ids, run } = await counted(flavour);
		const values = [
			{ pages: 5 },
			{ pages: "6" },
			{ pages: 7.5 },
			{ pages: [8, 9] },
			{ pages: 4 },
			{ day: "2024-05-01" },
		];
		const path = await manifest(ids, (n) => values[n]);
		await ends(run(["docs", "tag", path, "-d", service.dataset, "--mode", "merge", ...FAST]), 0, { updated: 6 });
	});
});

it.each(["ragflow-0.18", "ragflow-0.21", "ragflow-0.23", "documented"] as const)(
	"%s loses nothing by a value of another type, so it is sent",
	async (flavour) => {
		const { service, ids, run } = await counted(flavour);
		const path = await manifest(ids, () => ({ pages: "n/a" }));
		await ends(run(["docs", "tag", path, "-d", service.dataset, "--mode", "merge", ...FAST]), 0, { updated: 6 });
	},
);

it("names the first twenty on a terminal, and counts the others", async () => {
	const { service, ids, run } = await counted("ragflow-0.26", 30);
	const path = await manifest(ids, () => ({ pages: "n/a" }));
	const { exit, stderr } = await run(["docs", "tag", path, "-d", service.dataset, "--mode", "merge"]);
	expect(exit).toBe(9);
	expect(stderr.match(/^\S+:\d+:\d+: .*is text$/gm)).toHaveLength(20);
	expect(stderr).toContain("... and 10 more problems; --json lists all of them");
});
