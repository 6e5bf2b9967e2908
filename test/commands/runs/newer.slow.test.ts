import { readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import {
	heldNumbers,
	ONE_BY_ONE,
	recorded,
	type Recorded,
	runOf,
	stopAt,
	tagged,
	tagging,
	toTag,
} from "../../support/recorded.ts";
import { file, folder } from "../../support/service.ts";
import { at, parseLines, range, summaryOf } from "../../support/values.ts";

const DOCUMENTS = 8;

/** A manifest that gives these documents other values: 100 and more. */
async function corrections({ service }: Recorded, documents: readonly number[], name = "b.csv"): Promise<string[]> {
	const ids = await service.ids();
	const lines = documents.map((n) => `${ids[n]},${100 + n}\n`);
	const path = await file(name, `document_id,n:number\n${lines.join("")}`);
	return ["docs", "tag", path, "-d", service.dataset, ...ONE_BY_ONE];
}

/** A run that stops after so many rows, and its manifest's command line. */
async function stopped(rows: number): Promise<{ world: Recorded; argv: string[]; path: string; run: string }> {
	const { world, argv, path } = await toTag(DOCUMENTS, stopAt(rows + 1));
	return { world, argv, path, run: runOf((await world.run(argv)).stdout) };
}

describe("a run that goes on", () => {
	it("sends no row that a newer run has written, whether it had been reached or not", async () => {
		const { world, run } = await stopped(4);
		const newer = runOf((await world.run(await corrections(world, [1, 6, 7]))).stdout);
		const { stderr } = await ends(world.run(["runs", "resume", "--json"]), 1, {
			updated: 6,
			failed: 2,
			superseded: 2,
			pending: 0,
		});
		expect(await heldNumbers(world)).toEqual([0, 101, 2, 3, 4, 5, 106, 107]);
		expect(stderr).toContain(`was written since by run ${newer}; left alone`);
		expect(stderr).toContain(`were written again since: 1 by run ${newer}`);
		// Neither are these rows offered again, nor does a retry send them.
		await expect(readFile(world.path(run, "failed.csv"))).rejects.toThrow(/ENOENT/);
		expect(summaryOf((await world.run(["runs", "retry", run, "--json"])).stdout)).toMatchObject({ failed: 2 });
		expect(await heldNumbers(world)).toEqual([0, 101, 2, 3, 4, 5, 106, 107]);
		expect((await world.run(["runs", "retry", run, "--force", "--json"])).exit).toBe(0);
		expect((await heldNumbers(world)).slice(6)).toEqual([6, 7]);
	});

	it("does not count such rows for --max-errors, which would end it before the others", async () => {
		const { world } = await stopped(2);
		await world.run(await corrections(world, [2, 3, 4]));
		const { stdout } = await world.run(["runs", "resume", "--max-errors", "2", "--json"]);
		expect(summaryOf(stdout)).toMatchObject({ updated: 5, failed: 3, pending: 0 });
	});

	it("leaves alone what a newer run found unchanged", async () => {
		const { world } = await stopped(2);
		const ids = await world.service.ids();
		await world.service.put(ids[5] ?? "", { n: 105 });
		expect((await world.run([...(await corrections(world, [5])), "--only-changed"])).exit).toBe(0);
		const { stderr } = await ends(world.run(["runs", "resume", "--json"]), 1, { updated: 7, superseded: 1 });
		expect(stderr).toContain("was found unchanged since by run");
		expect((await heldNumbers(world))[5]).toBe(105);
	});

	it("sends no row that a newer run has written whose run.json is damaged", async () => {
		const { world, run } = await stopped(4);
		const newer = runOf((await world.run(await corrections(world, [6, 7]))).stdout);
		await writeFile(world.path(newer, "run.json"), "{");
		await ends(world.run(["runs", "resume", run, "--json"]), 1, { updated: 6, superseded: 2 });
		expect((await heldNumbers(world)).slice(6)).toEqual([106, 107]);
	});

	it("sends no row that a newer run has written whose record was repaired, and lost what was sent", async () => {
		const { world, run } = await stopped(4);
		const newer = runOf((await world.run(await corrections(world, [5, 6, 7]))).stdout);
		const journal = world.path(newer, "journal.log");
		// The first record of a write.
		await writeFile(journal, (await readFile(journal, "utf8")).replace(" su ", " sx "));
		const { stderr } = await ends(world.run(["runs", "resume", run, "--json"]), 7, { run, updated: 4, pending: 4 });
		expect(stderr).not.toContain("Resuming");
		expect(stderr).toContain(`ragtag runs repair ${newer} keeps every good record`);
		expect((await world.run(["runs", "repair", newer])).exit).toBe(0);
		await ends(world.run(["runs", "resume", run, "--json"]), 1, { updated: 5, superseded: 3 });
		expect((await heldNumbers(world)).slice(5)).toEqual([105, 106, 107]);
	});

	it.each([
		["run.json", "{"],
		["journal.log", "x\n"],
	])("sends no row that a newer run has written whose %s was damaged when it was removed", async (damaged, text) => {
		const { world, run } = await stopped(4);
		const newer = runOf((await world.run(await corrections(world, [6, 7]))).stdout);
		const lines = (await readFile(world.path(newer, damaged), "utf8")).split("\n");
		await writeFile(world.path(newer, damaged), [...lines.slice(0, 1), text, ...lines.slice(1)].join("\n"));
		if (damaged === "run.json") {
			// Without that file, only a run that is old and was killed can be removed.
			const journal = world.path(newer, "journal.log");
			const records = (await readFile(journal, "utf8")).trimEnd().split("\n");
			await writeFile(journal, `${records.slice(0, -1).join("\n")}\n`);
			const old = new Date(Date.now() - 2 * 60 * 60 * 1000);
			await utimes(journal, old, old);
		}
		const which = damaged === "run.json" ? ["--older-than", "1h", "--keep-last", "0"] : [newer];
		const pruned = await world.run(["runs", "prune", ...which, "--all"]);
		expect([pruned.exit, pruned.stdout]).toEqual([0, `${newer}\n`]);
		await ends(world.run(["runs", "resume", run, "--json"]), 1, { updated: 6, superseded: 2 });
		expect((await heldNumbers(world)).slice(6)).toEqual([106, 107]);
	});

	it("sends nothing where the list of a removed newer run is damaged, unless it is forced", async () => {
		const { world, run } = await stopped(4);
		const newer = runOf((await world.run(await corrections(world, [6, 7]))).stdout);
		expect((await world.run(["runs", "prune", newer, "--all"])).exit).toBe(0);
		const list = world.path(".touched", newer);
		const whole = await readFile(list);
		for (const damaged of [
			whole.subarray(0, -1),
			whole.map((byte, at) => (at === whole.length - 12 ? byte ^ 1 : byte)),
		]) {
			await writeFile(list, damaged);
			await says(world.run(["runs", "resume", run]), 7, `${list} is damaged`);
		}
		expect((await heldNumbers(world)).slice(4)).toEqual([undefined, undefined, 106, 107]);
		expect((await world.run(["runs", "resume", run, "--force", "--json"])).exit).toBe(0);
	});

	it("does not lose what a newer run has written to the removal of its record, where the list can't be kept", async () => {
		const { world, run } = await stopped(4);
		const newer = runOf((await world.run(await corrections(world, [6, 7]))).stdout);
		await rm(world.path(".touched", ""), { recursive: true, force: true });
		await writeFile(world.path(".touched", ""), "");
		await says(world.run(["runs", "prune", newer, "--all"]), 7, `run ${newer} stays`);
		await ends(world.run(["runs", "resume", run, "--json"]), 1, { updated: 6, superseded: 2 });
	});

	it("with --resume begins anew, so that the documents are as the manifest says", async () => {
		const { world, argv } = await stopped(6);
		const newer = runOf((await world.run(await corrections(world, range(DOCUMENTS)))).stdout);
		const { stderr } = await ends(world.run([...argv, "--resume", "--json"]), 0, { updated: DOCUMENTS });
		expect(stderr).toContain(`run ${newer} has touched 8 documents of it since; a new one begins`);
		expect(await heldNumbers(world)).toEqual(range(DOCUMENTS));
	});

	it("after corrected rows were sent as another manifest, does not write over the corrections", async () => {
		const { world, path } = await toTag(DOCUMENTS);
		await writeFile(path, `${await readFile(path, "utf8")}${"f".repeat(32)},1\n`);
		const first = await world.run(["docs", "tag", path, "-d", world.service.dataset, ...ONE_BY_ONE]);
		expect(first.exit).toBe(1);
		await world.run(await corrections(world, [3]));
		await ends(world.run(["runs", "retry", runOf(first.stdout), "--json"]), 1, {
			updated: 8,
			failed: 1,
			superseded: 0,
		});
		expect((await heldNumbers(world))[3]).toBe(103);
	});

	it("is not superseded by a run of the same file for another dataset", async () => {
		const { world, path, run } = await stopped(4);
		const { stdout } = await world.run(["datasets", "create", "another"]);
		await world.run(["docs", "tag", path, "-d", stdout.trim(), "--max-errors", "1", ...ONE_BY_ONE]);
		await ends(world.run(["runs", "resume", run, "--json"]), 0, { updated: DOCUMENTS, failed: 0 });
	});

	it("is not excused by a run that ended before it wrote: a loss after --force is found", async () => {
		const { world, run } = await stopped(4);
		await world.run(await corrections(world, [1, 6]));
		expect((await world.run(["runs", "resume", run, "--force", "--json"])).exit).toBe(0);
		expect(await heldNumbers(world)).toEqual([0, 101, 2, 3, 4, 5, 6, 7]);
		const ids = await world.service.ids();
		await world.service.put(ids[6] ?? "", { n: 106 });
		const { exit, stdout } = await world.run(["runs", "verify", run, "--json"]);
		// The newer run wrote document 1 after this one, and document 6 before.
		expect([exit, at(summaryOf(stdout), "verify")]).toEqual([
			10,
			expect.objectContaining({ lost: 1, changed_since: 1 }),
		]);
	});

	it("with an upload neither takes nor repeats a file that a newer run has uploaded", async () => {
		const world = await recorded(0, stopAt(3, "POST"));
		const place = await folder();
		for (const name of ["a.txt", "b.txt"]) await writeFile(join(place, name), "text");
		const path = join(place, "up.csv");
		await writeFile(path, "file,n:number\na.txt,1\nb.txt,2\n");
		const words = ["docs", "upload", path, "-d", world.service.dataset, ...ONE_BY_ONE];
		const first = runOf((await world.run(words)).stdout);
		const other = await file("other.csv", `file,n:number\n${join(place, "b.txt")},9\n`);
		const newer = ["docs", "upload", other, "--files-root", "/", "-d", world.service.dataset, ...ONE_BY_ONE];
		expect((await world.run(newer)).exit).toBe(0);
		const counts = { uploaded: 1, failed: 1, superseded: 1 };
		await ends(world.run(["runs", "resume", first, "--yes", "--json"]), 1, counts);
		expect((await world.service.documents()).map(({ name, metadata }) => [name, at(metadata, "n")])).toEqual([
			["a.txt", 1],
			["b.txt", 9],
		]);
	});

	it("fails a row that was done and no longer holds, if it reads the list anyway and the other run is not known", async () => {
		const { world, run } = await stopped(4);
		const ids = await world.service.ids();
		await world.service.put(ids[1] ?? "", { n: 101 });
		const { stderr } = await ends(world.run(["runs", "resume", run, "--json"]), 1, {
			updated: 7,
			failed: 1,
			superseded: 0,
			pending: 0,
		});
		expect(stderr).toContain("CHANGED_SINCE");
		expect((await heldNumbers(world))[1]).toBe(101);
		// The undo leaves that document to whoever changed it.
		await ends(world.run(["runs", "undo", run, "--yes", "--json"]), 1, { failed: 1 });
		expect((await heldNumbers(world))[1]).toBe(101);
	});
});

it("a resumed merge counts a done row as done, if another client has changed other keys alone", async () => {
	const world = await recorded(40, { ...stopAt(45), flavour: "ragflow-0.21" });
	const ids = await world.service.ids();
	for (const id of ids) await world.service.put(id, { old: 1 });
	const { argv } = await tagging(world);
	const run = runOf((await world.run([...argv, "--mode", "merge"])).stdout);
	await world.service.put(ids[1] ?? "", { old: 2, n: 1 });
	await world.service.put(ids[2] ?? "", { old: 1, n: 102 });
	await ends(world.run(["runs", "resume", run, "--json"]), 1, { updated: 39, failed: 1 });
	expect((await heldNumbers(world)).slice(0, 4)).toEqual([0, 1, 102, 3]);
});

describe("an undo", () => {
	it("leaves alone what a newer run has written since, also the same values", async () => {
		const { world, path, run: first } = await tagged(DOCUMENTS);
		const copy = await file("copy.csv", await readFile(path, "utf8"));
		await world.run(["docs", "tag", copy, "-d", world.service.dataset, ...ONE_BY_ONE]);
		await ends(world.run(["runs", "undo", first, "--yes", "--json"]), 1, { failed: DOCUMENTS });
		expect(await heldNumbers(world)).toEqual(range(DOCUMENTS));
	});

	it("of one run after another takes both back: a run and its undo are no conflict for the run before", async () => {
		const { world, run: first } = await tagged(DOCUMENTS);
		const second = runOf((await world.run(await corrections(world, range(DOCUMENTS)))).stdout);
		expect((await world.run(["runs", "undo", second, "--yes", "--json"])).exit).toBe(0);
		expect(await heldNumbers(world)).toEqual(range(DOCUMENTS));
		expect((await world.run(["runs", "undo", first, "--yes", "--json"])).exit).toBe(0);
		expect(await heldNumbers(world)).toEqual(Array.from({ length: DOCUMENTS }, () => undefined));
	});

	it.each([
		["the run", ["B"]],
		["its undo", ["undo of B"]],
		["both", ["undo of B", "B"]],
		["an undo that was not finished, of the same run", ["undo of A"]],
	])("takes a run back where records were removed of what was undone since: of %s", async (_, removed) => {
		const world = await recorded(DOCUMENTS, removed[0] === "undo of A" ? stopAt(DOCUMENTS + 4) : {});
		const names = new Map<string, string>();
		const undo = async (name: string): Promise<number> => {
			const { exit, stdout } = await world.run(["runs", "undo", names.get(name) ?? "", "--yes", ...ONE_BY_ONE]);
			names.set(`undo of ${name}`, runOf(stdout));
			return exit;
		};
		names.set("A", runOf((await world.run((await tagging(world)).argv)).stdout));
		if (removed[0] === "undo of A") expect(await undo("A")).toBe(4);
		else {
			names.set("B", runOf((await world.run(await corrections(world, range(DOCUMENTS)))).stdout));
			expect(await undo("B")).toBe(0);
		}
		for (const name of removed) {
			expect((await world.run(["runs", "prune", names.get(name) ?? "", "--all"])).exit).toBe(0);
		}
		expect(await undo("A")).toBe(0);
		expect(await heldNumbers(world)).toEqual(Array.from({ length: DOCUMENTS }, () => undefined));
	});

	it("names the runs that found documents unchanged, and takes them back", async () => {
		const { world, argv, run: first } = await tagged(DOCUMENTS);
		const second = runOf((await world.run([...argv, "--only-changed"])).stdout);
		const found = `Run ${second} has since found 8 documents of it unchanged.`;
		await says(world.run(["runs", "undo", first, "--yes"]), 0, found);
	});

	it("that goes on after the run was sent again leaves the new values alone, and asks before", async () => {
		const { world, argv, run: first } = await tagged(DOCUMENTS, stopAt(DOCUMENTS + 4));
		await ends(world.run(["runs", "undo", first, "--yes", ...ONE_BY_ONE]), 4, { updated: 3 });
		expect((await world.run(argv)).exit).toBe(0);
		expect((await world.run(["runs", "resume", "--json"])).exit).toBe(2);
		await ends(world.run(["runs", "resume", "--yes", "--json"]), 1, { failed: 5 });
		expect(await heldNumbers(world)).toEqual(range(DOCUMENTS));
	});

	it("ends the run that it takes back: nothing resumes or retries it", async () => {
		const { world, run } = await stopped(4);
		expect((await world.run(["runs", "undo", run, "--yes", "--json"])).exit).toBe(0);
		for (const verb of ["resume", "retry"]) {
			await says(world.run(["runs", verb, run]), 2, `run ${run} was undone by run`);
		}
		const states = parseLines((await world.run(["runs", "list", "--json"])).stdout).map((one) => at(one, "state"));
		expect(states).toEqual(["finished", "undone"]);
	});
});

describe("two runs at once", () => {
	/** Starts the other command line at the first write of the one. */
	const during = async (world: Recorded, argv: string[], other: string[], stdin = ""): Promise<unknown> => {
		const first = world.run(argv);
		while (world.writes() === 0) await setTimeout(1);
		const second = await world.run(other, { stdin });
		await first;
		return second;
	};

	it("of one file through a link are exit 5: each would overwrite the other", async () => {
		const { world, argv, path } = await toTag(40, { latency: 5 });
		const link = join(await folder(), "link.csv");
		await symlink(path, link);
		const other = ["docs", "tag", link, ...argv.slice(3)];
		expect(await during(world, argv, other)).toMatchObject({ exit: 5 });
	});

	it("of one content, from a pipe, are exit 5", async () => {
		const { world, argv, path } = await toTag(40, { latency: 5 });
		const other = ["docs", "tag", "-", ...argv.slice(3)];
		expect(await during(world, argv, other, await readFile(path, "utf8"))).toMatchObject({ exit: 5 });
	});

	it("of two files and one dataset are possible, and the second says so before its first write", async () => {
		const { world, argv } = await toTag(40, { latency: 5 });
		const other = await corrections(world, [39]);
		expect(await during(world, argv, other)).toMatchObject({
			exit: 0,
			stderr: expect.stringContaining("is going on and writes the same dataset"),
		});
	});
});
