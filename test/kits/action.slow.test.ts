import { cp, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ACTION, execute, Runner, writeProgram } from "../support/actions.ts";
import { folder, KEY, serve, type Service } from "../support/service.ts";

/** A manifest in the workspace that gives each document a team. */
async function manifest({ workspace }: Runner, service: Service, name = "tags.csv"): Promise<string> {
	const rows = (await service.ids()).map((id) => `${id},legal\n`);
	await mkdir(dirname(join(workspace, name)), { recursive: true });
	await writeFile(join(workspace, name), `document_id,team\n${rows.join("")}`);
	return name;
}

const inputsOf = (service: Service): Record<string, string> => ({
	dataset: service.dataset,
	"base-url": service.url,
	"api-key": KEY,
});

/** The probe for the flavour goes to a document that can't be there. */
const writes = ({ requests }: Service): readonly string[] =>
	requests.filter((line) => !line.startsWith("GET ") && !line.includes(`/documents/${"0".repeat(32)} `));

describe("action.yml", () => {
	it("annotates a bad manifest on its line, and neither key nor service is needed", async () => {
		const runner = await Runner.make();
		await writeFile(join(runner.workspace, "tags.csv"), "document_id,publish_date\n01,yesterday\n");
		const { exit, stderr, outputs } = await runner.action({ manifest: "tags.csv", mode: "check", dataset: "legal" });
		expect([exit, outputs["exit-code"]]).toEqual([3, "3"]);
		expect(stderr).toMatch(
			/^::error file=tags\.csv,line=2,col=4,title=ragtag manifest check%3A [A-Z_]+::publish_date/m,
		);
		expect(await readFile(runner.summary, "utf8")).toContain("## Failed: `ragtag manifest check tags.csv`");
		expect((await readdir(outputs["folder"] ?? "")).toSorted()).toEqual(["check.xml"]);
	});

	it("sends nothing for a bad manifest that is to be applied", async () => {
		const [runner, service] = [await Runner.make(), await serve()];
		await writeFile(join(runner.workspace, "tags.csv"), "document_id,publish_date\n01,yesterday\n");
		const { exit } = await runner.action({ ...inputsOf(service), manifest: "tags.csv", mode: "apply" });
		expect(exit).toBe(3);
		expect(service.requests).toEqual([]);
	});

	it("plans without a write, and leaves plan, Markdown and reports for an artifact", async () => {
		const [runner, service] = [await Runner.make(), await serve()];
		const path = await manifest(runner, service);
		const inputs = { ...inputsOf(service), manifest: path, mode: "plan", "artifact-name": "plan" };
		const { exit, outputs, used, stderr } = await runner.action(inputs);
		expect([exit, outputs["exit-code"], stderr.includes("::error")]).toEqual([0, "0", false]);
		expect(writes(service)).toEqual([]);
		const made = outputs["folder"] ?? "";
		expect((await readdir(made)).toSorted()).toEqual(
			expect.arrayContaining(["changes.md", "check.xml", "junit.xml", "plan.jsonl", "report.html"]),
		);
		expect([outputs["plan"], outputs["changes"]]).toEqual([join(made, "plan.jsonl"), join(made, "changes.md")]);
		const changes = await readFile(join(made, "changes.md"), "utf8");
		expect(changes).toMatch(/^3 documents would change; keys: 3 added\.\n/);
		expect(await readFile(runner.summary, "utf8")).toContain(changes);
		expect(used).toEqual([
			{ uses: expect.stringMatching(/^actions\/upload-artifact@[0-9a-f]{40}$/), with: expect.anything() },
		]);
		expect(used[0]?.with).toMatchObject({ name: "plan", path: made });
	});

	it("applies, reads back, and keeps a record that undoes the run on another machine", async () => {
		const [runner, service] = [await Runner.make(), await serve()];
		const inputs = { ...inputsOf(service), manifest: await manifest(runner, service), mode: "apply" };
		const applied = await runner.action(inputs);
		expect([applied.exit, applied.stderr]).toEqual([0, expect.stringContaining("Verified 3 rows: 3 equal")]);
		expect((await service.documents()).map(({ metadata }) => metadata)).toEqual(Array(3).fill({ team: "legal" }));
		const again = await runner.action(inputs);
		expect([again.exit, again.stderr]).toEqual([0, expect.stringContaining("3 unchanged")]);

		const kept = applied.outputs["state-dir"] ?? "";
		const names = await readdir(kept, { recursive: true });
		// upload-artifact refuses names that Windows can't have (its function checkArtifactFilePath).
		expect(names.filter((name) => /[":<>|*?\r\n]/.test(name))).toEqual([]);
		const other = await Runner.make();
		// An artifact comes back without the modes of its files.
		await cp(kept, join(other.workspace, "state"), { recursive: true });
		await execute("chmod", ["-R", "u=rwX,go=rX", "state"], { cwd: other.workspace, env: other.env });
		const env = { RAGTAG_BASE_URL: service.url, RAGTAG_API_KEY: KEY };
		const undone = await other.script("ragtag runs undo --state-dir state --yes", { env });
		expect(undone).toMatchObject({ exit: 0, stderr: expect.stringContaining("3 reversed") });
		expect((await service.documents()).map(({ metadata }) => metadata)).toEqual(Array(3).fill({}));
	});

	it("ends with exit code 10 where a document has drifted, and with 0 where none has", async () => {
		const [runner, service] = [await Runner.make(), await serve()];
		const inputs = { ...inputsOf(service), manifest: await manifest(runner, service), mode: "drift" };
		const [first = ""] = await service.ids();
		for (const id of await service.ids()) await service.put(id, { team: "legal" });
		expect((await runner.action(inputs)).exit).toBe(0);
		await service.put(first, { team: "sales" });
		const { exit, outputs } = await runner.action(inputs);
		expect([exit, outputs["exit-code"]]).toEqual([10, "10"]);
		expect(await readFile(outputs["changes"] ?? "", "utf8")).toMatch(/^1 document would change; keys: 1 changed\./);
		expect(writes(service)).toEqual([]);
	});

	it("runs no command that a value of an input holds", async () => {
		const [runner, service] = [await Runner.make(), await serve()];
		const path = await manifest(runner, service, `a "b" $(touch pwned) \`touch pwned\`; touch pwned 'c.csv`);
		const inputs = { manifest: path, mode: "apply", "manifest-args": "--set=note=$(touch pwned) ' \"\n--mode=merge" };
		const { exit } = await runner.action({ ...inputsOf(service), ...inputs, "extra-args": "--rate=500" });
		expect(exit).toBe(0);
		const held = (await service.documents()).map(({ metadata }) => metadata);
		expect(held).toEqual(Array(3).fill({ team: "legal", note: "$(touch pwned) ' \"" }));
		await expect(stat(join(runner.workspace, "pwned"))).rejects.toThrow("ENOENT");
	});

	it("has no expression in a script: a value could end a quote there", () => {
		const scripts = ACTION.runs.steps.flatMap(({ run }) => run ?? []);
		expect(scripts.length).toBeGreaterThan(2);
		expect(scripts.filter((script) => script.includes("${{"))).toEqual([]);
	});

	it("refuses a mode that is none, without repeating it to the runner", async () => {
		const runner = await Runner.make();
		const { exit, stdout } = await runner.action({ manifest: "tags.csv", mode: "x\n::add-path::/tmp" });
		expect([exit, stdout]).toEqual([2, "::error title=ragtag::mode is one of check, plan, apply, drift\n"]);
	});

	it("installs the program where none is on the PATH, at the version of this package", async () => {
		const { version } = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8")) as {
			version: string;
		};
		expect(ACTION.inputs["version"]?.default).toBe(version);
		const [runner, service, made] = [await Runner.make(false), await serve(), await folder()];
		// A package with the same name and no dependencies: npm needs no registry for it.
		await writeFile(
			join(made, "package.json"),
			`{"name":"ragtag-cli","version":"${version}","bin":{"ragtag":"ragtag"}}`,
		);
		await writeProgram(made);
		const packed = await execute("npm", ["pack", "--silent"], { cwd: made, env: runner.env });
		const inputs = {
			manifest: await manifest(runner, service),
			mode: "check",
			package: join(made, packed.stdout.trim()),
		};
		const { exit, stdout } = await runner.action(
			{ ...inputs, dataset: service.dataset },
			{ npm_config_offline: "true" },
		);
		expect([exit, stdout]).toEqual([0, expect.stringContaining("added 1 package")]);
		expect(await runner.script("command -v ragtag", {})).toMatchObject({
			exit: 0,
			stdout: expect.stringContaining("/ragtag-cli/bin/ragtag\n"),
		});
	});
});
