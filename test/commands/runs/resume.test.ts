import { readFile, rm, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { impatient } from "../../support/clock.ts";
import { ONE_BY_ONE, outcomesIn, recorded, resumeOf, runOf, stopAt, tagging } from "../../support/recorded.ts";
import { file, folder, serve } from "../../support/service.ts";
import { at, range, summaryOf } from "../../support/values.ts";

const values = (held: readonly { readonly metadata: unknown }[]): unknown[] =>
	held.map(({ metadata }) => at(metadata, "n"));

it("--resume goes on where a run stopped: no row is sent twice, and the counts are the whole run's", async () => {
	const world = await recorded(10, stopAt(7));
	const { argv } = await tagging(world);
	const first = await world.run([...argv, "--resume"]);
	expect([first.exit, first.stderr]).toEqual([4, expect.stringContaining("No unfinished run of this manifest")]);
	expect(summaryOf(first.stdout)).toMatchObject({ rows: 10, updated: 6, pending: 4 });
	const second = await world.run([...argv, "--resume"]);
	expect([second.exit, second.stderr]).toEqual([0, expect.stringContaining("6 rows done before")]);
	expect(summaryOf(second.stdout)).toMatchObject({
		run: runOf(first.stdout),
		rows: 10,
		updated: 10,
		failed: 0,
		pending: 0,
		attempts: 10,
		exit_code: 0,
		resume: null,
	});
	expect(values(await world.service.documents())).toEqual(range(10));
	expect(world.writes()).toBe(10);
	expect(await world.folders()).toHaveLength(1);
	const third = await world.run([...argv, "--resume"]);
	expect([third.exit, third.stderr]).toEqual([0, expect.stringContaining("No unfinished run of this manifest")]);
	expect(await world.folders()).toHaveLength(2);
});

it("the command that the summary names goes on with the run from any folder, without a word about its options", async () => {
	const world = await recorded(6, stopAt(3));
	const { argv } = await tagging(world);
	const stopped = await world.run([...argv, "--set", "reviewed:boolean=true", "--mode", "merge"]);
	expect(stopped.stderr).toContain(`Go on with: ragtag runs resume ${runOf(stopped.stdout)}`);
	const again = await world.run([...resumeOf(stopped.stdout), "--json"]);
	expect([again.exit, summaryOf(again.stdout)]).toEqual([0, expect.objectContaining({ updated: 6, resume: null })]);
	expect((await world.service.documents()).map(({ metadata }) => metadata)).toEqual(
		range(6).map((n) => ({ n, reviewed: true })),
	);
});

it("seconds are those of all sittings, or a report of a long night says that it took a minute", async () => {
	const world = await recorded(9, {
		latency: 60,
		faults: { faults: [{ fault: "status", status: 401, when: "before", on: { method: "PUT", nth: [4, 8] } }] },
	});
	const { argv } = await tagging(world);
	const seconds: number[] = [];
	for (const exit of [4, 4, 0]) {
		const ended = await world.run([...argv, "--resume"]);
		expect(ended.exit).toBe(exit);
		seconds.push(Number(at(summaryOf(ended.stdout), "seconds")));
	}
	const [one = 0, two = 0, three = 0] = seconds;
	// A sitting sends three rows or more, 60 ms each.
	expect(two - one).toBeGreaterThan(0.15);
	expect(three - two).toBeGreaterThan(0.1);
	expect(three).toBeGreaterThan(0.5);
});

it("a run that was killed behind its last row is ended, not sent all over again", async () => {
	const world = await recorded(4);
	const { argv } = await tagging(world);
	const run = runOf((await world.run(argv)).stdout);
	const journal = world.path(run, "journal.jsonl");
	const lines = (await readFile(journal, "utf8")).trimEnd().split("\n");
	await writeFile(journal, `${lines.slice(0, -1).join("\n")}\n`);
	const { exit, stdout } = await world.run([...argv, "--resume"]);
	expect([exit, summaryOf(stdout)]).toEqual([0, expect.objectContaining({ run, updated: 4, pending: 0 })]);
	expect(world.writes()).toBe(4);
});

it("a run that was killed before it told how it ended is ended, not sent all over again", async () => {
	const world = await recorded(4);
	const { argv } = await tagging(world);
	const run = runOf((await world.run(argv)).stdout);
	await rm(world.path(run, "summary.json"));
	const { exit, stdout } = await world.run([...argv, "--resume"]);
	expect([exit, summaryOf(stdout)]).toEqual([0, expect.objectContaining({ run, updated: 4, pending: 0 })]);
	expect(world.writes()).toBe(4);
	expect((await world.run([...argv, "--resume"])).stderr).toContain("No unfinished run of this manifest");
});

it("other content under the same path is exit 8, and nothing is sent: rows would be taken for others", async () => {
	const world = await recorded(6, stopAt(3));
	const { path, argv } = await tagging(world);
	await world.run(argv);
	const sent = world.service.requests.length;
	await writeFile(path, (await readFile(path, "utf8")).replace(",0\n", ",7\n"));
	const { exit, stdout, stderr } = await world.run([...argv, "--resume"]);
	expect([exit, stderr]).toEqual([8, expect.stringContaining("the manifest differs")]);
	expect(stdout).not.toContain('"type":"row"');
	expect(world.service.requests.slice(sent).filter((line) => !line.startsWith("GET"))).toEqual([]);
	const named = await world.run(["runs", "resume"]);
	expect([named.exit, named.stderr]).toEqual([8, expect.stringContaining("the manifest differs")]);
});

it.each([
	["--set", "k=v"],
	["--mode", "merge"],
	["--empty", "null"],
])("other options (%s) are exit 8: half of the rows would get other metadata", async (...flags) => {
	const world = await recorded(6, stopAt(3));
	const { argv } = await tagging(world);
	await world.run(argv);
	const sent = world.writes();
	const { exit, stderr } = await world.run([...argv, "--resume", ...flags]);
	expect([exit, stderr]).toEqual([8, expect.stringContaining("options that change what is sent differ")]);
	expect(world.writes()).toBe(sent);
});

it("a run is not gone on with against another service", async () => {
	const world = await recorded(6, stopAt(3));
	const { argv } = await tagging(world);
	const stopped = await world.run(argv);
	const other = await serve(6);
	const run = runOf(stopped.stdout);
	const { exit, stderr } = await world.run(["runs", "resume", run], { env: envOf(other) });
	expect([exit, stderr]).toEqual([8, expect.stringContaining("the target differs")]);
	expect(other.requests.filter((line) => !line.startsWith("GET"))).toEqual([]);
	const found = await world.run([...argv, "--resume"], { env: envOf(other) });
	expect([found.exit, runOf(found.stdout)]).not.toEqual([0, run]);
});

it("a manifest from standard input is gone on with from its copy: the pipe that gave it is gone", async () => {
	const world = await recorded(6, stopAt(4));
	const { path } = await tagging(world);
	const argv = ["docs", "tag", "-", "-d", world.service.dataset, ...ONE_BY_ONE];
	const stopped = await world.run(argv, { stdin: await readFile(path) });
	expect(summaryOf(stopped.stdout)).toMatchObject({ updated: 3, pending: 3 });
	await rm(path);
	const { exit, stdout } = await world.run([...resumeOf(stopped.stdout), "--json"]);
	expect([exit, summaryOf(stdout)]).toEqual([0, expect.objectContaining({ rows: 6, updated: 6 })]);
	expect(values(await world.service.documents())).toEqual(range(6));
});

it("docs rm --id is gone on with: the ids were typed, and nobody types them again", async () => {
	const world = await recorded(5, stopAt(3, "DELETE"));
	const ids = (await world.service.ids()).slice(0, 4);
	const argv = ["docs", "rm", "--id", ...ids, "-d", world.service.dataset, "--yes", ...ONE_BY_ONE];
	const stopped = await world.run(argv);
	expect(summaryOf(stopped.stdout)).toMatchObject({ rows: 4, removed: 2, pending: 2, exit_code: 4 });
	const { exit, stdout } = await world.run([...resumeOf(stopped.stdout), "--json"]);
	expect([exit, summaryOf(stdout)]).toEqual([0, expect.objectContaining({ removed: 4, failed: 0 })]);
	expect(await world.service.ids()).toHaveLength(1);
});

it("an upload that writes metadata alone is gone on with as that: what was there before was not uploaded", async () => {
	const world = await recorded(0, {
		faults: { faults: [{ fault: "status", status: 401, when: "after", on: { method: "PUT", nth: 2 } }] },
	});
	const files = await Promise.all(["a.txt", "b.txt"].map((name) => file(name, name)));
	const upload = ["docs", "upload", ...files, "-d", world.service.dataset, ...ONE_BY_ONE];
	expect(await world.run(upload)).toMatchObject({ exit: 0 });
	const stopped = await world.run([...upload, "--set", "n=1", "--on-existing", "update-metadata"]);
	expect(summaryOf(stopped.stdout)).toMatchObject({ updated: 1, pending: 1, exit_code: 4 });
	const { exit, stdout } = await world.run([...resumeOf(stopped.stdout), "--json"]);
	expect([exit, summaryOf(stdout)]).toEqual([0, expect.objectContaining({ updated: 2, uploaded: 0 })]);
	expect((await world.run(["runs", "undo", "--yes", "--json"])).exit).toBe(0);
	expect((await world.service.documents()).map(({ metadata }) => metadata)).toEqual([{}, {}]);
});

it("docs upload FILE... is gone on with, and no file is stored twice", async () => {
	const world = await recorded(1, stopAt(3, "POST"));
	const files = await Promise.all(range(4).map((n) => file(`file-${n}.txt`, `text ${n}`)));
	const argv = ["docs", "upload", ...files, "-d", world.service.dataset, "--set", "n=1", ...ONE_BY_ONE];
	const stopped = await world.run(argv);
	expect(summaryOf(stopped.stdout)).toMatchObject({ rows: 4, uploaded: 2, pending: 2, exit_code: 4 });
	const { exit, stdout } = await world.run([...resumeOf(stopped.stdout), "--json"], { clock: impatient });
	expect([exit, summaryOf(stdout)]).toEqual([0, expect.objectContaining({ uploaded: 4, failed: 0 })]);
	const names = (await world.service.documents()).map(({ name }) => name).filter((name) => name.startsWith("file-"));
	expect(names.toSorted()).toEqual(range(4).map((n) => `file-${n}.txt`));
});

it("a second start while a run is at it is exit 5 and sends nothing, or every row would go out twice", async () => {
	const world = await recorded(8, { latency: 50 });
	const { argv } = await tagging(world);
	const first = world.run(argv);
	await expect.poll(() => world.writes(), { timeout: 10_000, interval: 5 }).toBeGreaterThan(1);
	const [second, resumed] = await Promise.all([world.run(argv), world.run([...argv, "--resume"])]);
	expect([second.exit, resumed.exit]).toEqual([5, 5]);
	expect(second.stderr).toContain("nothing was sent");
	expect(summaryOf((await first).stdout)).toMatchObject({ updated: 8, exit_code: 0 });
	expect(world.writes()).toBe(8);
	expect((await world.run(argv)).exit).toBe(0);
});

it("a run that was cut off before its header was written is no run, and does not stand in the way", async () => {
	const world = await recorded(4, stopAt(2));
	const { argv } = await tagging(world);
	const run = runOf((await world.run(argv)).stdout);
	// What is left of a process that was killed in the middle of writing its header.
	const journal = world.path(run, "journal.jsonl");
	await writeFile(journal, (await readFile(journal, "utf8")).slice(0, 40));
	await writeFile(world.path(run, "sent.jsonl"), "");
	const { exit, stdout, stderr } = await world.run([...argv, "--resume"]);
	expect([exit, stderr]).toEqual([0, expect.stringContaining("No unfinished run of this manifest")]);
	expect(runOf(stdout)).not.toBe(run);
	const listed = await world.run(["runs", "list", "--json"]);
	expect(listed.stdout).toContain(`"run":"${run}","command":"docs tag","manifest"`);
	expect(listed.stdout).toContain('"state":"not begun"');
});

it("outcomes in the journal are one a row, whatever the sittings, and hold what was sent of no other", async () => {
	const world = await recorded(6, stopAt(4));
	const { argv } = await tagging(world);
	const run = runOf((await world.run(argv)).stdout);
	await world.run([...argv, "--resume"]);
	const outcomes = outcomesIn(await readFile(world.path(run, "journal.jsonl"), "utf8"));
	expect(outcomes.map((outcome) => at(outcome, "i"))).toEqual(range(6));
});

it("runs resume without a recorded run says so, and is exit 2", async () => {
	const service = await serve(1);
	const { exit, stderr } = await ragtag(["runs", "resume"], { env: envOf(service), home: await folder() });
	expect([exit, stderr]).toEqual([2, expect.stringContaining("no run is recorded yet")]);
	expect(service.requests).toEqual([]);
});
