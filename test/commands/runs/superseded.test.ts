import { rm, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { heldNumbers, type Recorded, runOf, stopAt, tagged } from "../../support/recorded.ts";
import { at, parseLines, range } from "../../support/values.ts";

const MARK = "superseded.json";

const states = async (world: Recorded): Promise<unknown[]> =>
	parseLines((await world.run(["runs", "list", "--json"])).stdout).map((run) => at(run, "state"));

it("an undone run is not resumed, even if the undo was killed before it could mark it", async () => {
	const { world, argv, run: first } = await tagged(8, stopAt(6));
	const undone = await world.run(["runs", "undo", first, "--yes", "--json"]);
	expect(undone.exit).toBe(0);
	await rm(world.path(first, MARK));
	const again = await ends(world.run([...argv, "--resume"]), 0, { updated: 8 });
	// Of these, five were taken back: gone on with, they would count as done, and hold nothing.
	expect(await heldNumbers(world)).toEqual(range(8));
	expect(runOf(again.stdout)).not.toBe(first);
});

it("the mark stays when the record of such an undo is pruned, and runs resume skips the run", async () => {
	const { world, argv, run: first } = await tagged(4, stopAt(3));
	const undo = runOf((await world.run(["runs", "undo", first, "--yes", "--json"])).stdout);
	expect((await world.run(["runs", "prune", undo])).stdout).toBe(`${undo}\n`);
	expect(await states(world)).toEqual(["undone"]);
	expect((await world.run(["runs", "resume"])).exit).toBe(2);
	expect((await world.run([...argv, "--resume"])).exit).toBe(0);
	expect(await heldNumbers(world)).toEqual(range(4));
});

it.each(["", '{"schema":1,"b'])("half a mark, %j, that a full disk left does not end every later run", async (half) => {
	const { world, argv, run: first } = await tagged(4, stopAt(3));
	await writeFile(world.path(first, MARK), half);
	await ends(world.run(argv), 0, { updated: 4 });
	expect(await states(world)).toEqual(["finished", "superseded"]);
});
