import { spawnSync } from "node:child_process";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { beforeAll, describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { Exit } from "../../src/errors.ts";
import { COMMAND, shell } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { folder, serve, type Service } from "../support/service.ts";
import { at, items, range, summaryOf } from "../support/values.ts";
import { blocksOf } from "./page.ts";

const ROWS = 48;
const TIMEOUT = 120_000;

let page = "";
beforeAll(async () => {
	page = await readFile(new URL("../../docs/many-machines.md", import.meta.url), "utf8");
});

/** The only block of the page with that fence whose text has those words. */
function block(fence: string, words: string): string {
	const found = blocksOf(page).filter((each) => each.fence === fence && each.text.includes(words));
	if (found.length !== 1) throw new Error(`${found.length} blocks have ${words}`);
	return found[0]?.text ?? "";
}

type World = { readonly service: Service; readonly place: string; readonly env: Record<string, string> };

/** A folder with the manifest, and with the program on its PATH as an operator has it. */
async function world(): Promise<World> {
	const service = await serve(ROWS);
	const place = await folder();
	const rows = (await service.ids()).map((id, n) => `${id},${service.dataset},${n}\n`);
	await writeFile(join(place, "tags.csv"), `document_id,dataset_id,n:number\n${rows.join("")}`);
	const bin = join(place, "ragtag");
	await writeFile(bin, `#!/bin/sh\nexec ${COMMAND.join(" ")} "$@"\n`);
	await chmod(bin, 0o755);
	const env = { ...envOf(service), PATH: `${place}:${process.env["PATH"] ?? ""}`, HOME: place };
	return { service, place, env };
}

/** Every document was written once, and the records of the shards make one run. */
async function expectWhole({ service, place, env }: World, collected: string): Promise<void> {
	const values = (await service.documents()).map(({ metadata }) => at(metadata, "n"));
	expect(values).toEqual(range(ROWS));
	expect(service.requests.filter((line) => line.startsWith("PUT"))).toHaveLength(ROWS);
	const merged = await shell(`cd ${place} && ragtag runs merge --from ${collected} --json`, env);
	expect([merged.exit, summaryOf(merged.stdout)]).toEqual([0, expect.objectContaining({ rows: ROWS, updated: ROWS })]);
}

describe("the Kubernetes job of docs/many-machines.md", () => {
	const spec = (): unknown => at(parseYaml(block("yaml", "kind: Job")), "spec");
	const container = (): unknown => items(at(at(at(spec(), "template"), "spec"), "containers"))[0];
	const rules = (): readonly unknown[] => items(at(at(spec(), "podFailurePolicy"), "rules"));
	const codesOf = (action: string): unknown => {
		const rule = rules().find((each) => at(each, "action") === action && at(each, "onExitCodes") !== undefined);
		return at(at(rule, "onExitCodes"), "values");
	};

	it("ends the whole job for what every shard would meet, and tries again what passes", () => {
		expect(codesOf("FailJob")).toEqual([Exit.usage, Exit.manifest, Exit.untrusted, Exit.foreign]);
		expect(codesOf("FailIndex")).toEqual([Exit.failedRows, Exit.differences]);
		expect(codesOf("Count")).toEqual([Exit.locked, Exit.temporary, Exit.storage, Exit.limit]);
		const named = rules().flatMap((rule) => at(at(rule, "onExitCodes") ?? {}, "containerName") ?? []);
		expect(new Set(named)).toEqual(new Set([at(container(), "name")]));
	});

	it("keeps the rules that the service of Kubernetes checks", () => {
		// kubernetes.io/docs/concepts/workloads/controllers/job: a failure policy needs Never, and FailIndex a limit per index.
		expect(at(at(at(spec(), "template"), "spec"), "restartPolicy")).toBe("Never");
		expect(at(spec(), "backoffLimitPerIndex")).toBeGreaterThan(0);
		expect(at(spec(), "completionMode")).toBe("Indexed");
	});

	it("writes every row once, with the variables and arguments that its pods get", { timeout: TIMEOUT }, async () => {
		const its = await world();
		const completions = Number(at(spec(), "completions"));
		const given = items(at(container(), "env")).map((each) => [String(at(each, "name")), String(at(each, "value"))]);
		const { RAGTAG_SHARDS = "" } = Object.fromEntries(given);
		expect(Number(RAGTAG_SHARDS)).toBe(completions);
		const pods = range(completions).map((index) => {
			// As a kubelet expands them; the volumes are folders here.
			const words = items(at(container(), "args")).map((word) =>
				String(word)
					.replace("$(JOB_COMPLETION_INDEX)", String(index))
					.replace("/manifest/", `${its.place}/`)
					.replace("/state/", `${its.place}/state/`),
			);
			return shell(`ragtag ${words.join(" ")}`, { ...its.env, RAGTAG_SHARDS, JOB_COMPLETION_INDEX: String(index) });
		});
		expect((await Promise.all(pods)).map(({ exit }) => exit)).toEqual(range(completions).map(() => 0));
		await expectWhole(its, "state");
	});
});

it("the SLURM script of docs/many-machines.md writes every row once", { timeout: TIMEOUT }, async () => {
	const its = await world();
	const script = block("bash", "#SBATCH");
	const [, first, last] = /--array=(\d+)-(\d+)/.exec(script) ?? [];
	await writeFile(join(its.place, "job.sh"), script);
	const tasks = range(Number(last)).map((n) =>
		shell(`cd ${its.place} && bash job.sh`, {
			...its.env,
			SLURM_ARRAY_TASK_ID: String(n + 1),
			SLURM_ARRAY_TASK_MIN: String(first),
			SLURM_ARRAY_TASK_MAX: String(last),
			SLURM_ARRAY_TASK_COUNT: String(last),
			SLURM_ARRAY_TASK_STEP: "1",
		}),
	);
	expect((await Promise.all(tasks)).map(({ exit }) => exit)).toEqual(tasks.map(() => 0));
	await expectWhole(its, "collected");
});

const hasParallel = spawnSync("sh", ["-c", "parallel --version"], { encoding: "utf8" }).stdout.startsWith(
	"GNU parallel",
);

it.skipIf(!hasParallel)(
	"the line of GNU parallel of docs/many-machines.md writes every row once",
	{ timeout: TIMEOUT },
	async () => {
		const its = await world();
		const line = block("bash", "parallel --jobs 8");
		const { exit, stderr } = await shell(`cd ${its.place} && ${line}`, its.env);
		expect([exit, stderr]).toEqual([0, expect.stringContaining("shard 8/8")]);
		await expectWhole(its, "collected");
	},
);
