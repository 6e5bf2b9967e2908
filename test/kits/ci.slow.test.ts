import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { Runner, type Step } from "../support/actions.ts";
import { blocks, fileOf } from "../support/kit-pages.ts";
import { KEY, serve, type Service } from "../support/service.ts";

type Job = { readonly env?: Record<string, string>; readonly steps: readonly Step[] };
type GitLabJob = { readonly script: readonly string[] };

const { env, jobs } = parse(await fileOf("ci.md", "yaml", ".github/workflows/metadata.yml")) as {
	env: Record<string, string>;
	jobs: Readonly<Record<string, Job>>;
};
const gitlab = parse(await fileOf("ci.md", "yaml", ".gitlab-ci.yml")) as Readonly<Record<string, GitLabJob>> & {
	readonly default: { readonly before_script: readonly string[] };
	readonly variables: Readonly<Record<string, string>>;
};

let runner: Runner;
beforeEach(async () => {
	runner = await Runner.make();
	await mkdir(join(runner.workspace, "metadata"));
});

const manifest = (text: string): Promise<void> => writeFile(join(runner.workspace, "metadata/tags.csv"), text);
const legal = async (service: Service): Promise<void> =>
	manifest(`document_id,team\n${(await service.ids()).map((id) => `${id},legal\n`).join("")}`);

/** A job of the workflow, with the variables and secrets of a repository. */
function job(name: string, service?: Service) {
	const contexts = {
		vars: { RAGTAG_BASE_URL: service?.url, RAGTAG_DATASET: service?.dataset ?? "legal" },
		secrets: { RAGTAG_API_KEY: KEY },
		github: { token: "token", event: { pull_request: { number: "7" } } },
	};
	expect(Object.keys(env)).toEqual(["RAGTAG_BASE_URL"]);
	return runner.steps(jobs[name]?.steps ?? [], { ...contexts, env: { RAGTAG_BASE_URL: service?.url ?? "" } });
}

describe("the workflow of docs/ci.md", () => {
	it("annotates a bad manifest in a pull request, and asks for no key there", async () => {
		await manifest("document_id,publish_date\n01,yesterday\n");
		const { exit, stderr } = await job("check");
		expect([exit, stderr]).toEqual([3, expect.stringMatching(/^::error file=metadata\/tags\.csv,line=2,col=4,/m)]);
		expect(JSON.stringify(jobs["check"])).not.toContain("secrets");
	});

	it("comments the plan of 3,000 documents, counts first, in a length that GitHub takes", async () => {
		const service = await serve(3_000);
		const rows = (await service.ids()).map((id, n) => `${id},legal,${String(n)}\n`);
		await manifest(`document_id,team,position:number\n${rows.join("")}`);
		// Stands for GitHub's own program: keeps the text of the comment.
		await runner.program("gh", 'for word; do last=$word; done\ncp "$last" comment.md\necho "$@"\n');
		const { exit, stdout } = await job("plan", service);
		expect([exit, stdout]).toEqual([0, expect.stringContaining("pr comment 7 --edit-last")]);
		const comment = await readFile(join(runner.workspace, "comment.md"), "utf8");
		expect(comment).toMatch(/^3,000 documents would change; keys: 6,000 added\.\n/);
		expect(comment).toContain('`team`: add `"legal"`: 3,000 documents');
		expect(comment.length).toBeGreaterThan(30_000);
		expect(comment.length).toBeLessThanOrEqual(60_000);
		expect(await readFile(runner.summary, "utf8")).toContain(comment);
		expect((await service.documents()).every(({ metadata }) => JSON.stringify(metadata) === "{}")).toBe(true);
	});

	it("applies with verification after the merge, then finds no drift until a document is changed", async () => {
		const service = await serve(20);
		await legal(service);
		const applied = await job("apply", service);
		expect([applied.exit, applied.stderr]).toEqual([0, expect.stringContaining("Verified 20 rows: 20 equal")]);
		expect((await job("drift", service)).exit).toBe(0);
		const [first = ""] = await service.ids();
		await service.put(first, { team: "sales" });
		const rows = await readFile(join(runner.workspace, "metadata/tags.csv"), "utf8");
		await manifest(rows.trimEnd().split("\n").slice(0, -1).join("\n"));
		const drift = await job("drift", service);
		expect(drift.exit).toBe(10);
		const summary = await readFile(runner.summary, "utf8");
		expect(summary).toContain("1 document would change; keys: 1 changed.");
		expect(summary).toContain("document-0000020.txt");
		expect(drift.used.map(({ with: given }) => given["name"])).toContain("drift");
		expect((await service.documents()).find(({ id }) => id === first)?.metadata).toEqual({ team: "sales" });
	});
});

describe("the pipeline of docs/ci.md for GitLab", () => {
	/** A job as GitLab's runner runs it: before_script and script in one shell, an error ends it. */
	function pipelineJob(name: string, service?: Service) {
		const settings = {
			GITLAB_CI: "true",
			GITHUB_ACTIONS: "",
			CI_PROJECT_DIR: runner.workspace,
			RAGTAG_STATE_DIR: (gitlab.variables["RAGTAG_STATE_DIR"] ?? "").replace("$CI_PROJECT_DIR", runner.workspace),
			RAGTAG_DATASET: service?.dataset ?? "legal",
			...(service === undefined ? {} : { RAGTAG_BASE_URL: service.url, RAGTAG_API_KEY: KEY }),
		};
		const lines = [...gitlab.default.before_script, ...(gitlab[name]?.script ?? [])];
		return runner.script(lines.join("\n"), { env: settings, shell: "bash" });
	}

	it("shows a bad manifest as code quality on its line", async () => {
		await manifest("document_id,publish_date\n01,yesterday\n");
		expect((await pipelineJob("check")).exit).toBe(3);
		const report = JSON.parse(
			await readFile(join(runner.workspace, "gl-code-quality-report.json"), "utf8"),
		) as object[];
		expect(report[0]).toMatchObject({ location: { path: "metadata/tags.csv", lines: { begin: 2 } } });
		expect(await readFile(join(runner.workspace, "junit.xml"), "utf8")).toContain("<testsuite");
	});

	it("plans, applies with verification, ends with 10 for drift, and the kept state undoes the run", async () => {
		const service = await serve(5);
		await legal(service);
		expect((await pipelineJob("plan", service)).exit).toBe(0);
		expect(await readFile(join(runner.workspace, "changes.md"), "utf8")).toMatch(/^5 documents would change/);
		expect(await pipelineJob("apply", service)).toMatchObject({ exit: 0, stderr: expect.stringContaining("5 equal") });
		const [first = ""] = await service.ids();
		await service.put(first, { team: "sales" });
		await runner.script("rm plan.jsonl", {});
		expect((await pipelineJob("drift", service)).exit).toBe(10);
		await service.put(first, { team: "legal" });
		const [undo = ""] = await blocks("ci.md", "sh");
		const undone = await runner.script(undo, { env: { RAGTAG_BASE_URL: service.url, RAGTAG_API_KEY: KEY } });
		expect(undone).toMatchObject({ exit: 0, stderr: expect.stringContaining("5 reversed") });
		expect((await service.documents()).map(({ metadata }) => metadata)).toEqual(Array(5).fill({}));
	});
});
