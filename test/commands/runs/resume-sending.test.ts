import { readFile, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { type Recorded, recorded, refuseAt, resumeOf, runOf, stopAt, tagging, toTag } from "../../support/recorded.ts";
import { at, parse, parseLines, summaryOf } from "../../support/values.ts";

/** Twelve rows. The key is refused at each of these writes, once: the run stops there. Answers take a while. */
function stoppedAt(...nth: readonly number[]): Promise<Recorded> {
	return recorded(12, { latency: 40, ...stopAt(nth) });
}

/** Begins a run with these flags, which stops. */
async function begun(world: Recorded, ...flags: readonly string[]): Promise<{ run: string; resume: string[] }> {
	const { path } = await tagging(world);
	const { stdout } = await world.run(["docs", "tag", path, "-d", world.service.dataset, "--json", ...flags]);
	return { run: runOf(stdout), resume: [...resumeOf(stdout), "--json"] };
}

/** The cap of the last execution, as the series of the run has it. */
async function capOf(world: Recorded, run: string): Promise<unknown> {
	return at(parseLines(await readFile(world.path(run, "series.jsonl"), "utf8")).at(-1), "cap");
}

const reads = (world: Recorded): number => world.service.requests.filter((line) => line.startsWith("GET")).length;

it("a run without before-images is resumed without them: each would cost a read that the user did not want", async () => {
	const world = await stoppedAt(4);
	const { resume } = await begun(world, "--no-undo", "--concurrency", "1");
	const before = reads(world);
	await ends(world.run(resume), 0, { updated: 12, undoable: false });
	const own = reads(world) - before;

	const other = await stoppedAt(4);
	const { resume: withImages } = await begun(other, "--concurrency", "1");
	const earlier = reads(other);
	expect((await other.run(withImages)).exit).toBe(0);
	expect(reads(other) - earlier).toBeGreaterThan(own);
});

it.each([
	["37", [], 37],
	["00:00=41 12:00=41", [], 41],
	["37", ["--rate", "unlimited"], null],
])("a run of --rate %s that is resumed with %j keeps to %s: the default may be too much", async (rate, flags, cap) => {
	const world = await stoppedAt(4);
	const { run, resume } = await begun(world, "--rate", rate, "--concurrency", "1");
	expect((await world.run([...resume, ...flags])).exit).toBe(0);
	expect(await capOf(world, run)).toBe(cap);
});

it.each([
	["as it began", [], true],
	["as this command says", ["--concurrency", "auto"], false],
])("a resumed run has as many requests in flight %s", async (_, flags, isOne) => {
	const world = await stoppedAt(4, 8);
	const { resume } = await begun(world, "--rate", "1000", "--concurrency", "1");
	const second = await world.run([...resume, ...flags]);
	// One after the other, the eighth write is the last that is sent.
	const updated = Number(at(summaryOf(second.stdout), "updated"));
	if (isOne) expect(updated).toBe(6);
	else expect(updated).toBeGreaterThan(6);
});

it("a retry keeps them as well", async () => {
	const { world, path } = await toTag(6, refuseAt(4));
	const argv = ["docs", "tag", path, "-d", world.service.dataset, "--json", "--rate", "37", "--no-undo"];
	const first = await world.run(argv);
	const run = runOf(first.stdout);
	expect(summaryOf(first.stdout)).toMatchObject({ failed: 1 });
	const again = await world.run(["runs", "retry", run, "--json"]);
	expect([summaryOf(again.stdout), await capOf(world, run)]).toEqual([expect.objectContaining({ updated: 6 }), 37]);
});

it("a record says how it is sent, and one that says it wrongly, or of an earlier release, is resumed as before", async () => {
	const world = await stoppedAt(4);
	const { run, resume } = await begun(world, "--rate", "37", "--concurrency", "1", "--no-undo");
	const record = world.path(run, "run.json");
	const text = await readFile(record, "utf8");
	expect(at(parse(text), "sending")).toEqual({ undo: false, rate: "37", concurrency: 1 });
	const shown = await world.run(["runs", "show", run, "--json"]);
	expect(at(parse(shown.stdout), "sending")).toEqual({ undo: false, rate: "37", concurrency: 1 });
	await writeFile(record, text.replace('"37"', '"fast"').replace('"concurrency": 1', '"concurrency": 0'));
	expect((await world.run(resume)).exit).toBe(0);
	expect(await capOf(world, run)).toBe(100);
});
