import { expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { sentIn } from "../../support/journal-lines.ts";
import { recorded, runOf, stopAt, toTag } from "../../support/recorded.ts";
import { summaryOf } from "../../support/values.ts";

it("a run records the previous metadata of each document, and prints the command that undoes it", async () => {
	const { world, argv } = await toTag(30);
	const { stdout, stderr } = await world.run(argv);
	const run = runOf(stdout);
	expect(summaryOf(stdout)).toMatchObject({
		updated: 30,
		changes: 30,
		undoable: true,
		undo: `ragtag runs undo ${run}`,
	});
	expect(stderr).toContain(`Undo it with: ragtag runs undo ${run}`);
	const sent = await sentIn(world.path(run, "journal.log"));
	expect(sent).toHaveLength(30);
	for (const each of sent) expect(each).toMatchObject({ time: expect.any(Number), before: expect.any(Object) });
	// One list, not a look at each row.
	expect(world.service.requests.filter((line) => line.startsWith("GET")).length).toBeLessThan(10);

	await ends(world.run(argv), 0, { updated: 30, changes: 0, undo: null });
});

it("--no-undo reads no previous metadata, and the summary says that the run can't be undone", async () => {
	const { world, argv } = await toTag(30);
	const { stdout, stderr } = await world.run([...argv, "--no-undo"]);
	expect(summaryOf(stdout)).toMatchObject({ updated: 30, undoable: false, undo: null });
	expect(stderr).toContain("This run can't be undone");
	for (const each of await sentIn(world.path(runOf(stdout), "journal.log"))) expect(each).not.toHaveProperty("before");
});

it("a resumed run still knows that its first rows can't be undone", async () => {
	const { world, argv } = await toTag(30, stopAt(10));
	const first = await ends(world.run([...argv, "--no-undo"]), 4, {});
	const { stdout } = await world.run([...argv, "--resume"]);
	expect(runOf(stdout)).toBe(runOf(first.stdout));
	expect(summaryOf(stdout)).toMatchObject({ updated: 30, undoable: false, undo: expect.stringContaining("runs undo") });
});

it("a removal never claims that it can be undone", async () => {
	const world = await recorded(3);
	const [id = ""] = await world.service.ids();
	const { stdout } = await world.run(["docs", "rm", "--id", id, "-d", world.service.dataset, "--yes", "--json"]);
	expect(summaryOf(stdout)).toMatchObject({ removed: 1, undoable: false, undo: null });
});
