import { appendFile, readFile, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { type Recorded, recorded, resumeOf, runOf, stopAt, tagged, tagging } from "../../support/recorded.ts";
import { at, parseLines } from "../../support/values.ts";

const listed = async (world: Recorded): Promise<unknown> =>
	parseLines((await world.run(["runs", "list", "--json"], { env: {} })).stdout)[0];

/** Breaks the second record of a journal and keeps its length and its time: only who reads the journal can notice. */
async function breakUnseen(journal: string): Promise<void> {
	const { atime, mtimeMs } = await stat(journal);
	const text = await readFile(journal, "utf8");
	await writeFile(journal, text.replace(" ou ", " or "));
	// `mtime` is rounded, up as well as down, and a journal that is newer than its summary is read.
	await utimes(journal, atime, new Date(Math.floor(mtimeMs)));
}

it("runs list reads the summaries of runs that ended, not their journals", async () => {
	const { world, run } = await tagged(4);
	const before = await listed(world);
	expect(before).toMatchObject({ run, state: "finished", rows: 4, done: 4, exit_code: 0 });
	await breakUnseen(world.path(run, "journal.log"));
	expect(await listed(world)).toEqual(before);
});

it("a run without a summary, as 0.1.0 or a kill leaves it, is listed from its journal", async () => {
	const { world, run } = await tagged(4, stopAt(3));
	const { ended, exit_code: code, ...before } = Object(await listed(world));
	expect([typeof ended, code]).toEqual(["string", 4]);
	await rm(world.path(run, "summary.json"));
	expect(await listed(world)).toMatchObject({ ...before, seconds: expect.any(Number), ended, exit_code: 4 });
	// The end of the execution is cut off: so a killed run looks.
	const journal = world.path(run, "journal.log");
	const lines = (await readFile(journal, "utf8")).trimEnd().split("\n");
	await truncate(journal, Buffer.byteLength(`${lines.slice(0, -1).join("\n")}\n`));
	const killed = { state: "unfinished", rows: 4, done: 2, pending: 2, ended: null, exit_code: null };
	expect(await listed(world)).toMatchObject(killed);
});

it.each<readonly [string, (journal: string, summary: string) => Promise<void>]>([
	[
		"an older copy of the summary came back",
		async (_, summary) =>
			writeFile(summary, (await readFile(summary, "utf8")).replace(/"journal_bytes":\d+/, '"journal_bytes":1')),
	],
	["the journal was written after it", async (journal) => utimes(journal, new Date(), new Date(Date.now() + 5_000))],
	["the summary is damaged", (_, summary) => truncate(summary, 20)],
])("a summary that does not fit the journal is not believed: %s", async (_, spoil) => {
	const { world, run } = await tagged(4);
	const journal = world.path(run, "journal.log");
	await breakUnseen(journal);
	await spoil(journal, world.path(run, "summary.json"));
	expect(at(await listed(world), "state")).toBe("damaged");
});

it("an execution that goes on has no summary of an earlier one", async () => {
	const world = await recorded(30, { ...stopAt(3), latency: 20 });
	const stopped = await world.run((await tagging(world)).argv);
	const run = runOf(stopped.stdout);
	expect(await listed(world)).toMatchObject({ done: 2, exit_code: 4 });
	const running = world.run([...resumeOf(stopped.stdout), "--concurrency", "1"]);
	await expect.poll(() => world.writes()).toBeGreaterThan(5);
	expect(await listed(world)).toMatchObject({ run, state: "running", ended: null, exit_code: null });
	const second = await world.run((await tagging(world)).argv);
	const hint = /ragtag runs adjust --rate N or --pause changes it, and kill -USR1 \d+ prints/;
	expect([second.exit, second.stderr]).toEqual([5, expect.stringMatching(hint)]);
	await running;
	expect(await listed(world)).toMatchObject({ run, state: "finished", done: 30, exit_code: 0 });
});

it("runs resume finds a run whose journal was changed after its summary said that nothing is left", async () => {
	const { world, run } = await tagged(4);
	const journal = world.path(run, "journal.log");
	const lines = (await readFile(journal, "utf8")).trimEnd().split("\n");
	await truncate(journal, Buffer.byteLength(`${lines.slice(0, -2).join("\n")}\n`));
	await appendFile(journal, "");
	const resumed = await world.run(["runs", "resume", "--json"]);
	expect([resumed.exit, runOf(resumed.stdout)]).toEqual([0, run]);
});
