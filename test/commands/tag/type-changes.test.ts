import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import { file, folder } from "../../support/service.ts";
import { rowsFor, typed, type TypedWorld, typedWorld } from "../../support/typed.ts";
import { at, parseLines, summaryOf } from "../../support/values.ts";

/** Documents of which all but the last have a number as pages. */
const counted = (flavour: Flavour): Promise<TypedWorld> =>
	typedWorld({ flavour }, (n) => (n < 5 ? { pages: 4, author: "Ann" } : {}));

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
			const { service, tag } = await counted(flavour);
			const said = "tags.jsonl has 2 values of another type than their keys have at the service; nothing was sent";
			const ended = await says(
				tag((n) => ({ pages: n < 4 ? n : "n/a" }), ...flags),
				9,
				said,
				"--allow-type-change",
			);
			expect(problems(ended.stdout)).toEqual([problem(5, "pages", NOT_A_NUMBER), problem(6, "pages", NOT_A_NUMBER)]);
			expect(summaryOf(ended.stdout)).toMatchObject({ updated: 0, pending: 6, run: null, exit_code: 9 });
			expect(service.requests.filter(isUpdate)).toEqual([]);
		},
	);

	it("nor where two rows of the manifest clash, also with --no-undo", async () => {
		const { service, tag } = await typedWorld({ flavour });
		const values = [{ a: 1 }, { a: "x" }, { d: "2024-05-01" }, { d: "soon" }, { "": 1 }, { "a.b": 1 }];
		for (const flags of [[], ["--no-undo"]]) {
			const { stdout } = await ends(
				tag((n) => values[n], ...flags),
				9,
				{},
			);
			expect(problems(stdout)).toEqual([
				problem(2, "a", 'a: line 1 has numbers, and "x" is text'),
				problem(4, "d", 'd: line 3 has dates, and "soon" is text'),
				problem(5, "", '"": a key that is empty or blank, or begins with a dot, is refused'),
				problem(6, "a.b", "a.b: line 1 has numbers under a, and a key with a dot is an object"),
			]);
		}
		expect(service.requests.filter(isUpdate)).toEqual([]);
	});

	it("nor by a filter, a plan, an upload", async () => {
		const { service, ids, run } = await counted(flavour);
		const d = ["-d", service.dataset];
		const refuses = async (count: number, ...argv: readonly string[]): Promise<void> => {
			const { exit, stdout } = await run(...argv, ...d);
			expect([exit, problems(stdout).length]).toEqual([9, count]);
		};
		await refuses(5, "docs", "tag", "--where", "author=Ann", "--mode", "merge", "--set", "pages=many");
		const plan = join(await folder(), "plan.jsonl");
		const planning = ["docs", "plan", await rowsFor(ids, () => ({ pages: "n/a" })), "--out", plan];
		await refuses(6, ...planning);
		await run(...planning, ...d, "--allow-type-change");
		const applied = await run("docs", "apply", plan);
		expect([applied.exit, problems(applied.stdout).length]).toEqual([9, 6]);
		const files = await file("files.json", JSON.stringify([{ file: "new.txt", meta_fields: { pages: "n/a" } }]));
		await writeFile(join(dirname(files), "new.txt"), "new");
		await refuses(1, "docs", "upload", files);
		expect((await service.documents()).length).toBe(6);
		expect(service.requests.filter(isUpdate)).toEqual([]);
	});

	it("a resumed run still allows what it was begun with", async () => {
		const { tag, run } = await counted(flavour);
		const flags = ["--mode", "merge", "--allow-type-change", "--max-errors", "1", "--concurrency", "1"];
		await ends(
			tag((n) => ({ pages: n < 5 ? n : "n/a" }), ...flags),
			1,
			{ failed: 1 },
		);
		const { stdout } = await ends(run("runs", "retry"), 1, { updated: 5, failed: 1 });
		expect(problems(stdout)).toEqual([]);
	});

	it("sends what fits: whole numbers, numbers as text, days, and what a document has already", async () => {
		const { tag } = await counted(flavour);
		const pages = [5, "6", 7.5, [8, 9], 4];
		const value = (n: number): object => (n < 5 ? { pages: pages[n] } : { day: "2024-05-01" });
		await ends(tag(value, "--mode", "merge"), 0, { updated: 6 });
	});
});

it.each(["ragflow-0.18", "ragflow-0.21", "ragflow-0.23", "documented"] as const)(
	"%s loses nothing by a value of another type, so it is sent",
	async (flavour) => {
		const { tag } = await counted(flavour);
		await ends(
			tag(() => ({ pages: "n/a" }), "--mode", "merge"),
			0,
			{ updated: 6 },
		);
	},
);
