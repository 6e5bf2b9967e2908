import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { shardIndexOf } from "../../../src/shard.ts";
import {
	heldNumbers,
	inShard,
	recorded,
	type Recorded,
	resumeOf,
	runOf,
	stopAt,
	tagging,
} from "../../support/recorded.ts";
import { file, folder } from "../../support/service.ts";
import { at, parseLines, range, summaryOf } from "../../support/values.ts";

const FLAGS = ["--rate", "5000", "--concurrency", "1", "--json"];
const SHARDS = ["1/3", "2/3", "3/3"];

/** A plan of a change for each document, and what applies a shard of it. */
async function planned(world: Recorded): Promise<{ apply: (shard: string, ...more: string[]) => string[] }> {
	const { path } = await tagging(world);
	const plan = join(await folder(), "plan.jsonl");
	expect((await world.run(["docs", "plan", path, "-d", world.service.dataset, "--out", plan])).exit).toBe(0);
	return { apply: (shard, ...more) => ["docs", "apply", plan, "--shard", shard, ...FLAGS, ...more] };
}

describe("docs apply --shard", () => {
	it("sends each change of a plan in exactly one shard, and their merged run is verified and undone as one", async () => {
		const world = await recorded(30);
		const before = await heldNumbers(world);
		const { apply } = await planned(world);
		const runs: string[] = [];
		for (const shard of SHARDS) {
			const { exit, stdout } = await world.run(apply(shard));
			const own = await inShard(world, shard);
			expect([exit, summaryOf(stdout)]).toEqual([
				0,
				expect.objectContaining({ rows: own, updated: own, shard: expect.objectContaining({ other_rows: 30 - own }) }),
			]);
			runs.push(runOf(stdout));
		}
		expect(world.writes()).toBe(30);
		expect(await heldNumbers(world)).toEqual(range(30));
		const merged = await world.run(["runs", "merge", ...runs, "--json"]);
		expect(summaryOf(merged.stdout)).toMatchObject({ rows: 30, updated: 30, verified: true, exit_code: 0 });
		const verified = await world.run(["runs", "verify", "--json"]);
		expect(summaryOf(verified.stdout)).toMatchObject({ run: runOf(merged.stdout), verify: { checked: 30, equal: 30 } });
		await ends(world.run(["runs", "undo", "--yes", ...FLAGS]), 0, { undone: { reversed: 30, kept: 0, failed: 0 } });
		expect(await heldNumbers(world)).toEqual(before);
	});

	it("resumes its shard alone, and lists only the rows of its shard that failed", async () => {
		const world = await recorded(20, stopAt(3));
		const { apply } = await planned(world);
		const stopped = await world.run(apply("1/3"));
		const own = await inShard(world, "1/3");
		expect([stopped.exit, summaryOf(stopped.stdout)]).toEqual([4, expect.objectContaining({ pending: own - 2 })]);
		await ends(world.run([...resumeOf(stopped.stdout), "--json"]), 0, { rows: own, updated: own });
		expect(world.writes()).toBe(own);

		// One document of the second shard is changed meanwhile, which the plan does not know.
		const [changed = ""] = (await world.service.ids()).filter((id) => shardIndexOf(id, 3) === 2);
		const path = await file("other.csv", `document_id,m\n${changed},x\n`);
		await world.run(["docs", "tag", path, "-d", world.service.dataset, ...FLAGS]);
		const conflict = await ends(world.run(apply("2/3")), 1, { failed: 1 });
		const failed = join(await folder(), "failed.jsonl");
		await says(world.run(["runs", "report", runOf(conflict.stdout), "--failed", failed]), 0, "1 failed");
	});

	it("shows in a dry run only its own changes, and is no failure where a shard has none", async () => {
		const world = await recorded(1);
		const { apply } = await planned(world);
		const ended = [];
		for (const shard of SHARDS) ended.push(await world.run(apply(shard, "--dry-run")));
		expect(ended.map(({ exit }) => exit)).toEqual([0, 0, 0]);
		const changes = ended.flatMap(({ stdout }) => parseLines(stdout)).filter((line) => at(line, "type") === "change");
		expect(changes).toHaveLength(1);
		for (const shard of SHARDS) expect((await world.run(apply(shard))).exit).toBe(0);
		expect(world.writes()).toBe(1);
	});
});
