import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { systemClock } from "../../../src/run/clock.ts";
import { ONE_BY_ONE, recorded, resumeOf, runOf, stopAt, tagged, toTag } from "../../support/recorded.ts";
import { file, folder, serve } from "../../support/service.ts";
import { at, parse, parseLines, range, summaryOf } from "../../support/values.ts";

const values = (held: readonly { readonly metadata: unknown }[]): unknown[] =>
	held.map(({ metadata }) => at(metadata, "n"));

it("--resume resumes where a run stopped: no row is sent twice, and the counts are the whole run's", async () => {
	const { world, argv } = await toTag(10, stopAt(7));
	const first = await says(world.run([...argv, "--resume"]), 4, "No unfinished run of this manifest");
	expect(summaryOf(first.stdout)).toMatchObject({ rows: 10, updated: 6, pending: 4 });
	await ends(says(world.run([...argv, "--resume"]), 0, "6 rows done before"), 0, {
		run: runOf(first.stdout),
		rows: 10,
		updated: 10,
		failed: 0,
		pending: 0,
		attempts: 10,
		resume: null,
	});
	expect(values(await world.service.documents())).toEqual(range(10));
	expect(world.writes()).toBe(10);
	expect(await world.folders()).toHaveLength(1);
	await says(world.run([...argv, "--resume"]), 0, "No unfinished run of this manifest");
	expect(await world.folders()).toHaveLength(2);
});

it("the command of the summary resumes the run from any folder, without repeating its options", async () => {
	const { world, argv } = await toTag(6, stopAt(3));
	const stopped = await world.run([...argv, "--set", "reviewed:boolean=true", "--mode", "merge"]);
	expect(stopped.stderr).toContain(`Resume it with: ragtag runs resume ${runOf(stopped.stdout)}`);
	await ends(world.run([...resumeOf(stopped.stdout), "--json"]), 0, { updated: 6, resume: null });
	expect((await world.service.documents()).map(({ metadata }) => metadata)).toEqual(
		range(6).map((n) => ({ n, reviewed: true })),
	);
});

it("seconds are those of all executions, not of the last one", async () => {
	const { world, argv } = await toTag(9, { latency: 60, ...stopAt([4, 8]) });
	const seconds: number[] = [];
	for (const exit of [4, 4, 0]) {
		// The record of an execution has the machine's clock, so the program must have no faster one here.
		const ended = await world.run([...argv, "--resume"], { clock: systemClock });
		expect(ended.exit).toBe(exit);
		seconds.push(Number(at(summaryOf(ended.stdout), "seconds")));
	}
	const [one = 0, two = 0, three = 0] = seconds;
	// An execution sends three rows or more, at once or one after another, 60 ms each.
	expect(one).toBeGreaterThan(0.05);
	expect(two - one).toBeGreaterThan(0.05);
	expect(three - two).toBeGreaterThan(0.05);
});

it.each([
	["after its last row", 1],
	["before it had a summary", 0],
])("a run that was killed %s is ended, not sent again", async (_, lost) => {
	const { world, argv, run } = await tagged(4);
	const journal = world.path(run, "journal.log");
	const lines = (await readFile(journal, "utf8")).trimEnd().split("\n");
	if (lost > 0) await writeFile(journal, `${lines.slice(0, -lost).join("\n")}\n`);
	else await rm(world.path(run, "summary.json"));
	await ends(world.run([...argv, "--resume"]), 0, { run, updated: 4, pending: 0 });
	expect(world.writes()).toBe(4);
	expect((await world.run([...argv, "--resume"])).stderr).toContain("No unfinished run of this manifest");
});

it("other content under the same path is a new run with --resume: its rows are different rows", async () => {
	const { world, path, argv, run: stopped } = await tagged(6, stopAt(3));
	await writeFile(path, (await readFile(path, "utf8")).replace(",0\n", ",7\n"));
	const { stdout, stderr } = await ends(world.run([...argv, "--resume"]), 0, { rows: 6, updated: 6, pending: 0 });
	expect(stderr).toContain(`Run ${stopped} is unfinished and is not resumed: the manifest differs`);
	expect(stderr).toContain(`It is resumed only by name: ragtag runs resume ${stopped}`);
	expect(values(await world.service.documents())).toEqual([7, 1, 2, 3, 4, 5]);
	expect(runOf(stdout)).not.toBe(stopped);
});

it("a named run is resumed exactly or is exit 8, and the last line has every next command", async () => {
	const { world, path, run } = await tagged(6, stopAt(3));
	const whole = await readFile(path, "utf8");
	await writeFile(path, whole.replace(",0\n", ",7\n"));
	const sent = world.service.requests.length;
	const named = await says(world.run(["runs", "resume", run, "--json"]), 8, "the manifest differs");
	expect(summaryOf(named.stdout)).toMatchObject({ rows: 6, pending: 6, exit_code: 8 });
	expect(world.service.requests.slice(sent).filter((line) => !line.startsWith("GET"))).toEqual([]);
	const last = named.stderr.trimEnd().split("\n").at(-1);
	const ways = ["restore ", `ragtag docs tag ${path}`, `ragtag runs undo ${run}`, `ragtag runs prune ${run} --all`];
	for (const way of ways) expect(last).toContain(way);
	await writeFile(path, whole);
	expect((await world.run(["runs", "resume", run])).exit).toBe(0);
	expect(values(await world.service.documents())).toEqual(range(6));
});

it.each([
	["--set", "k=v"],
	["--mode", "merge"],
	["--empty", "null"],
])("other options (%s) are a new run: half of the rows would get other metadata", async (...flags) => {
	const { world, argv, run: stopped } = await tagged(6, stopAt(3));
	const { exit, stdout, stderr } = await world.run([...argv, "--resume", ...flags]);
	expect([exit, stderr]).toEqual([0, expect.stringContaining("No unfinished run of this manifest with these options")]);
	expect(summaryOf(stdout)).toMatchObject({ updated: 6 });
	expect(runOf(stdout)).not.toBe(stopped);
	const listed = parseLines((await world.run(["runs", "list", "--json"])).stdout);
	expect(listed.map((line) => at(line, "state"))).toEqual(["finished", "unfinished"]);
});

it("a newer whole run of the manifest supersedes an unfinished one, which would count rows that it wrote over", async () => {
	const { world, path, argv } = await toTag(6, stopAt(4));
	const one = await readFile(path, "utf8");
	const first = runOf((await world.run(argv)).stdout);
	await writeFile(path, one.replaceAll(/,(\d)\n/g, ",1$1\n"));
	const second = await says(world.run(argv), 0, `Run ${first} did not end, and is superseded by this one`);
	await writeFile(path, one);
	await ends(world.run([...argv, "--resume"]), 0, { updated: 6 });
	expect(values(await world.service.documents())).toEqual(range(6));
	const shown = parse((await world.run(["runs", "show", first, "--json"])).stdout);
	expect(shown).toMatchObject({ state: "superseded", superseded_by: runOf(second.stdout), resume: null });
	expect((await world.run(["runs", "show", first])).stdout).toContain(`superseded by ${runOf(second.stdout)}`);
});

it("a superseded run is not resumed without its name, even if the record of the newer run was removed", async () => {
	const { world, argv, run: first } = await tagged(6, stopAt(4));
	const second = runOf((await world.run(argv)).stdout);
	expect((await world.run(["runs", "prune", second])).stdout).toBe(`${second}\n`);
	await says(world.run(["runs", "resume"]), 2, "no recorded run is unfinished", first);
	const { stdout } = await world.run([...argv, "--resume"]);
	expect([runOf(stdout) === first, summaryOf(stdout)]).toEqual([false, expect.objectContaining({ updated: 6 })]);
});

it("a superseded run is resumed by name, and leaves alone what the newer unfinished one has written", async () => {
	const { world, path, argv } = await toTag(6, stopAt([3, 6]));
	const one = await readFile(path, "utf8");
	const first = runOf((await world.run(argv)).stdout);
	await writeFile(path, one.replaceAll(/,(\d)\n/g, ",1$1\n"));
	const second = runOf((await world.run(argv)).stdout);
	await writeFile(path, one);
	const named = await world.run(["runs", "resume", first, "--json"]);
	expect([named.exit, runOf(named.stdout)]).toEqual([1, first]);
	expect(named.stderr).toContain(`was written since by run ${second}; left alone`);
	expect(values(await world.service.documents()).slice(0, 2)).toEqual([10, 11]);
	await writeFile(path, one.replaceAll(/,(\d)\n/g, ",1$1\n"));
	const last = await ends(world.run([...argv, "--resume"]), 0, { updated: 6 });
	expect([first, second]).not.toContain(runOf(last.stdout));
	expect(values(await world.service.documents())).toEqual(range(6).map((n) => n + 10));
});

it("runs resume takes the newest unfinished run, whatever has ended since", async () => {
	const { world, argv } = await toTag(6, stopAt(3));
	const [id = ""] = await world.service.ids();
	const unfinished = runOf((await world.run(argv)).stdout);
	const small = await file("small.csv", `document_id,n:number\n${id},0\n`);
	expect((await world.run(["docs", "tag", small, ...argv.slice(3)])).exit).toBe(0);
	const { exit, stdout, stderr } = await world.run(["runs", "resume", "--json"]);
	expect([exit, runOf(stdout), summaryOf(stdout)]).toEqual([0, unfinished, expect.objectContaining({ updated: 6 })]);
	expect(stderr).toContain(`Resuming run ${unfinished}: 2 rows done before`);
	await says(world.run(["runs", "resume"]), 2, "no recorded run is unfinished");
});

it("other content through a pipe is another manifest, and what it wrote is not taken for the first one's", async () => {
	const { world, path } = await toTag(6, stopAt(4));
	const argv = ["docs", "tag", "-", "-d", world.service.dataset, ...ONE_BY_ONE, "--resume"];
	const one = await readFile(path, "utf8");
	const first = runOf((await world.run(argv, { stdin: one })).stdout);
	const second = await world.run(argv, { stdin: one.replaceAll(/,(\d)\n/g, ",1$1\n") });
	expect(second.exit).toBe(0);
	const third = await ends(world.run(argv, { stdin: one }), 0, { updated: 6 });
	expect(runOf(third.stdout)).not.toBe(first);
	expect(values(await world.service.documents())).toEqual(range(6));
});

it("a manifest with other content is not sent while a run of the same path is active", async () => {
	const { world, path, argv } = await toTag(8, { latency: 50 });
	const first = world.run(argv);
	await expect.poll(() => world.writes()).toBeGreaterThan(1);
	const other = `${path}.new`;
	await writeFile(other, (await readFile(path, "utf8")).replace(",0\n", ",7\n"));
	await rename(other, path);
	await says(world.run(argv), 5, "nothing was sent");
	expect((await first).exit).toBe(0);
	expect((await world.run(argv)).exit).toBe(0);
});

it("a run is not resumed against another service", async () => {
	const { world, argv } = await toTag(6, stopAt(3));
	const stopped = await world.run(argv);
	const other = await serve(6);
	const run = runOf(stopped.stdout);
	await says(world.run(["runs", "resume", run], { env: envOf(other) }), 8, "the target differs");
	// A verb that the service does not know shows its flavour, and changes nothing.
	expect(other.requests.filter((line) => !line.startsWith("GET") && !line.endsWith(" 405"))).toEqual([]);
	const found = await world.run([...argv, "--resume"], { env: envOf(other) });
	expect([found.exit, runOf(found.stdout)]).not.toEqual([0, run]);
});

it("a manifest from standard input is resumed from its copy, as the pipe has ended", async () => {
	const { world, path } = await toTag(6, stopAt(4));
	const argv = ["docs", "tag", "-", "-d", world.service.dataset, ...ONE_BY_ONE];
	const stopped = await ends(world.run(argv, { stdin: await readFile(path) }), 4, { updated: 3, pending: 3 });
	await rm(path);
	await ends(world.run([...resumeOf(stopped.stdout), "--json"]), 0, { rows: 6, updated: 6 });
	expect(values(await world.service.documents())).toEqual(range(6));
});

it("docs rm --id is resumed without typing the ids again", async () => {
	const world = await recorded(5, stopAt(3, "DELETE"));
	const ids = (await world.service.ids()).slice(0, 4);
	const argv = ["docs", "rm", "--id", ...ids, "-d", world.service.dataset, "--yes", ...ONE_BY_ONE];
	const stopped = await ends(world.run(argv), 4, { rows: 4, removed: 1, pending: 3 });
	await ends(world.run([...resumeOf(stopped.stdout), "--yes", "--json"]), 0, { removed: 4, failed: 0 });
	expect(await world.service.ids()).toHaveLength(1);
});

it("an upload that writes only metadata is resumed as such: existing files are not uploaded", async () => {
	const world = await recorded(0, {
		faults: { faults: [{ fault: "code", code: 109, when: "after", on: { method: "PUT", nth: 2 } }] },
	});
	const files = await Promise.all(["a.txt", "b.txt"].map((name) => file(name, name)));
	const upload = ["docs", "upload", ...files, "-d", world.service.dataset, ...ONE_BY_ONE];
	expect(await world.run(upload)).toMatchObject({ exit: 0 });
	const stopped = await world.run([...upload, "--set", "n=1", "--on-existing", "update-metadata"]);
	expect(summaryOf(stopped.stdout)).toMatchObject({ updated: 1, pending: 1, exit_code: 4 });
	await ends(world.run([...resumeOf(stopped.stdout), "--json"]), 0, { updated: 2, uploaded: 0 });
	expect((await world.run(["runs", "undo", "--yes", "--json"])).exit).toBe(0);
	expect((await world.service.documents()).map(({ metadata }) => metadata)).toEqual([{}, {}]);
});

it("a run that was killed before its header was written is no run, and blocks no other", async () => {
	const { world, argv, run } = await tagged(4, stopAt(2));
	// What is left of a process that was killed in the middle of writing its header.
	const journal = world.path(run, "journal.log");
	await writeFile(journal, (await readFile(journal, "utf8")).slice(0, 40));
	const { stdout } = await says(world.run([...argv, "--resume"]), 0, "No unfinished run of this manifest");
	expect(runOf(stdout)).not.toBe(run);
	const listed = await world.run(["runs", "list", "--json"]);
	expect(listed.stdout).toContain(`"run":"${run}","command":"docs tag","manifest"`);
	expect(listed.stdout).toContain('"state":"not begun"');
});

it("runs resume without a recorded run is exit 2 with the reason", async () => {
	const service = await serve(1);
	await says(ragtag(["runs", "resume"], { env: envOf(service), home: await folder() }), 2, "no run is recorded yet");
	expect(service.requests).toEqual([]);
});
