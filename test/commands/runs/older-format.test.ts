import { cp, readFile, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { recorded, tagging } from "../../support/recorded.ts";
import { parseLines } from "../../support/values.ts";

const RUN = "20261125T022102-1e06db";
const FIXTURE = new URL("../../../fixtures/runs/format-1", import.meta.url).pathname;

it("a run of an older format is never misread: it is exit 8, the message names its version, and it stays unless --all removes it", async () => {
	const world = await recorded(3);
	await world.run((await tagging(world)).argv);
	const [own = ""] = await world.folders();
	await cp(FIXTURE, world.path(RUN, ""), { recursive: true });
	const path = world.path(RUN, "run.json");
	const text = (await readFile(path, "utf8")).replaceAll("http://127.0.0.1:9380", world.service.url);
	await writeFile(path, text.replace("/data/tags.csv", world.path(RUN, "manifest")), { mode: 0o600 });
	const writes = world.writes();
	const commands = [["undo", "--yes"], ["resume"], ["retry"], ["show"], ["verify"], ["report"], ["repair"]];
	for (const [command = "", ...more] of commands) {
		const { exit, stderr } = await world.run(["runs", command, RUN, ...more]);
		expect([command, exit, stderr]).toEqual([command, 8, expect.stringContaining("was written by ragtag 0.1.0")]);
		expect(stderr).toContain("that version can resume or undo the run");
	}
	expect(world.writes()).toBe(writes);
	// It hides no other run.
	const listed = parseLines((await world.run(["runs", "list", "--json"])).stdout);
	expect(listed).toContainEqual(expect.objectContaining({ run: own, state: "finished" }));
	expect(listed).toContainEqual(expect.objectContaining({ run: RUN, state: "other format" }));
	const kept = await world.run(["runs", "prune", "--older-than", "1ms", "--keep-last", "1"]);
	expect(kept.stderr).toContain(`Run ${RUN} is of another format: it stays (--all removes it too).`);
	expect((await world.run(["runs", "prune", RUN, "--all"])).stdout).toBe(`${RUN}\n`);
});
