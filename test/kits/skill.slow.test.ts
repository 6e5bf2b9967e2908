import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { blocksOf } from "../docs/page.ts";
import { execute, Runner } from "../support/actions.ts";
import { COMMAND } from "../support/program.ts";
import { KEY, serve } from "../support/service.ts";

const page = await readFile(new URL("../../SKILL.md", import.meta.url), "utf8");
const [findOut = "", plan = "", apply = "", undo = "", ...others] = blocksOf(page)
	.filter(({ fence }) => fence === "sh")
	.map(({ text }) => text);

describe("SKILL.md", () => {
	it("leads an agent from finding out to a plan, an apply with verification, and an undo", async () => {
		const [service, runner] = [await serve(4), await Runner.make()];
		for (const id of await service.ids()) await service.put(id, { team: "sales" });
		const before = await service.documents();
		const env = { RAGTAG_BASE_URL: service.url, RAGTAG_API_KEY: KEY, DATASET: service.dataset, GITHUB_ACTIONS: "" };
		const type = (script: string) => runner.script(script, { env, shell: "bash" });
		const read = (name: string): Promise<string> => readFile(join(runner.workspace, name), "utf8");

		expect(await type(findOut)).toMatchObject({ exit: 0, stdout: expect.stringContaining('"key":"team"') });
		expect((await type("sed -i 's/sales/legal/; 3,$s/legal/sales/' tags.csv")).exit).toBe(0);
		expect(await type(plan)).toMatchObject({ exit: 0 });
		expect(await read("changes.md")).toMatch(/^1 document would change; keys: 1 changed\.\n/);
		expect(await service.documents()).toEqual(before);

		expect(await type(apply)).toMatchObject({ exit: 0, stderr: expect.stringContaining("Verified 1 row: 1 equal") });
		const lines = (await read("result.jsonl")).trimEnd().split("\n");
		const summary = JSON.parse(lines.at(-1) ?? "") as unknown;
		expect(summary).toMatchObject({ type: "summary", updated: 1, verified: true, exit_code: 0, resume: null });
		expect(await service.documents()).not.toEqual(before);

		expect(await type(undo)).toMatchObject({ exit: 0 });
		expect(await service.documents()).toEqual(before);
		expect(others).toEqual([]);
	});

	it("names commands, options and exit codes that the program has, each of them", async () => {
		const [command, ...words] = COMMAND;
		const { stdout } = await execute(command, [...words, "help", "--json"], { cwd: "/", env: {} });
		const { exit_codes: codes } = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as {
			exit_codes: { code: number }[];
		};
		const named = [...page.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, cell = ""]) => cell.split(", ").map(Number));
		expect(named.toSorted((a, b) => a - b)).toEqual(codes.map(({ code }) => code).toSorted((a, b) => a - b));
		const options = [...new Set(page.match(/--[a-z][a-z-]+/g))];
		expect(options.length).toBeGreaterThan(10);
		expect(options.filter((option) => !stdout.includes(option))).toEqual([]);
		const commands = [...page.matchAll(/`?ragtag ((?:docs|runs|manifest|datasets) [a-z]+)/g)].map(
			([, name = ""]) => name,
		);
		expect(commands.filter((name) => !stdout.includes(`"ragtag ${name}`))).toEqual([]);
	});

	it("fits on one page, and is a skill with a name and a description", () => {
		expect(page.split("\n").length).toBeLessThanOrEqual(90);
		expect(page).toMatch(/^---\nname: ragtag\ndescription: .{40,200}\n---\n/);
	});
});
