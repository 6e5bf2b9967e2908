import { appendFile, rm, writeFile } from "node:fs/promises";
import process from "node:process";
import { expect, it } from "vitest";
import { ownerText, thisMachine, thisProcessAsOwner } from "../../../src/run/storage/process-owner.ts";
import { pointLine } from "../../../src/run/series/point.ts";
import { type Recorded, recorded, runOf, stopAt, tagging } from "../../support/recorded.ts";
import { parseLines } from "../../support/values.ts";

/** Makes a journal longer than one that is read at once. It is no record, as if a write had been cut off. */
const CUT_OFF = "x".repeat(5 * 1024 * 1024);

/** Seconds after the process said that it executes the run. */
type Points = readonly { readonly at: number; readonly done: number; readonly failed: number }[];

/** A run of six rows as it is while this process executes it, with a journal that takes long to read. */
async function goingOn(points: Points, isMine: boolean): Promise<{ world: Recorded; run: string }> {
	const world = await recorded(6, stopAt(3));
	const run = runOf((await world.run((await tagging(world)).argv)).stdout);
	await rm(world.path(run, "summary.json"));
	await appendFile(world.path(run, "journal.jsonl"), CUT_OFF);
	const machine = thisMachine({ pid: process.pid, isRunning: () => true });
	const owner = thisProcessAsOwner(machine, process.pid, "one");
	await writeFile(world.path(run, "process.json"), ownerText(isMine ? owner : { ...owner, start: "1" }), {
		mode: 0o600,
	});
	const lines = points.map(({ at, done, failed }) =>
		pointLine({
			t: Date.parse(owner.since) / 1000 + at,
			s: 1,
			sent: 2,
			done,
			failed,
			p50: 1,
			p95: 1,
			state: "running",
			in_flight: 1,
			cap: null,
		}),
	);
	await writeFile(world.path(run, "series.jsonl"), lines.map((line) => `${line}\n`).join(""));
	return { world, run };
}

const listed = async (world: Recorded): Promise<unknown> =>
	parseLines((await world.run(["runs", "list", "--json"])).stdout)[0];

it("a run of millions of rows that goes on is listed at once, by its series and not by its journal", async () => {
	const points = [
		{ at: 1, done: 2, failed: 0 },
		{ at: 2, done: 5, failed: 1 },
	];
	const { world, run } = await goingOn(points, true);
	expect(await listed(world)).toMatchObject({
		run,
		state: "unfinished",
		rows: 6,
		done: 4,
		failed: 1,
		pending: 1,
		seconds: 2,
		ended: null,
		exit_code: null,
	});
});

it.each<readonly [string, Points, boolean]>([
	["its process was killed", [{ at: 1, done: 5, failed: 0 }], false],
	["its series ends with an earlier execution", [{ at: -3, done: 5, failed: 0 }], true],
	["its series has no line", [], true],
])("counts that may be old are not shown: the journal is read where %s", async (_, points, isMine) => {
	const { world, run } = await goingOn(points, isMine);
	expect(await listed(world)).toMatchObject({ run, done: 2, failed: 0, pending: 4 });
});
