import { readdir, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { commandFlavours } from "../../support/whole.ts";
import { liar } from "../../support/liar.ts";
import { planned } from "../../support/planned.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { recorded, stopAt } from "../../support/recorded.ts";
import { file, folder, serve, withoutKey, writes } from "../../support/service.ts";
import { at, parseLines, range, summaryOf } from "../../support/values.ts";

describe("docs plan", () => {
	it("of three hundred rows records the thirty that change, and docs apply sends exactly those", async () => {
		const world = await recorded(300);
		const { service } = world;
		const ids = await service.ids();
		const manifest = (n: (at: number) => number): Promise<string> =>
			file("tags.csv", `document_id,n:number\n${ids.map((id, row) => `${id},${n(row)}\n`).join("")}`);
		const fast = ["--rate", "5000", "--json"];
		const base = await manifest((n) => n);
		expect((await world.run(["docs", "tag", base, "-d", service.dataset, ...fast])).exit).toBe(0);
		const out = join(await folder(), "plan.jsonl");
		const next = await manifest((n) => (n % 10 === 3 ? n + 0.5 : n));

		const before = world.writes();
		const made = await world.run(["docs", "plan", next, "-d", service.dataset, "--out", out, ...fast]);
		await ends(made, 0, { rows: 300, unchanged: 270, pending: 30, run: null });
		expect(world.writes()).toBe(before);
		const lines = parseLines(await readFile(out, "utf8"));
		expect(lines.slice(1, -1).map((line) => at(line, "line"))).toEqual(range(30).map((n) => n * 10 + 5));

		const { requests } = service;
		const from = requests.length;
		const sent = await world.run(["docs", "apply", out, ...fast]);
		await says(sent, 0, `To change: 30 documents, as planned from ${next}`);
		expect(summaryOf(sent.stdout)).toMatchObject({ rows: 30, updated: 30, failed: 0, exit_code: 0 });
		const puts = requests.slice(from).filter((line) => line.startsWith("PUT"));
		const written = puts.map((line) => String(/documents\/(\S+)/.exec(line)?.[1]));
		expect(written).toHaveLength(30);
		expect(new Set(written)).toEqual(new Set(ids.filter((_, n) => n % 10 === 3)));
		const held = new Map((await service.documents()).map(({ id, metadata }) => [id, at(metadata, "n")]));
		expect(ids.map((id) => held.get(id))).toEqual(range(300).map((n) => (n % 10 === 3 ? n + 0.5 : n)));
	});

	it("of 3,000 documents is a comment that GitHub takes, the counts first, and the same plan", async () => {
		const service = await serve(3000);
		const rows = (await service.ids()).map((id, n) => `${id},x1,Title ${n}\n`).join("");
		const path = await file("tags.csv", `document_id,batch,title\n${rows}`);
		const into = await folder();
		const plan = (out: string, ...more: string[]): ReturnType<typeof ragtag> =>
			ragtag(["docs", "plan", path, "-d", service.dataset, "--out", join(into, out), "--rate", "5000", ...more], {
				env: envOf(service),
			});
		const { exit, stdout, stderr } = await plan("one.jsonl", "--format", "md");
		expect([exit, stdout.length]).toEqual([0, expect.closeTo(59_800, -3)]);
		expect(stdout).toMatch(
			/^3,000 documents would change; keys: 6,000 added\.\n\n- `batch`: add `"x1"`: 3,000 documents\n- `title`: add various values, such as `"Title 0"`, `"Title 1"`, `"Title 2"`: 3,000 documents\n\n<details>/,
		);
		expect(stdout).toMatch(/\n2,\d+ documents are not shown one by one: the limit is 60,000 characters\.\n$/);
		expect(stderr).not.toContain("would change; keys");
		const plain = await plan("two.jsonl");
		expect([plain.exit, plain.stdout]).toEqual([0, ""]);
		const [one, two] = await Promise.all(["one", "two"].map((name) => readFile(join(into, `${name}.jsonl`), "utf8")));
		expect(one?.split("\n").slice(1, 3001)).toEqual(two?.split("\n").slice(1, 3001));
	});

	it("names its target, mode and manifest, what each document had and gets, and no key", async () => {
		const { service, ids, manifest, out, made } = await planned(3, (n) => n === 1, { more: ["--set", "draft="] });
		const text = withoutKey(await readFile(out, "utf8"));
		const [header, ...lines] = parseLines(text);
		expect(header).toMatchObject({
			ragtag_plan: 1,
			base_url: `${service.url}/api/v1`,
			mode: "replace",
			manifest: { name: manifest, rows: 3 },
		});
		expect(lines).toHaveLength(4);
		expect(lines[1]).toMatchObject({
			line: 3,
			dataset_id: service.dataset,
			document_id: ids[1],
			action: "update",
			was: expect.stringMatching(/^[0-9a-f]{64}$/),
			meta_fields: { author: "Ann", n: 1001, draft: "" },
			add: { draft: "" },
			change: { n: { from: 1, to: 1001 } },
			remove: {},
		});
		expect(lines[3]).toMatchObject({ changes: 3, unchanged: 0, failed: 0 });
		expect((await stat(out)).mode & 0o777).toBe(0o600);
		// The lines that a dry run prints, and nothing else.
		expect(parseLines(made.stdout).map((line) => at(line, "type"))).toEqual([
			"version",
			...range(3).map(() => "change"),
			"summary",
		]);
		expect(writes(service)).toEqual([]);
	});

	it("prints no results without --json, reports the changes and the next command, and is no recorded run", async () => {
		const world = await planned(3, (n) => n === 1);
		const argv = ["docs", "plan", world.manifest, "-d", world.service.dataset, "--out", `${world.out}2`];
		const { exit, stdout, stderr } = await world.run([...argv, "--detailed-exitcode"]);
		expect([exit, stdout]).toEqual([10, ""]);
		expect(stderr).toContain("1 document would change; keys: 1 changed.");
		expect(stderr.trimEnd().split("\n").at(-1)).toContain(`ragtag docs apply ${world.out}2`);
		expect(await world.folders()).toEqual([]);
		expect((await world.run(world.applying)).exit).toBe(0);
		expect((await world.run([...argv, "--force", "--detailed-exitcode"])).exit).toBe(0);
	});

	it("reports missing documents, exits 1, and plans the others", async () => {
		const world = await planned(2, () => true);
		const manifest = await file("tags.csv", `document_id,n\n${world.ids[0]},5\nabsent,5\n`);
		const out = join(await folder(), "plan.jsonl");
		const failed = join(await folder(), "failed.csv");
		const argv = ["docs", "plan", manifest, "-d", world.service.dataset, "--out", out, "--json", "--failed", failed];
		const { stdout, stderr } = await says(world.run(argv), 1, `${manifest}:3: NOT_FOUND`);
		expect(stderr.trimEnd().split("\n").at(-1)).toContain(`send what is planned with: ragtag docs apply ${out}`);
		expect(summaryOf(stdout)).toMatchObject({ rows: 2, failed: 1, pending: 1 });
		expect(parseLines(await readFile(out, "utf8")).at(-1)).toMatchObject({ changes: 1, unchanged: 0, failed: 1 });
		expect(await readFile(failed, "utf8")).toContain("absent,5,3,NOT_FOUND");
		expect((await world.run(["docs", "apply", out])).exit).toBe(0);
	});

	it("writes no plan if it was stopped, and leaves no temporary file", async () => {
		const world = await recorded(500, stopAt(8, "GET"));
		const ids = await world.service.ids();
		const manifest = await file("tags.csv", `document_id,n\n${ids.map((id) => `${id},5\n`).join("")}`);
		const out = join(await folder(), "plan.jsonl");
		const argv = ["docs", "plan", manifest, "-d", world.service.dataset, "--out", out, "--json"];
		await ends(says(world.run(argv), 4, "no plan was written"), 4, { pending: 500 });
		expect(await readdir(dirname(out))).toEqual([]);
	});

	it("writes no plan if it was interrupted after its last request", async () => {
		const service = await liar(5, () => undefined);
		const rows = range(5).map((n) => `doc-${n},Ann\n`);
		const manifest = await file("tags.csv", `document_id,author\n${rows.join("")}`);
		const out = join(await folder(), "plan.jsonl");
		const argv = ["docs", "plan", manifest, "-d", "set", "--out", out, "--force", "--debug"];
		const env = envOf(service);
		const asked = (text: string): number => text.split("\n").filter((line) => line.includes("GET /")).length;
		const whole = await ragtag(argv, { env });
		expect(whole.exit).toBe(0);
		await rm(out);
		const stop = new AbortController();
		const onError = (text: string): void => {
			if (asked(text) === asked(whole.stderr)) stop.abort({ exit: 130, text: "stopped by SIGINT" });
		};
		const { exit, stderr } = await ragtag(argv, { env, signal: stop.signal, onError });
		expect([exit, stderr]).toEqual([130, expect.stringContaining("stopped by SIGINT; no plan was written")]);
		expect(stderr.trimEnd()).toMatch(/5 pending in .* Run the same command again\.$/);
		expect(await readdir(dirname(out))).toEqual([]);
	});

	it("does not overwrite an existing plan, and never the manifest; --force overwrites a plan", async () => {
		const world = await planned(3, (n) => n === 1);
		const text = await readFile(world.out, "utf8");
		const from = world.service.requests.length;
		await says(world.run(world.planning), 2, "exists already");
		const itself = ["docs", "plan", world.manifest, "-d", world.service.dataset, "--out", world.manifest, "--force"];
		expect(await world.run(itself)).toMatchObject({
			exit: 2,
			stderr: expect.stringContaining("is also the file of the argument"),
		});
		for (const failed of [world.out, `${world.out}.new`]) {
			const both = world.planning.map((each) => (each === world.out ? failed : each));
			const refused = await world.run([...both, "--failed", failed, "--force"]);
			expect(refused).toMatchObject({ exit: 2, stderr: expect.stringContaining("is also the file of --out") });
		}
		const nowhere = ["docs", "plan", world.manifest, "--out", join(world.home, "no", "folder")];
		expect((await world.run([...nowhere, "-d", world.service.dataset])).exit).toBe(2);
		const overFolder = ["docs", "plan", world.manifest, "--out", dirname(world.out), "--force"];
		expect((await world.run([...overFolder, "-d", world.service.dataset])).exit).toBe(2);
		expect(world.service.requests.slice(from)).toEqual([]);
		expect(await readFile(world.out, "utf8")).toBe(text);
		expect((await world.run([...world.planning, "--force", "--set", "more=1"])).exit).toBe(0);
		expect(await readFile(world.out, "utf8")).toContain('"more":"1"');
		expect(await readdir(dirname(world.out))).toEqual(["plan.jsonl"]);
	});

	it.each(commandFlavours)("is sent once at %s, and finds nothing to send again", async (flavour) => {
		const world = await recorded(30, { flavour });
		const { service } = world;
		const rows = (await service.ids()).map((document_id, n) =>
			JSON.stringify({ document_id, meta_fields: { n, tags: ["a; b", `t${n}`], "10": "x", __proto: 1 } }),
		);
		const manifest = await file("tags.jsonl", rows.join("\n"));
		const out = join(await folder(), "plan.jsonl");
		const planning = ["docs", "plan", manifest, "-d", service.dataset, "--out", out, "--rate", "5000", "--json"];
		const applying = ["docs", "apply", out, "--rate", "5000", "--json"];
		expect((await world.run(planning)).exit).toBe(0);
		expect(summaryOf((await world.run(applying)).stdout)).toMatchObject({ updated: 30, exit_code: 0 });
		const sent = writes(service).length;
		expect(summaryOf((await world.run(applying)).stdout)).toMatchObject({ unchanged: 30, updated: 0, exit_code: 0 });
		expect(summaryOf((await world.run([...planning, "--force"])).stdout)).toMatchObject({ unchanged: 30 });
		expect(writes(service)).toHaveLength(sent);
	});

	it("can be made from standard input, which the plan names as such", async () => {
		const world = await planned(2, () => true);
		const out = join(await folder(), "plan.jsonl");
		const stdin = `document_id,n\n${world.ids[0]},7\n`;
		const argv = ["docs", "plan", "-", "-d", world.service.dataset, "--out", out];
		expect((await world.run(argv, { stdin })).exit).toBe(0);
		await world.service.put(world.ids[0] ?? "", { other: 1 });
		expect(await world.run(["docs", "apply", out])).toMatchObject({
			exit: 1,
			stderr: expect.stringContaining("standard input:2: CONFLICT"),
		});
	});
});
