import { cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { says } from "../../support/ended.ts";
import { profilesIn } from "../../support/service.ts";
import { range } from "../../support/values.ts";
import { ONE_BY_ONE, type Recorded, runOf, stopAt, toTag } from "../../support/recorded.ts";

const LONG_AGO = "2020-01-01T00:00:00.000Z";
const OLD = "20200101T000000-aaaaaa";

/** Moves a run to the year 2020, as if nothing had been removed since. */
async function age(world: Recorded, run: string, name: string): Promise<string> {
	for (const file of ["run.json", "summary.json"]) {
		const path = world.path(run, file);
		const text = await readFile(path, "utf8");
		await writeFile(path, text.replaceAll(run, name).replace(/"(started|ended)":( ?)"[^"]*"/g, `"$1":$2"${LONG_AGO}"`));
	}
	await rename(world.path(run, ""), world.path(name, ""));
	return name;
}

/** Records nineteen newer runs that wrote, as nights would leave them. The run of the test is the twentieth. */
async function nights(world: Recorded, run: string): Promise<readonly string[]> {
	const text = await readFile(world.path(run, "run.json"), "utf8");
	const names = range(19).map((n) => `20260101T000000-${(n + 1).toString(16).padStart(6, "0")}`);
	for (const [n, name] of names.entries()) {
		await cp(world.path(run, ""), world.path(name, ""), { recursive: true, preserveTimestamps: true });
		const file = text.replaceAll(run, name).replace(/"order":( ?)\d+/, `"order":$1${n + 2}`);
		await writeFile(world.path(name, "run.json"), file, { mode: 0o600 });
	}
	return names;
}

/** A run of the year 2020, and those of the nights after it. */
async function aged(broken?: Parameters<typeof toTag>[1]) {
	const made = await toTag(3, broken);
	const old = await age(made.world, runOf((await made.world.run(made.argv)).stdout), OLD);
	return { ...made, old, others: await nights(made.world, old) };
}

const again = async (world: Recorded, argv: readonly string[], profile?: string): ReturnType<Recorded["run"]> => {
	if (profile === undefined) return world.run(argv);
	await profilesIn(world.home, `{job: {keep_runs: ${profile}}}`);
	return world.run([...argv, "--profile", "job"]);
};

it("at the end of a run, finished runs of more than 90 days ago are removed, and a note says so", async () => {
	const { world, argv, others } = await aged();
	const ended = await world.run(argv);
	expect(ended.stderr).toContain("Removed 1 run that ended more than 90d ago (keep_runs, default).");
	expect(await world.folders()).toEqual([...others, runOf(ended.stdout)]);
});

it("runs that wrote nothing take no place among the twenty that stay", async () => {
	const { world, argv, old, others } = await aged();
	for (const file of ["journal.log", "summary.json"]) await rm(world.path(others[0] ?? "", file), { force: true });
	const ended = await world.run(argv);
	expect(ended.stderr).not.toContain("Removed");
	expect(await world.folders()).toEqual([old, ...others, runOf(ended.stdout)]);
});

it("the newest twenty runs stay: where the clock was wrong once, none of them could be undone any more", async () => {
	const { world, argv, old, others } = await aged();
	await rm(world.path(others[0] ?? "", ""), { recursive: true });
	const ended = await world.run(argv);
	expect(ended.stderr).not.toContain("Removed");
	expect(await world.folders()).toEqual([old, ...others.slice(1), runOf(ended.stdout)]);
});

it.each([
	["forever", [OLD]],
	["30d", []],
])("keep_runs: %s of a profile decides what stays", async (setting, expected) => {
	const { world, argv, others } = await aged();
	const ended = await again(world, argv, setting);
	expect(ended.exit).toBe(0);
	const note = "Removed 1 run that ended more than 30d ago (keep_runs, profile job).";
	expect(ended.stderr.includes(note)).toBe(expected.length === 0);
	expect(await world.folders()).toEqual([...expected, ...others, runOf(ended.stdout)]);
});

it("an unfinished run stays, however old it is: its rows are still to be sent", async () => {
	const { world, path, old } = await aged(stopAt(2));
	await world.run(["docs", "tag", path, "-d", world.service.dataset, ...ONE_BY_ONE, "--mode", "merge"]);
	expect(await world.folders()).toContain(old);
});

it("a run that can't remove old records ends as well as any other", async () => {
	const { world, argv, old } = await aged();
	// A folder of that name is in the way of the removal.
	await mkdir(join(world.state, "runs", `.removed-${old}`, "in", "the", "way"), { recursive: true });
	await says(world.run(argv), 0, "Records of old runs could not be removed");
	expect(await world.folders()).toContain(old);
});

it.each(["90", "soon", "0d", "true"])("keep_runs: %s is refused before anything is sent", async (setting) => {
	const { world, argv } = await toTag(1);
	await says(again(world, argv, setting), 2, "forever");
	expect(world.writes()).toBe(0);
});
