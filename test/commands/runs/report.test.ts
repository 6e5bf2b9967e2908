import { chmod, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { says } from "../../support/ended.ts";
import { readSeries } from "../../../src/run/series/series-file.ts";
import { recorded, resumeOf, runOf, stopAt, toTag } from "../../support/recorded.ts";
import { file, folder } from "../../support/service.ts";
import { parse } from "../../support/values.ts";

const ABSENT = "0123456789abcdef".repeat(2);

const jsonOf = async (path: string): Promise<unknown> => parse(await readFile(path, "utf8"));

it("--report writes the run as a page when it ends, for its user alone", async () => {
	const { world, argv, path } = await toTag(3);
	await writeFile(path, `${await readFile(path, "utf8")}${ABSENT},5\n`);
	const out = await folder();
	const [html, json] = [join(out, "run.html"), join(out, "run.json")];
	expect(await world.run([...argv, "--report", html])).toMatchObject({ exit: 1 });
	const page = await readFile(html, "utf8");
	expect(page).toContain("4 rows: 3 updated, 1 failed.");
	expect(page).toContain(ABSENT);
	expect(page).toContain("<b>n</b> 2");
	expect((await stat(html)).mode & 0o777).toBe(0o600);
	expect(await world.run([...argv, "--report", json, "--only-changed"])).toMatchObject({ exit: 1 });
	expect(await jsonOf(json)).toMatchObject({
		outcome: "Finished with failures",
		exit_code: 1,
		counts: { rows: 4, updated: 0, unchanged: 3, failed: 1 },
		codes: [{ code: "NOT_FOUND", count: 1 }],
		failed_rows: { total: 1, rows: [{ line: 5, document_id: ABSENT, error_code: "NOT_FOUND" }] },
		changes: { total: 0, rows: [] },
	});
});

it("runs report --report writes the page from the record, also when the manifest is gone", async () => {
	const { world, argv, path } = await toTag(3);
	await writeFile(path, `${await readFile(path, "utf8")}${ABSENT},5\n`);
	const out = await folder();
	const [first, second] = [join(out, "first.json"), join(out, "second.json")];
	const { stdout } = await world.run([...argv, "--verify", "all", "--report", first]);
	await rm(path);
	await says(world.run(["runs", "report", runOf(stdout), "--report", second]), 0, second);
	const [now, then] = [await jsonOf(second), await jsonOf(first)];
	// The run had not ended to the millisecond when it wrote its own.
	expect({ ...Object(now), ended: null }).toEqual({ ...Object(then), ended: null });
	expect(now).toMatchObject({
		exit_code: 1,
		verify: { checked: 3, equal: 3 },
		settings: {
			Mode: "replace",
			"Begun by": expect.stringMatching(/.@./),
			Latency: expect.stringMatching(/^p50 [\d.]+ ms, p95 /),
		},
		changes: { total: 3, rows: [{ line: 2, keys: [{ key: "n", action: "add", to: 0 }] }, {}, {}] },
	});
	expect(JSON.stringify(now)).not.toContain("undefined");
	const markdown = join(out, "run.md");
	expect(await world.run(["runs", "report", "--report", markdown])).toMatchObject({ exit: 0 });
	expect(await readFile(markdown, "utf8")).toContain("## Finished with failures: `ragtag docs tag ");
});

it("a resumed run has one series and one report, with the changes of both executions", async () => {
	const { world, argv } = await toTag(4, stopAt(3));
	const html = join(await folder(), "run.json");
	const stopped = await world.run([...argv, "--report", html]);
	expect(stopped.exit).toBe(4);
	expect(await jsonOf(html)).toMatchObject({
		outcome: "Stopped early",
		reasons: [expect.stringContaining("key")],
		next: [{ command: `ragtag runs resume ${runOf(stopped.stdout)}` }, { what: "Undo it" }],
		counts: { updated: 2, pending: 2 },
	});
	const series = world.path(runOf(stopped.stdout), "series.jsonl");
	const before = await readSeries(series);
	expect(before.at(-1)).toMatchObject({ done: 2, failed: 0 });
	const ended = await world.run([...resumeOf(stopped.stdout), "--json", "--report", html]);
	expect(ended.exit).toBe(0);
	expect(await jsonOf(html)).toMatchObject({ outcome: "Successful", executions: 2, changes: { total: 4 } });
	const after = await readSeries(series);
	expect(after.slice(0, before.length)).toEqual(before);
	expect(after.at(-1)).toMatchObject({ done: 4 });
	expect(after.length).toBeGreaterThan(before.length);
});

it("an upload's report names the files that were stored", async () => {
	const world = await recorded(0);
	const document = await file("hello.txt", "hello");
	const path = join(await folder(), "run.json");
	const argv = ["docs", "upload", document, "-d", world.service.dataset, "--set", "a=1", "--report", path];
	expect(await world.run(argv)).toMatchObject({ exit: 0 });
	expect(await jsonOf(path)).toMatchObject({
		counts: { uploaded: 1 },
		changes: { rows: [{ action: "upload", name: "hello.txt", keys: [{ key: "a", to: "1" }] }] },
	});
});

it("a report of an invalid manifest says its problems, and that nothing was sent", async () => {
	const world = await recorded(1);
	const manifest = await file("bad.csv", "document_id,publish_date\na,tomorrow\n");
	const path = join(await folder(), "run.json");
	expect(await world.run(["docs", "tag", manifest, "-d", world.service.dataset, "--report", path])).toMatchObject({
		exit: 3,
	});
	expect(await jsonOf(path)).toMatchObject({
		exit_code: 3,
		run: null,
		problems: { total: 1, rows: [{ line: 2, error_code: "BAD_DATE" }] },
	});
});

it("a report that can't be written is found before anything is sent", async () => {
	const { world, argv } = await toTag(1);
	const closed = await folder();
	await chmod(closed, 0o500);
	await says(world.run([...argv, "--report", join(closed, "none", "run.html")]), 2, "nothing was sent");
	expect(world.writes()).toBe(0);
});
