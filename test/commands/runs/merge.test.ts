import { cp, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { heldNumbers, inShards, recorded, type Recorded, refuseAt, runOf, stopAt } from "../../support/recorded.ts";
import { file, folder } from "../../support/service.ts";
import { at, parseLines, range, summaryOf } from "../../support/values.ts";

const FLAGS = ["--rate", "5000", "--concurrency", "1", "--json"];

const listed = async (world: Recorded): Promise<readonly unknown[]> =>
	parseLines((await world.run(["runs", "list", "--json"])).stdout);

describe("runs merge", () => {
	it("makes one run of its shards, which is shown, verified, blamed, reported and undone as one", async () => {
		const world = await recorded(30);
		const before = await heldNumbers(world);
		const shards = await inShards(world, 3);
		const merged = await says(world.run(["runs", "merge", ...shards, "--json"]), 0, "Merged 3 shards of");
		const run = runOf(merged.stdout);
		expect(summaryOf(merged.stdout)).toMatchObject({
			run,
			rows: 30,
			updated: 30,
			pending: 0,
			attempts: 30,
			verified: true,
			shard: null,
		});
		expect(shards).not.toContain(run);

		const [show] = parseLines((await world.run(["runs", "show", "--json"])).stdout);
		expect(show).toMatchObject({ run, state: "finished", mergedFrom: shards, counts: { rows: 30, updated: 30 } });
		expect((await world.run(["runs", "show"])).stdout).toContain(`merged of  ${shards.join(", ")}`);
		expect(at(show, "options")).not.toHaveProperty("shard");
		await ends(world.run(["runs", "verify", "--json"]), 0, { run, verify: { checked: 30, equal: 30 } });
		const [id = ""] = await world.service.ids();
		const blamed = await world.run(["runs", "blame", id, "-d", world.service.dataset, "--json"]);
		expect(blamed.stdout).toContain(run);
		const page = join(await folder(), "run.md");
		expect((await world.run(["runs", "report", run, "--report", page])).exit).toBe(0);
		expect(await readFile(page, "utf8")).toContain("30");

		await ends(world.run(["runs", "undo", "--yes", "--json"]), 0, { undone: { reversed: 30, kept: 0, failed: 0 } });
		expect(await heldNumbers(world)).toEqual(before);
	});

	it("takes copies of other machines' folders, and prints only the name of the run", async () => {
		const world = await recorded(12);
		await inShards(world, 2);
		const collected = await folder();
		for (const machine of ["node1", "node2"]) await cp(world.state, join(collected, machine), { recursive: true });
		const other = { env: { RAGTAG_STATE_DIR: await folder() } };
		const { exit, stdout } = await world.run(["runs", "merge", "--from", collected], other);
		expect([exit, stdout]).toEqual([0, expect.stringMatching(/^\d{8}T\d{6}-[0-9a-f]{6}\n$/)]);
		const { stdout: list } = await world.run(["runs", "list", "--json"], other);
		expect(parseLines(list)).toEqual([expect.objectContaining({ rows: 12, done: 12, state: "finished", shard: null })]);
	});

	it.each(["of this machine", "of another machine"])(
		"keeps the place of its shards, %s: a run that followed them explains what it overwrote",
		async (where) => {
			const world = await recorded(8);
			const shards = await inShards(world, 2);
			const elsewhere = await folder();
			if (where === "of another machine") await rename(join(world.state, "runs"), join(elsewhere, "runs"));
			const ids = await world.service.ids();
			const path = await file("later.csv", `document_id,n:number\n${ids[0]},100\n`);
			const later = runOf((await world.run(["docs", "tag", path, "-d", world.service.dataset, ...FLAGS])).stdout);
			const which = where === "of another machine" ? ["--from", elsewhere] : shards;
			const run = runOf((await world.run(["runs", "merge", ...which, "--json"])).stdout);
			const others = where === "of another machine" ? [] : shards.toReversed();
			expect((await listed(world)).map((each) => at(each, "run"))).toEqual([later, run, ...others]);
			const verify = { equal: 7, lost: 0, changed_since: 1 };
			await ends(world.run(["runs", "verify", run, "--json"]), 0, { verify });
			await world.run(["runs", "undo", run, "--yes", "--json"]);
			expect((await heldNumbers(world))[0]).toBe(100);
		},
	);

	it("counts a failed row once with all its attempts, and tries it again as one run", async () => {
		const world = await recorded(12, refuseAt(3));
		const shards = await inShards(world, 2, ["--flavour", "documented", "--attempts", "1"]);
		const merged = await ends(world.run(["runs", "merge", ...shards, "--json"]), 1, { failed: 1, updated: 11 });
		const run = runOf(merged.stdout);
		await ends(world.run(["runs", "retry", run, "--json"]), 0, { run, rows: 12, updated: 12, failed: 0 });
		expect(await heldNumbers(world)).toEqual(range(12));
	});

	it("has every row once also where a shard had tried its failed rows again", async () => {
		const world = await recorded(12, refuseAt(3));
		const shards = await inShards(world, 2, ["--flavour", "documented", "--attempts", "1"]);
		for (const shard of shards) await world.run(["runs", "retry", shard, "--json"]);
		const merged = await world.run(["runs", "merge", ...shards, "--json"]);
		expect(summaryOf(merged.stdout)).toMatchObject({ rows: 12, updated: 12, failed: 0, attempts: 13, exit_code: 0 });
	});

	it("merges long runs of a manifest from a pipe", async () => {
		const world = await recorded(900);
		const lines = (await world.service.ids()).map((id, n) => `${id},${n}\n`);
		const stdin = `document_id,n:number\n${lines.join("")}`;
		const tag = ["docs", "tag", "-", "-d", world.service.dataset, "--rate", "5000", "--json"];
		const shards = [];
		for (const shard of ["1/2", "2/2"])
			shards.push(runOf((await world.run([...tag, "--shard", shard], { stdin })).stdout));
		const run = runOf((await world.run(["runs", "merge", ...shards, "--json"])).stdout);
		expect(await readFile(world.path(run, "manifest"), "utf8")).toBe(stdin);
		expect(summaryOf((await world.run(["runs", "verify", run, "--json"])).stdout)).toMatchObject({
			verify: { checked: 900, equal: 900 },
		});
	});
});

describe("runs merge refuses", () => {
	const refuses = async (world: Recorded, shards: readonly string[], text: string | RegExp): Promise<void> => {
		const folders = await world.folders();
		await says(world.run(["runs", "merge", ...shards]), 8, new RegExp(text));
		expect(await world.folders()).toEqual(folders);
	};

	it("shards that are missing, doubled, merged already, or a whole run", async () => {
		const world = await recorded(9);
		const shards = await inShards(world, 3);
		const [one = "", two = "", three = ""] = shards;
		await refuses(world, [two], "shards of .* are missing: 1/3, 3/3; nothing was merged");
		await refuses(world, [one, three], "shards of .* are missing: 2/3; nothing was merged");
		const [again = ""] = await inShards(world, 1);
		await refuses(world, [...shards, again], "no shards of one run");
		const path = await file("tags.csv", "document_id,n\nx,1\n");
		const whole = runOf((await world.run(["docs", "tag", path, "-d", world.service.dataset, ...FLAGS])).stdout);
		await refuses(world, [...shards, whole], "of a whole manifest");
		await world.run(["runs", "merge", ...shards]);
		await refuses(world, [three, two, one], "merged already");
	});

	it("shards of other content, options or divisions, and the same shard twice", async () => {
		const world = await recorded(9);
		const [one = "", two = ""] = await inShards(world, 2);
		const [other = ""] = await inShards(world, 2, ["--mode", "merge"]);
		await refuses(world, [one, two, other], "options change differently");
		const [third = ""] = await inShards(world, 3);
		await refuses(world, [one, two, third], "shard 1/2, the other 1/3");
		const [same = ""] = await inShards(world, 2);
		await refuses(world, [one, two, same], `shards are there twice: 1/2 \\(run ${one}\\), 1/2 \\(run ${same}\\)`);
		const path = await file("tags.csv", "document_id,n:number\nx,1\n");
		const foreign = ["docs", "tag", path, "-d", world.service.dataset, ...FLAGS, "--shard", "1/2"];
		await refuses(world, [one, two, runOf((await world.run(foreign)).stdout)], "different content");
	});

	it("unfinished shards, with the command that resumes them", async () => {
		const world = await recorded(20, stopAt(3));
		const [one = "", two = ""] = await inShards(world, 2);
		await refuses(
			world,
			[one, two],
			new RegExp(`shards are unfinished: 1/2 \\(run ${one}\\)(.|\n)*ragtag runs resume ${one}`),
		);
		const there = await world.run(["--state-dir", world.state, "runs", "merge", one, two]);
		expect(there.stderr).toContain(`ragtag runs resume ${one} --state-dir ${world.state}`);
		await world.run(["runs", "resume", one]);
		expect((await world.run(["runs", "merge", one, two])).exit).toBe(0);
		expect(await heldNumbers(world)).toEqual(range(20));
	});

	it("a folder without shards, and no folder, before anything is recorded", async () => {
		const world = await recorded(1);
		const empty = await folder();
		await writeFile(join(empty, "run.json"), "{}");
		for (const argv of [["--from", empty], [empty], [], ["--from", join(empty, "none")], ["20261121T170000-1a2b3c"]]) {
			expect((await world.run(["runs", "merge", ...argv])).exit).toBe(2);
		}
	});
});
