import { readdir, readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { ONE_BY_ONE, recorded, type Recorded, refuseAt, runOf } from "../../support/recorded.ts";
import { file } from "../../support/service.ts";

const ROWS = 8;

/** Its values are so long that the journal is compressed at the end of a run. */
async function longValues({ service }: Recorded): Promise<string[]> {
	const lines = (await service.ids()).map((id, row) => `${id},${String(row).repeat(10_000)}\n`);
	const path = await file("long.csv", `document_id,text\n${lines.join("")}`);
	return ["docs", "tag", path, "-d", service.dataset, ...ONE_BY_ONE];
}

const namesOf = async (world: Recorded, run: string): Promise<string[]> =>
	(await readdir(world.path(run, ""))).filter((name) => name.startsWith("journal.log"));

it("a compressed run is retried, verified, reported, blamed and undone as any other", async () => {
	const world = await recorded(ROWS, refuseAt(3));
	const [id = ""] = await world.service.ids();
	const run = runOf((await world.run(await longValues(world))).stdout);
	expect(await namesOf(world, run)).toEqual(["journal.log.gz"]);
	const report = await world.run(["runs", "report", run]);
	expect([report.exit, await readFile(world.path(run, "failed.csv"), "utf8")]).toEqual([
		0,
		expect.stringContaining("2".repeat(10_000)),
	]);
	await ends(world.run(["runs", "retry", run, "--json"]), 0, { updated: ROWS, failed: 0 });
	expect(await namesOf(world, run)).toEqual(["journal.log.gz"]);
	expect((await world.run(["runs", "verify", run])).stderr).toContain(`${ROWS} equal`);
	expect((await world.run(["runs", "blame", id])).stdout).toContain(run);
	await ends(world.run(["runs", "undo", run, "--yes", "--json"]), 0, { updated: ROWS });
});

it("an unfinished run stays plain: its journal is appended to", async () => {
	const stop = { fault: "code", code: 109, when: "before", on: { method: "PUT", nth: ROWS } } as const;
	const world = await recorded(ROWS, { faults: { faults: [stop] } });
	const run = runOf((await world.run(await longValues(world))).stdout);
	expect(await namesOf(world, run)).toEqual(["journal.log"]);
});
