import { mkdir, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { ONE_BY_ONE, recorded, runOf, stopAt, tagged, toTag } from "../../support/recorded.ts";

/** Without the newest runs, which stay by default. */
const OLD = ["--older-than", "1ms", "--keep-last", "0"];
const everything = ["runs", "prune", "--all", ...OLD];

it("an active run is never pruned: its rows could neither be recorded nor undone", async () => {
	const { world, argv } = await toTag(12, { latency: 40 });
	const running = world.run(argv);
	await expect.poll(() => world.writes()).toBeGreaterThan(2);
	const [run = ""] = await world.folders();
	const swept = await world.run(everything);
	expect([swept.exit, swept.stdout]).toEqual([0, ""]);
	expect(swept.stderr).toContain(`Run ${run} stays: it or another run of its manifest is in progress`);
	await says(world.run(["runs", "prune", run, "--all"]), 5, "nothing was removed");
	await ends(running, 0, { updated: 12 });
	expect((await world.run(["runs", "undo", run, "--yes"])).exit).toBe(0);
	expect((await world.run([...everything])).stdout).toContain(run);
	expect(await world.folders()).toEqual([]);
});

it("age counts from a run's end: a run that ended a minute ago is kept, however long ago it began", async () => {
	const { world, run } = await tagged(3);
	const record = world.path(run, "run.json");
	const text = await readFile(record, "utf8");
	await writeFile(record, text.replace(/"started": ".*"/, '"started": "2020-01-01T00:00:00.000Z"'));
	expect((await world.run(["runs", "prune", "--older-than", "1h", "--keep-last", "0"])).stdout).toBe("");
	expect((await world.run(["runs", "prune", ...OLD])).stdout).toBe(`${run}\n`);
});

it("with -q the runs are removed and nothing is printed", async () => {
	const { world } = await tagged(3);
	const { exit, stdout, stderr } = await world.run(["runs", "prune", ...OLD, "-q"]);
	expect([exit, stdout, stderr]).toEqual([0, "", ""]);
	expect(await world.folders()).toEqual([]);
});

it.each(["597h", "30d", "2w", "520w"])("--older-than %s accepts the usual times", async (time) => {
	const { world } = await tagged(3);
	const { exit, stdout } = await world.run(["runs", "prune", "--older-than", time, "--keep-last", "0"]);
	expect([exit, stdout]).toEqual([0, ""]);
	expect(await world.folders()).toHaveLength(1);
});

it("a folder that a run has just created is kept, and an abandoned one is removed", async () => {
	const world = await recorded(1);
	const fresh = join(world.state, "runs", "20260101T000000-aaaaaa");
	const old = join(world.state, "runs", "20260101T000001-aaaaaa");
	const left = join(world.state, "runs", ".removed-20260101T000002-aaaaaa");
	for (const each of [fresh, old, left]) await mkdir(each, { recursive: true, mode: 0o700 });
	const ago = (Date.now() - 7_200_000) / 1000;
	await utimes(old, ago, ago);
	expect((await world.run(everything)).stdout).toBe("20260101T000001-aaaaaa\n");
	expect((await stat(fresh)).isDirectory()).toBe(true);
	expect((await readdir(join(world.state, "runs"))).filter((name) => name.startsWith(".removed"))).toEqual([]);
});

it("a run whose record can't be read is kept without --all: no other record has its writes", async () => {
	const { world, run } = await tagged(3);
	await writeFile(world.path(run, "run.json"), '{"schema":99}');
	const long = Date.now() / 1000 - 90 * 86_400;
	await utimes(world.path(run, "journal.log"), long, long);
	const plain = await world.run(["runs", "prune", ...OLD]);
	expect([plain.stdout, await world.folders()]).toEqual(["", [run]]);
});

it("superseded runs are kept, unless --all is given; --dry-run prints which runs would go, and removes nothing", async () => {
	const { world, path, run: first } = await tagged(4, stopAt(2));
	const second = runOf((await world.run(["docs", "tag", path, "-d", world.service.dataset, ...ONE_BY_ONE])).stdout);
	const dry = await world.run(["runs", "prune", ...OLD, "--dry-run"]);
	const [head, ...lines] = dry.stdout.trimEnd().split("\n");
	expect(head).toBe("run\tcommand\tstate\trows\tended\tsize\tmanifest");
	expect(lines).toEqual([expect.stringMatching(new RegExp(`^${second}\tdocs tag\tfinished\t4\t.*Z\t[\\d.]+ kB\t`))]);
	expect(dry.stderr).toMatch(/1 run would be removed, [\d.]+ kB\./);
	expect(dry.stderr).toContain(`Run ${first} is superseded: it stays`);
	expect(await world.folders()).toEqual(expect.arrayContaining([first, second]));
	const plain = await says(world.run(["runs", "prune", ...OLD]), 0, `Run ${first} is superseded: it stays`);
	expect(plain.stdout).toBe(`${second}\n`);
	expect((await world.run(everything)).stdout).toBe(`${first}\n`);
});

it("--keep-last keeps the newest runs, however old they are", async () => {
	const { world, argv } = await toTag(2);
	const runs: string[] = [];
	for (let count = 0; count < 3; count++) runs.push(runOf((await world.run(argv)).stdout));
	const [oldest = "", ...others] = runs;
	expect((await world.run(["runs", "prune", "--older-than", "1ms", "--keep-last", "2"])).stdout).toBe(`${oldest}\n`);
	expect((await world.folders()).toSorted()).toEqual(others.toSorted());
});

it("the newest runs stay without --keep-last 0, however old the clock calls them", async () => {
	const { world, run } = await tagged(2);
	expect((await world.run(["runs", "prune", "--older-than", "1ms"])).stdout).toBe("");
	expect((await world.run(["runs", "prune", run])).stdout).toBe(`${run}\n`);
});

it("a person is asked before undo records go, with their number, size and names; cron is not", async () => {
	const { world, argv, run } = await tagged(2);
	const declined = await world.run(["runs", "prune", ...OLD], { terminal: true, stdin: "no\n" });
	expect([declined.exit, await world.folders()]).toEqual([2, [run]]);
	expect(declined.stderr).toMatch(
		new RegExp(
			`Remove the records of 1 run, [\\d.]+ kB, .*: ${run} \\(finished\\)\\? This cannot be undone. Type yes:`,
		),
	);
	const accepted = await world.run(["runs", "prune", ...OLD], { terminal: true, stdin: "yes\n" });
	expect([accepted.exit, await world.folders()]).toEqual([0, []]);
	await world.run(argv);
	const unasked = await world.run(["runs", "prune", ...OLD, "-y"], { terminal: true });
	expect([unasked.exit, await world.folders()]).toEqual([0, []]);
});
