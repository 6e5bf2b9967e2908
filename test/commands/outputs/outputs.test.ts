import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { says } from "../../support/ended.ts";
import { casesOf, validJunit } from "../../support/junit.ts";
import { samplesOf } from "../../support/metrics.ts";
import { liar } from "../../support/liar.ts";
import { type Ended, envOf, ragtag, type World } from "../../support/ragtag.ts";
import { file, folder, KEY, type Service, serve } from "../../support/service.ts";
import { at, summaryOf } from "../../support/values.ts";

type Made = { readonly service: Service; readonly manifest: string; readonly junit: string };

/** A manifest of three rows, of which the second may name no document. */
async function world(second?: string): Promise<Made> {
	const service = await serve(3);
	const ids = await service.ids();
	const rows = ids.map((id, index) => `${index === 1 ? (second ?? id) : id},Bob,2025-01-0${index + 1}\n`);
	const manifest = await file("tags.csv", `document_id,author,publish_date\n${rows.join("")}`);
	return { service, manifest, junit: join(await folder(), "junit.xml") };
}

const tag = ({ service, manifest, junit }: Made, argv: readonly string[] = [], more: World = {}): Promise<Ended> =>
	ragtag(["docs", "tag", manifest, "-d", service.dataset, "--rate", "5000", "--junit", junit, ...argv], {
		env: envOf(service),
		...more,
	});

const casesIn = async (path: string): Promise<string[]> => casesOf(await validJunit(await readFile(path, "utf8")));

describe("an output that is also a file the command reads", () => {
	const cases: readonly (readonly [string, (made: Made) => Promise<string[]>])[] = [
		[
			"the manifest, named by a link",
			async (made) => {
				const link = join(await folder(), "link.csv");
				await symlink(made.manifest, link);
				return ["docs", "tag", link, "--junit", made.manifest];
			},
		],
		["the manifest, as the log", async ({ manifest }) => ["docs", "tag", manifest, "--log-file", manifest]],
		["the schema", async ({ manifest }) => ["docs", "tag", manifest, "--schema", manifest, "--junit", manifest]],
		["the key", async ({ manifest, junit }) => ["docs", "tag", junit, "--api-key-file", manifest, "--junit", manifest]],
		["the manifest of a recorded run", async ({ manifest }) => ["runs", "retry", "--junit", manifest]],
		["the manifest of a verified run", async ({ manifest }) => ["runs", "verify", "--metrics-file", manifest]],
		["the manifest of an undone run", async ({ manifest }) => ["runs", "undo", "--yes", "--junit", manifest]],
	];

	it.each(cases)("does not replace %s", async (_, argvOf) => {
		const made = await world();
		const home = await folder();
		const before = await readFile(made.manifest, "utf8");
		expect(await tag(made, [], { home })).toMatchObject({ exit: 0 });
		const argv = await argvOf(made);
		const { exit, stderr } = await ragtag(argv, { env: envOf(made.service), home });
		expect({ exit, text: stderr, after: await readFile(made.manifest, "utf8") }).toEqual({
			exit: 2,
			text: expect.stringContaining("is also the "),
			after: before,
		});
	});
});

describe("an output of a run", () => {
	it("is there after a run that went well, and leaves nothing else in its folder", async () => {
		const made = await world();
		expect(await tag(made)).toMatchObject({ exit: 0 });
		expect(await casesIn(made.junit)).toEqual(["docs tag: passed"]);
		expect(await readFile(made.junit, "utf8")).toContain('<property name="updated" value="3"/>');
		expect(await readdir(dirname(made.junit))).toEqual(["junit.xml"]);
	});

	it("has the failed rows of a run's earlier executions, too", async () => {
		const made = await world("absent");
		const home = await folder();
		const stopped = await tag(made, ["--max-errors", "1", "--concurrency", "1", "--chunk", "1"], { home });
		expect(stopped.exit).toBe(9);
		expect(await casesIn(made.junit)).toEqual(["docs tag: error exit 9", "line 3: absent: failure NOT_FOUND"]);
		const argv = ["runs", "resume", "--junit", made.junit];
		expect(await ragtag(argv, { env: envOf(made.service), home })).toMatchObject({ exit: 1 });
		expect(await casesIn(made.junit)).toEqual(["runs resume: passed", "line 3: absent: failure NOT_FOUND"]);
	});

	it("says of every early end that it is an error", async () => {
		const made = await world();
		const env = envOf(made.service);
		const invalid = { ...made, manifest: await file("bad.csv", "document_id,publish_date\na,tomorrow\n") };
		expect(await tag(invalid)).toMatchObject({ exit: 3 });
		expect(await casesIn(made.junit)).toEqual(["docs tag: error exit 3", "line 2: failure BAD_DATE"]);
		expect(await tag(made, [], { env: { ...env, RAGTAG_API_KEY: "ragflow-wrong0123456789" } })).toMatchObject({
			exit: 4,
		});
		expect(await casesIn(made.junit)).toEqual(["docs tag: error exit 4"]);
		expect(await tag(made, [], { env: { RAGTAG_BASE_URL: made.service.url } })).toMatchObject({ exit: 2 });
		expect(await casesIn(made.junit)).toEqual(["docs tag: error exit 2"]);
		expect(await tag(made, ["--delete-token", "!delete"])).toMatchObject({ exit: 2 });
		expect(await casesIn(made.junit)).toEqual(["docs tag: error exit 2"]);
		const stopped = AbortSignal.abort({ exit: 143, text: "stopped by SIGTERM" });
		expect(await tag(made, [], { signal: stopped })).toMatchObject({ exit: 143 });
		expect(await casesIn(made.junit)).toEqual(["docs tag: error exit 143"]);
		const noService = { RAGTAG_BASE_URL: "http://127.0.0.1:9", RAGTAG_API_KEY: KEY };
		expect(await tag(made, ["--max-outage", "50ms"], { env: noService })).toMatchObject({ exit: 6 });
		expect(await casesIn(made.junit)).toEqual(["docs tag: error exit 6"]);
	});

	it("says of a mistyped flag what it says of other failures, also where the flag comes after it", async () => {
		const made = await world();
		for (const argv of [["--rate", "fast"], ["--ratte", "5"], ["--rate"]]) {
			await rm(made.junit, { force: true });
			expect(await tag(made, argv)).toMatchObject({ exit: 2 });
			expect(await casesIn(made.junit)).toEqual(["docs tag: error exit 2"]);
			await rm(made.junit);
			const after = await ragtag(["docs", "tag", made.manifest, ...argv, `--junit=${made.junit}`]);
			expect(after.exit).toBe(2);
			expect(await casesIn(made.junit)).toEqual(["docs tag: error exit 2"]);
		}
		await rm(made.junit);
		// These have no such output.
		await ragtag(["docs", "list", "--junit", made.junit]);
		await ragtag(["docs", "tag", "--ratte", "--", "--junit", made.junit]);
		expect(await readdir(dirname(made.junit))).toEqual([]);
	});

	it("keeps the time of the last success in the metrics of a manifest that is refused and of a key that is missing", async () => {
		const made = await world();
		const metrics = join(dirname(made.junit), "ragtag.prom");
		const read = async (): Promise<Record<string, string>> => {
			const samples = Object.entries(samplesOf(await readFile(metrics, "utf8")));
			return Object.fromEntries(samples.map(([name, value]) => [name.replace(/manifest="[^"]*"/, ""), value]));
		};
		const label = '{command="docs tag",}';
		expect(await tag(made, ["--metrics-file", metrics])).toMatchObject({ exit: 0 });
		const good = await read();
		expect(good).toMatchObject({
			[`ragtag_last_run_exit_code${label}`]: "0",
			'ragtag_last_run_rows{command="docs tag",,result="updated"}': "3",
		});
		expect(Number(good[`ragtag_last_run_requests${label}`])).toBeGreaterThanOrEqual(3);
		const success = good[`ragtag_last_success_timestamp_seconds${label}`];
		expect(success).toBeDefined();
		const bad = { ...made, manifest: await file("bad.csv", "document_id,publish_date\na,tomorrow\n") };
		expect(await tag(bad, ["--metrics-file", metrics])).toMatchObject({ exit: 3 });
		expect(await read()).toMatchObject({
			[`ragtag_last_run_exit_code${label}`]: "3",
			[`ragtag_last_success_timestamp_seconds${label}`]: success,
			'ragtag_last_run_rows{command="docs tag",,result="invalid"}': "1",
		});
		expect(await tag(made, ["--metrics-file", metrics], { env: {} })).toMatchObject({ exit: 2 });
		expect(await read()).toMatchObject({
			[`ragtag_last_run_exit_code${label}`]: "2",
			[`ragtag_last_success_timestamp_seconds${label}`]: success,
		});
		// Without the label an alert would see another job.
		for (const wrong of [["--ratte", "5"], ["--rate"], ["--rate", "fast"]]) {
			await ragtag(["docs", "tag", made.manifest, "--metrics-file", metrics, ...wrong]);
			expect(await readFile(metrics, "utf8")).toContain(
				`ragtag_last_run_exit_code{command="docs tag",manifest="${made.manifest}"} 2`,
			);
		}
	});

	it("is written for a dry run, a plan and a check of a manifest", async () => {
		const made = await world("absent");
		expect(await tag(made, ["--dry-run"])).toMatchObject({ exit: 1 });
		expect(await casesIn(made.junit)).toEqual(["docs tag: passed", "line 3: absent: failure NOT_FOUND"]);
		const { service, manifest, junit } = made;
		const out = join(await folder(), "plan.jsonl");
		const plan = ["docs", "plan", manifest, "-d", service.dataset, "--out", out, "--junit", junit];
		expect(await ragtag(plan, { env: envOf(service) })).toMatchObject({ exit: 1 });
		expect(await casesIn(junit)).toEqual(["docs plan: passed", "line 3: absent: failure NOT_FOUND"]);
		const check = ["manifest", "check", manifest, "-d", service.dataset, "--junit", junit];
		expect(await ragtag(check)).toMatchObject({ exit: 0 });
		expect(await casesIn(junit)).toEqual(["manifest check: passed"]);
	});

	it("ends a good run with 74 where it can't be written, with the run recorded and the summary saying so", async () => {
		const made = await world();
		const home = await folder();
		// The folder is there when the run begins, and a folder stands where the file should be when it ends.
		const beforeConnecting = (): Promise<unknown> => mkdir(made.junit);
		const ended = await says(tag(made, ["--json"], { home, beforeConnecting }), 74, `ragtag: --junit ${made.junit}: `);
		expect(at(summaryOf(ended.stdout), "exit_code")).toBe(74);
		expect(await made.service.documents()).toMatchObject([{ metadata: { author: "Bob" } }, {}, {}]);
		const listed = await ragtag(["runs", "list", "--json"], { home });
		expect(listed.stdout).toContain(`"state":"finished","rows":3,"done":3`);
	});

	it("is refused before the first request where it can't be written, or would replace another file", async () => {
		const made = await world();
		const inFolder = dirname(made.junit);
		await mkdir(join(inFolder, "sub"));
		await writeFile(join(inFolder, "own.xml"), "");
		await symlink(join(inFolder, "own.xml"), join(inFolder, "link.xml"));
		const refused: readonly (readonly [string, string])[] = [
			[join(inFolder, "none", "junit.xml"), "no such file or directory"],
			[join(inFolder, "sub"), "is a folder"],
			[join(inFolder, "link.xml"), "is a link to another file; name that file itself"],
			["/dev/null", "is no regular file"],
			[made.manifest, `is also the file of the argument ${made.manifest}`],
		];
		for (const [junit, why] of refused) {
			await says(tag({ ...made, junit }), 2, `ragtag: --junit ${junit}: ${why}; nothing was sent`);
		}
		expect((await tag(made, ["--failed", made.junit])).exit).toBe(2);
		expect(made.service.requests).toEqual([]);
		expect(await readFile(made.manifest, "utf8")).toContain("document_id");
	});
});

describe("annotations", () => {
	/** A manifest with a problem, in a workspace of GitHub. */
	async function inGitHub(): Promise<{ manifest: string; env: Record<string, string>; summary: string }> {
		const workspace = await folder();
		await mkdir(join(workspace, "data"));
		const manifest = join(workspace, "data", "bad.csv");
		await writeFile(manifest, "document_id,publish_date\na,tomorrow\n");
		const summary = join(workspace, "summary.md");
		const env = { GITHUB_ACTIONS: "true", GITHUB_WORKSPACE: workspace, GITHUB_STEP_SUMMARY: summary };
		return { manifest, env, summary };
	}

	it("are made in GitHub without being asked for, on standard error, and in the summary of the step", async () => {
		const { manifest, env, summary } = await inGitHub();
		const { exit, stdout, stderr } = await ragtag(["manifest", "check", manifest, "-d", "x"], { env });
		expect(exit).toBe(3);
		expect(stdout).toBe("");
		const annotation = stderr.split("\n").filter((line) => line.startsWith("::"));
		expect(annotation).toHaveLength(1);
		expect(annotation[0]).toMatch(
			/^::error file=data\/bad\.csv,line=2,col=3,title=ragtag manifest check%3A BAD_DATE::publish_date/,
		);
		expect(await readFile(summary, "utf8")).toMatch(/^## Failed: `ragtag manifest check/);
		await ragtag(["manifest", "check", manifest, "-d", "x", "--annotations", "none"], { env });
		expect((await readFile(summary, "utf8")).match(/^## /gm)).toHaveLength(1);
	});

	it("leave standard error JSON with --progress json", async () => {
		const { manifest, env } = await inGitHub();
		const service = await serve(1);
		const argv = ["docs", "tag", manifest, "-d", service.dataset, "--progress", "json"];
		const { exit, stderr } = await ragtag(argv, { env: { ...env, ...envOf(service) } });
		expect(exit).toBe(3);
		expect(stderr).not.toContain("::error");
	});

	it("are the only commands that GitHub's runner gets: none comes from a document's name, a service or a path", async () => {
		const env = { GITHUB_ACTIONS: "true" };
		const name = "::set-output name=x::owned ##[set-output name=x]owned";
		const list = { code: 0, data: { total: 1, docs: [{ id: "doc-0", name, meta_fields: { "##[k]": "##[v]" } }] } };
		let said: unknown = list;
		const service = await liar(1, ({ path, query }) =>
			path.endsWith("/documents")
				? query.get("page") === "2"
					? { code: 0, data: { total: 1, docs: [] } }
					: said
				: undefined,
		);
		const run = (argv: readonly string[]): Promise<Ended> => ragtag(argv, { env: { ...envOf(service), ...env } });
		const commands = /^\s*::|##\[/m;
		const plan = ["docs", "tag", await file("a.csv", "document_id,a\ndoc-0,1\n"), "-d", "set", "--dry-run"];
		for (const argv of [
			["docs", "list", "-d", "set"],
			["docs", "list", "-d", "set", "--format", "table"],
			["values", "-d", "set"],
			plan,
		]) {
			const { stdout, stderr } = await run(argv);
			expect([argv[1], commands.test(stdout), commands.test(stderr)]).toEqual([argv[1], false, false]);
			expect(stdout).toContain(String.raw`#\x23[`);
		}
		// Data that was asked for stays what it is.
		expect((await run(["docs", "list", "-d", "set", "--format", "tsv"])).stdout).toContain(name);
		expect((await run(["docs", "list", "-d", "set", "--json"])).stdout).toContain(name);

		said = { code: 102, message: name };
		expect((await run(["docs", "list", "-d", "set"])).stderr).not.toMatch(commands);
		const path = await file("bad\n::error::own.csv", "document_id,publish_date\na,tomorrow\n");
		const checked = await run(["docs", "tag", path, "-d", "set", "--annotations", "none"]);
		expect([checked.exit, commands.test(checked.stderr)]).toEqual([3, false]);
		expect(checked.stderr).toContain(String.raw`bad\x0a::error::own.csv:2:3: `);
		expect(checked.stderr).toMatch(/manifest check \$'\S*bad\\x0a::error::own.csv'/);
	});
});
