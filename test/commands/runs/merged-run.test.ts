import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import {
	heldNumbers,
	inShards,
	recorded,
	type Recorded,
	refuseAt,
	resumeOf,
	runOf,
	stopAt,
} from "../../support/recorded.ts";
import { shardIndexOf } from "../../../src/shard.ts";
import { file, folder } from "../../support/service.ts";
import { at, range, summaryOf } from "../../support/values.ts";

const UNDO_FLAGS = ["--rate", "5000", "--concurrency", "1", "--json"];
const FLAGS = [...UNDO_FLAGS, "--chunk", "1"];

const merge = async (world: Recorded, shards: readonly string[]): Promise<unknown> =>
	summaryOf((await world.run(["runs", "merge", ...shards, "--json"])).stdout);

describe("a merged run", () => {
	it("is not verified where one of its shards was not, and its report has no chart", async () => {
		const world = await recorded(8);
		const shards = await inShards(world, 2, ["--chunk", "1"]);
		const summary = world.path(shards[0] ?? "", "summary.json");
		await writeFile(summary, (await readFile(summary, "utf8")).replace('"verified":true', '"verified":false'));
		const merged = await merge(world, shards);
		expect(merged).toMatchObject({ verified: false, updated: 8 });
		const page = join(await folder(), "run.html");
		const run = String(at(merged, "run"));
		expect((await world.run(["runs", "report", run, "--report", page])).exit).toBe(0);
		expect(await readFile(page, "utf8")).not.toContain("Requests a second");
	});

	it("is undone once, although the undo was stopped and resumed", async () => {
		// Ten updates, and the third of the undo.
		const world = await recorded(10, stopAt(13));
		const before = await heldNumbers(world);
		const shards = await inShards(world, 2, ["--chunk", "1"]);
		await merge(world, shards);
		const stopped = await ends(world.run(["runs", "undo", "--yes", ...UNDO_FLAGS]), 4, { pending: 8 });
		await ends(world.run([...resumeOf(stopped.stdout), "--yes", "--json"]), 0, { rows: 10, updated: 10, failed: 0 });
		expect(await heldNumbers(world)).toEqual(before);
		// Its shards have nothing left to undo, and undoing one as well breaks nothing.
		await ends(world.run(["runs", "undo", shards[0] ?? "", "--yes", ...UNDO_FLAGS]), 0, { changes: 0 });
		expect(await heldNumbers(world)).toEqual(before);
	});

	it("is retried where another run wrote a document before its shard began", async () => {
		const begin = async (world: Recorded): Promise<{ tag: string[]; first: string }> => {
			const ids = await world.service.ids();
			const path = await file("tags.csv", `document_id,n:number\n${ids.map((id, n) => `${id},${n}\n`).join("")}`);
			const tag = ["docs", "tag", path, "-d", world.service.dataset, ...FLAGS];
			const first = runOf((await world.run([...tag, "--shard", "1/2"])).stdout);
			const other = await file(
				"other.csv",
				`document_id,n:number\n${ids.filter((id) => shardIndexOf(id, 2) === 2)[1]},99\n`,
			);
			expect((await world.run(["docs", "tag", other, ...tag.slice(3)])).exit).toBe(0);
			return { tag, first };
		};
		// In a second world with the same ids, the second update of the second shard is refused for certain.
		const before = await recorded(8);
		await begin(before);
		const nth = before.service.requests.filter((line) => line.startsWith("PUT")).length + 2;
		const world = await recorded(8, refuseAt(nth));
		const { tag, first } = await begin(world);
		const second = await ends(world.run([...tag, "--shard", "2/2"]), 1, { failed: 1 });
		const run = String(at(await merge(world, [first, runOf(second.stdout)]), "run"));
		await ends(world.run(["runs", "retry", run, ...FLAGS]), 0, { failed: 0, superseded: 0, updated: 8 });
		expect(await heldNumbers(world)).toEqual(range(8));
	});

	it("is no shard of another merge, by its name or in a folder", async () => {
		const world = await recorded(8);
		const shards = await inShards(world, 2, ["--chunk", "1"]);
		const run = String(at(await merge(world, shards), "run"));
		await says(world.run(["runs", "merge", run, ...shards]), 8, `run ${run} is of a whole manifest`);
		const elsewhere = { env: { RAGTAG_STATE_DIR: await folder() } };
		await ends(world.run(["runs", "merge", "--from", world.state, "--json"], elsewhere), 0, { rows: 8, updated: 8 });
	});
});
