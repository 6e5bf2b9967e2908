import { impatient } from "../../support/clock.ts";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import {
	ONE_BY_ONE,
	recorded,
	refuseAt,
	resumeOf,
	runOf,
	stopAt,
	tagged,
	tagging,
	toTag,
} from "../../support/recorded.ts";
import { file, folder } from "../../support/service.ts";
import { at, keys, parse, range, summaryOf } from "../../support/values.ts";

const ABSENT = "0123456789abcdef".repeat(2);

it("failed rows of an earlier execution are in failed.csv too, and can be corrected and tagged again", async () => {
	const { world, path, argv } = await toTag(6, stopAt(4));
	const [head = "", ...lines] = (await readFile(path, "utf8")).trimEnd().split("\n");
	const [one = "", two = "", ...others] = lines;
	await writeFile(
		path,
		`${[head, one, `${ABSENT},77`, two, ...others, `${ABSENT.replace("0", "f")},99`].join("\n")}\n`,
	);
	const stopped = await ends(world.run(argv), 4, { rows: 8, updated: 2, failed: 1, pending: 5 });
	const failedPath = world.path(runOf(stopped.stdout), "failed.csv");
	expect((await readFile(failedPath, "utf8")).trimEnd().split("\n")).toHaveLength(2);

	const own = join(await folder(), "failed.csv");
	const ended = await world.run([...resumeOf(stopped.stdout), "--json", "--failed", own]);
	expect(summaryOf(ended.stdout)).toMatchObject({ rows: 8, updated: 6, failed: 2, pending: 0, exit_code: 1 });
	expect(ended.stderr).toContain(own);
	const text = await readFile(own, "utf8");
	const [first = "", ...failed] = text.trimEnd().split("\n");
	expect(first).toBe("document_id,n:number,_line,_error_code,_error,_attempts");
	expect(failed).toEqual([
		expect.stringMatching(new RegExp(`^${ABSENT},77,3,`)),
		expect.stringMatching(new RegExp(`^${ABSENT.replace("0", "f")},99,9,`)),
	]);
	const ids = await world.service.ids();
	await writeFile(own, text.replace(ABSENT, ids[0] ?? "").replace(ABSENT.replace("0", "f"), ids[1] ?? ""));
	await ends(world.run(["docs", "tag", own, "-d", world.service.dataset, ...ONE_BY_ONE]), 0, { rows: 2, updated: 2 });
	expect((await world.service.documents()).map(({ metadata }) => at(metadata, "n"))).toEqual([77, 99, 2, 3, 4, 5]);
});

it("runs retry sends only the failed rows, and the run counts each row once", async () => {
	const { world, argv } = await toTag(6, refuseAt([3, 4]));
	const failed = await world.run(argv);
	const run = runOf(failed.stdout);
	expect(summaryOf(failed.stdout)).toMatchObject({ updated: 4, failed: 2, exit_code: 1, resume: null });
	expect(failed.stderr).toContain(`ragtag runs retry ${run}`);
	const sent = world.writes();
	const retried = says(
		world.run(["runs", "retry", run, "--json", "--rate", "5000"]),
		0,
		"4 rows done before",
		"2 left",
	);
	await ends(retried, 0, { run, rows: 6, updated: 6, failed: 0, pending: 0, attempts: 8 });
	expect(world.writes() - sent).toBe(2);
	expect((await world.service.documents()).map(({ metadata }) => at(metadata, "n"))).toEqual(range(6));
	await ends(world.run(["runs", "retry", run, "--json"]), 0, { updated: 6, attempts: 8 });
	expect(world.writes() - sent).toBe(2);
});

it("a row that fails again counts once, with its last error", async () => {
	const document = "2".padStart(32, "0");
	const world = await recorded(3, {
		faults: { faults: [{ fault: "code", code: 102, when: "before", on: { method: "PUT", document, times: 10 } }] },
	});
	const { argv } = await tagging(world);
	const run = runOf((await world.run(argv)).stdout);
	await ends(world.run(["runs", "retry", run, "--json", "--rate", "5000"]), 1, { rows: 3, updated: 2, failed: 1 });
	expect((await readFile(world.path(run, "failed.csv"), "utf8")).trimEnd().split("\n")).toHaveLength(2);
});

it("retrying an upload whose metadata was refused stores no second file", async () => {
	const world = await recorded(1, refuseAt(2));
	const paths = [await file("first.txt", "a note"), await file("note.txt", "another")];
	const argv = ["docs", "upload", ...paths, "-d", world.service.dataset, "--set", "kind=note", ...ONE_BY_ONE];
	await ends(world.run(argv), 1, { rows: 2, uploaded: 1, failed: 1 });
	await ends(world.run(["runs", "retry", "--json"]), 0, { uploaded: 2, failed: 0 });
	const notes = (await world.service.documents()).filter(({ name }) => name.startsWith("note"));
	expect(notes).toEqual([expect.objectContaining({ name: "note.txt", metadata: { kind: "note" } })]);
});

it("a file of failed rows that can't be written is reported, with the command that writes them elsewhere", async () => {
	const { world, argv } = await toTag(3, refuseAt(2));
	const ended = await says(world.run([...argv, "--failed", "/dev/full"]), 1, "/dev/full: ");
	const run = runOf(ended.stdout);
	expect(ended.stderr).toContain(`ragtag runs report ${run} --failed`);
	const path = join(await folder(), "failed.csv");
	const told = await world.run(["runs", "report", run, "--failed", path]);
	expect(told.exit).toBe(0);
	expect((await readFile(path, "utf8")).trimEnd().split("\n")).toHaveLength(2);
	expect((await world.run(["runs", "report", run, "--failed", "/dev/full"])).exit).toBe(74);
});

it("runs report writes failed rows and the summary again, only from the journal", async () => {
	const { world, argv } = await toTag(4, refuseAt(2));
	const ended = await world.run(argv);
	const run = runOf(ended.stdout);
	const before = await readFile(world.path(run, "failed.csv"), "utf8");
	await rm(world.path(run, "failed.csv"));
	await world.service.close();
	const told = await world.run(["runs", "report", run, "--json"], { env: {} });
	expect(told.exit).toBe(0);
	expect(await readFile(world.path(run, "failed.csv"), "utf8")).toBe(before);
	const { seconds: _, verified: __, ...counts } = parse(told.stdout) as Record<string, unknown>;
	expect(summaryOf(ended.stdout)).toMatchObject(counts);
});

it("runs report of an upload prints the ids of all its executions, as they are needed to tag the files", async () => {
	const world = await recorded(1, stopAt(3, "POST"));
	const files = await Promise.all(range(4).map((n) => file(`file-${n}.txt`, `text ${n}`)));
	const stopped = await world.run(["docs", "upload", ...files, "-d", world.service.dataset, ...ONE_BY_ONE]);
	await world.run(resumeOf(stopped.stdout), { clock: impatient });
	const { exit, stdout } = await world.run(["runs", "report"], { env: {} });
	expect(exit).toBe(0);
	const held = (await world.service.documents()).filter(({ name }) => name.startsWith("file-"));
	const lines = held.map(({ id, name }) => `${id},${name}`);
	expect(stdout.trimEnd().split("\n").toSorted()).toEqual(["document_id,name", ...lines].toSorted());
	const fed = await file("ids.csv", stdout);
	const tag = ["docs", "tag", fed, "-d", world.service.dataset, "--set", "read=yes", ...ONE_BY_ONE];
	expect(summaryOf((await world.run(tag)).stdout)).toMatchObject({ rows: 4, updated: 4 });
});

it("runs report prints no failed rows of a changed manifest: the lines would be wrong", async () => {
	const { world, path } = await tagged(3, refuseAt(2));
	await writeFile(path, (await readFile(path, "utf8")).replace(",0\n", ",7\n"));
	await says(world.run(["runs", "report"]), 8, "was changed after the run began");
});

it("summary.json has every member of the printed summary", async () => {
	const { world, argv } = await toTag(3, refuseAt(2));
	const { stdout } = await world.run(argv);
	const summary = summaryOf(stdout);
	expect(parse(await readFile(world.path(runOf(stdout), "summary.json"), "utf8"))).toMatchObject(Object(summary));
	expect(keys(summary)).toEqual(expect.arrayContaining(["type", "run", "resume", "attempts", "seconds"]));
});
