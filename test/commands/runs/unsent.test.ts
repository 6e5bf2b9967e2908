import { readFile, rm, truncate } from "node:fs/promises";
import { expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { envOf } from "../../support/ragtag.ts";
import { sentIn } from "../../support/journal-lines.ts";
import { proxy } from "../../support/proxy.ts";
import { recorded, runOf, stopAt, tagged, tagging, toTag } from "../../support/recorded.ts";
import { at, parseLines, summaryOf } from "../../support/values.ts";

const NO_RUN = { run: null, resume: null, undo: null, pending: 4, rows: 4 };

it("a wrong key leaves no run to resume: nothing was sent", async () => {
	const { world, argv } = await toTag(4);
	const env = { RAGTAG_BASE_URL: world.service.url, RAGTAG_API_KEY: "ragflow-of-another-service" };
	const { stderr } = await ends(world.run(argv, { env }), 4, { ...NO_RUN });
	expect(stderr).toContain("run the same command again");
	expect(stderr).not.toContain("runs resume");
	expect([await world.folders(), world.writes()]).toEqual([[], 0]);
	expect((await world.run(["runs", "list", "--json"])).stdout).toBe("");
});

it("a service that refuses every connection leaves no run", async () => {
	const { world, argv } = await toTag(4);
	const env = { ...envOf(world.service), RAGTAG_BASE_URL: "http://127.0.0.1:1" };
	await says(world.run([...argv, "--max-outage", "50ms"], { env }), 6, "connection was refused");
	expect(await world.folders()).toEqual([]);
});

it("an unfinished run is not superseded by one that sent nothing: runs resume still finds it", async () => {
	const { world, argv, run: first } = await tagged(4, stopAt(3));
	const env = { RAGTAG_BASE_URL: world.service.url, RAGTAG_API_KEY: "ragflow-of-another-service" };
	expect((await world.run(argv, { env })).exit).toBe(4);
	expect(await world.folders()).toEqual([first]);
	const resumed = await world.run(["runs", "resume", "--json"]);
	expect([resumed.exit, runOf(resumed.stdout), summaryOf(resumed.stdout)]).toEqual([
		0,
		first,
		expect.objectContaining({ updated: 4 }),
	]);
});

it("a run of which one row was sent stays, whatever its answer", async () => {
	const { world, argv } = await toTag(4, stopAt(1));
	const { exit, stdout } = await world.run(argv);
	const run = runOf(stdout);
	expect([exit, at(summaryOf(stdout), "resume")]).toEqual([4, `ragtag runs resume ${run}`]);
	expect(await sentIn(world.path(run, "journal.log"))).toHaveLength(1);
});

it("a run that was killed before its first row is not begun: it is neither unfinished nor resumed without its name", async () => {
	const { world, run } = await tagged(4, stopAt(1));
	const [header = ""] = (await readFile(world.path(run, "journal.log"), "utf8")).split("\n");
	await truncate(world.path(run, "journal.log"), Buffer.byteLength(`${header}\n`));
	await rm(world.path(run, "summary.json"));
	const listed = parseLines((await world.run(["runs", "list", "--json"])).stdout);
	expect(listed).toEqual([expect.objectContaining({ run, state: "not begun", pending: 4, exit_code: null })]);
	await says(world.run(["runs", "resume"]), 2, "no recorded run is unfinished");
	expect((await world.run(["runs", "resume", run, "--json"])).exit).toBe(0);
});

it("a signal during the first write: the summary says that one of the pending rows may have been written", async () => {
	const world = await recorded(20);
	const stop = new AbortController();
	const url = await proxy(world.service, async ({ method, nth }, pass) => {
		// The first write of a row: the one before asks for the flavour.
		if (method === "PUT" && nth === 1) stop.abort({ exit: 130, text: "stopped by SIGINT" });
		return pass();
	});
	const { argv } = await tagging(world);
	const env = { ...envOf(world.service), RAGTAG_BASE_URL: url };
	const { exit, stderr } = await world.run([...argv, "--no-undo"], { env, signal: stop.signal });
	expect(exit).toBe(130);
	const written = (await world.service.documents()).filter(({ metadata }) => JSON.stringify(metadata) !== "{}");
	expect(written).toHaveLength(1);
	expect(stderr).toMatch(
		/\n20 rows: 20 pending, of which 1 may have been written in .*Resume it with: ragtag runs resume/,
	);
});
