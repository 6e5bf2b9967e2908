import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { shardIndexOf } from "../../../src/shard.ts";
import { envOf } from "../../support/ragtag.ts";
import { heldNumbers, inShard, recorded, type Recorded, runOf, stopAt } from "../../support/recorded.ts";
import { file, folder, profilesIn } from "../../support/service.ts";
import { at, items, parseLines, range, summaryOf } from "../../support/values.ts";

const FLAGS = ["--rate", "5000", "--concurrency", "1", "--json"];

/** A manifest of a row a document, with more rows after them, and the arguments that tag a shard of it. */
async function sharded(world: Recorded, more = ""): Promise<{ path: string; argv: (shard: string) => string[] }> {
	const lines = (await world.service.ids()).map((id, n) => `${id},${n}\n`);
	const path = await file("tags.csv", `document_id,n:number\n${lines.join("")}${more}`);
	const tag = ["docs", "tag", path, "-d", world.service.dataset, ...FLAGS];
	return { path, argv: (shard) => [...tag, "--shard", shard] };
}

const sizes = (summaries: readonly unknown[], name: string): number =>
	summaries.map((each) => Number(at(each, name))).reduce((sum, count) => sum + count, 0);

describe("docs tag --shard", () => {
	it("writes each row in exactly one shard, and counts each row in exactly one", async () => {
		const world = await recorded(40);
		const { argv } = await sharded(world);
		const summaries: unknown[] = [];
		for (const index of [3, 1, 2]) {
			const { exit, stdout } = await world.run(argv(`${index}/3`));
			expect(exit).toBe(0);
			const summary = summaryOf(stdout);
			const own = await inShard(world, `${index}/3`);
			expect(summary).toMatchObject({ rows: own, updated: own, shard: { index, count: 3, other_rows: 40 - own } });
			summaries.push(summary);
		}
		expect(sizes(summaries, "rows")).toBe(40);
		expect(world.writes()).toBe(40);
		expect(await heldNumbers(world)).toEqual(range(40));
		const states = parseLines((await world.run(["runs", "list", "--json"])).stdout);
		expect(states.map((run) => [at(run, "state"), at(run, "shard")])).toEqual([
			["finished", "2/3"],
			["finished", "1/3"],
			["finished", "3/3"],
		]);
	});

	it("refuses an invalid manifest in every shard alike, and counts an invalid row in one", async () => {
		const world = await recorded(4);
		const { argv } = await sharded(world, ",7\n");
		for (const shard of ["1/2", "2/2"]) expect((await world.run(argv(shard))).exit).toBe(3);
		expect(world.writes()).toBe(0);
		const ended = [];
		for (const shard of ["1/2", "2/2"]) ended.push(await world.run([...argv(shard), "--skip-invalid"]));
		const summaries = ended.map(({ stdout }) => summaryOf(stdout));
		expect([sizes(summaries, "rows"), sizes(summaries, "invalid"), sizes(summaries, "updated")]).toEqual([5, 1, 4]);
		expect(ended.map(({ exit }) => exit)).toEqual(expect.arrayContaining([0, 1]));
	});

	it("keeps all rows of a document in one shard, so that the last of them wins", async () => {
		const world = await recorded(6);
		const again = (await world.service.ids()).map((id, n) => `${id.toUpperCase()},${n + 100}\n`);
		const { argv } = await sharded(world, again.join(""));
		const ended = [];
		for (const shard of range(3)) ended.push(await world.run([...argv(`${shard + 1}/3`), "--on-duplicate", "last"]));
		const summaries = ended.map(({ stdout }) => summaryOf(stdout));
		expect([sizes(summaries, "duplicate_skipped"), sizes(summaries, "updated")]).toEqual([6, 6]);
		expect(await heldNumbers(world)).toEqual(range(6).map((n) => n + 100));
	});

	it("is no failure where a shard has no row, and all of an empty manifest are", async () => {
		const world = await recorded(1);
		const { argv } = await sharded(world);
		const ended = [];
		for (const shard of ["1/2", "2/2"]) ended.push(await world.run(argv(shard)));
		expect(ended.map(({ exit }) => exit)).toEqual([0, 0]);
		expect(ended.map(({ stdout }) => at(summaryOf(stdout), "rows"))).toEqual(expect.arrayContaining([0, 1]));
		const empty = await file("none.csv", "document_id,n:number\n");
		const argvEmpty = ["docs", "tag", empty, "-d", world.service.dataset, "--shard", "1/2", ...FLAGS];
		expect((await world.run(argvEmpty)).exit).toBe(3);
	});

	it("shows in a dry run only the changes of its rows", async () => {
		const world = await recorded(12);
		const { argv } = await sharded(world);
		const { stdout } = await world.run([...argv("1/2"), "--dry-run"]);
		const own = await inShard(world, "1/2");
		expect(parseLines(stdout).filter((line) => at(line, "type") === "change")).toHaveLength(own);
		expect(summaryOf(stdout)).toMatchObject({ rows: own, pending: own, shard: { other_rows: 12 - own } });
	});

	it("is resumed with its own rows, by --resume and by name, and supersedes no other shard", async () => {
		const world = await recorded(30, stopAt(4));
		const { argv } = await sharded(world);
		const stopped = await world.run(argv("1/2"));
		expect(stopped.exit).toBe(4);
		const first = runOf(stopped.stdout);
		expect((await world.run(argv("2/2"))).exit).toBe(0);
		const show = parseLines((await world.run(["runs", "show", first, "--json"])).stdout);
		expect(show[0]).toMatchObject({ state: "unfinished", options: { shard: "1/2" } });
		const resumed = await world.run(["runs", "resume", first, "--json"]);
		const own = await inShard(world, "1/2");
		expect(summaryOf(resumed.stdout)).toMatchObject({ run: first, rows: own, updated: own, exit_code: 0 });
		expect(await heldNumbers(world)).toEqual(range(30));
		expect(runOf((await world.run([...argv("1/2"), "--resume"])).stdout)).not.toBe(first);
	});

	it.each(["1/4", undefined])("leaves alone what a newer run of shard %s has written", async (shard) => {
		const world = await recorded(30, stopAt(4));
		const { argv } = await sharded(world);
		const first = runOf((await world.run(argv("1/2"))).stdout);
		const flags = argv(shard ?? "1/1").filter((word) => shard !== undefined || (word !== "--shard" && word !== "1/1"));
		expect((await world.run(flags)).exit).toBe(0);
		const { exit, stdout } = await world.run(["runs", "resume", first, "--json"]);
		expect(exit).toBe(1);
		expect(at(summaryOf(stdout), "superseded")).toBeGreaterThan(0);
	});

	it.each([
		["{max_changes: 24}", [0, 0]],
		["{max_changes: 5}", [9, 9]],
		["{max_changes: 90%}", [9, 9]],
	])("judges the rows of a shard by themselves under the policy %s", async (policy, exits) => {
		const world = await recorded(40);
		const { argv } = await sharded(world);
		await profilesIn(world.home, `{prod: {policy: ${policy}}}`);
		const ended = [];
		for (const shard of ["1/2", "2/2"]) ended.push(await world.run(["--profile", "prod", ...argv(shard)]));
		expect(ended.map(({ exit }) => exit)).toEqual(exits);
	});

	it("takes its part from the scheduler with --shard auto", async () => {
		const world = await recorded(10);
		const { argv } = await sharded(world);
		const env = { ...envOf(world.service), JOB_COMPLETION_INDEX: "1", RAGTAG_SHARDS: "2" };
		const { stdout } = await world.run(argv("auto"), { env });
		expect(summaryOf(stdout)).toMatchObject({ shard: { index: 2, count: 2 }, rows: await inShard(world, "2/2") });
	});
});

it("docs upload --shard stores each file once, by its name, and docs rm --shard removes each document once", async () => {
	const world = await recorded(0);
	const place = await folder();
	const names = range(12).map((n) => `file ${n}.txt`);
	for (const name of names) await writeFile(join(place, name), name);
	await writeFile(join(place, "up.csv"), `file\n${names.map((name) => `${name}\n`).join("")}`);
	const flags = ["-d", world.service.dataset, ...FLAGS];
	const uploaded = [];
	for (const shard of ["1/2", "2/2"]) {
		const { stdout } = await world.run(["docs", "upload", join(place, "up.csv"), "--shard", shard, ...flags]);
		uploaded.push(Number(at(summaryOf(stdout), "uploaded")));
	}
	expect(uploaded).toEqual([1, 2].map((index) => names.filter((name) => shardIndexOf(name, 2) === index).length));
	const documents = await world.service.documents();
	expect(documents.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
	const ids = await file("rm.csv", `document_id\n${documents.map(({ id }) => `${id}\n`).join("")}`);
	for (const shard of ["1/2", "2/2"]) {
		expect((await world.run(["docs", "rm", ids, "--shard", shard, "--yes", ...flags])).exit).toBe(0);
	}
	expect(items(await world.service.documents())).toEqual([]);
});
