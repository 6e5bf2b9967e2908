import { readFile, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import process from "node:process";
import { expect, it } from "vitest";
import { says } from "../../support/ended.ts";
import { ownerText, processesHere, thisProcessAsOwner } from "../../../src/run/storage/process-owner.ts";
import { encode, entryOf, recordOf } from "../../../src/run/journal/record-line.ts";
import { outcome } from "../../run/journal/support.ts";
import { type Recorded, stopAt, tagged } from "../../support/recorded.ts";
import { parseLines } from "../../support/values.ts";

/** Seconds after the process said that it executes the run. */
type Points = readonly { readonly at: number; readonly done: number; readonly failed: number }[];

/** A run of six rows as it is while this process executes it. */
async function goingOn(
	points: Points,
	isMine: boolean,
	state: "running" | "paused" = "running",
): Promise<{ world: Recorded; run: string }> {
	const { world, run } = await tagged(6, stopAt(3));
	await rm(world.path(run, "summary.json"));
	const journal = world.path(run, "journal.log");
	const lines = (await readFile(journal, "utf8")).split(/(?<=\n)/);
	await writeFile(journal, lines.slice(0, -1).join(""));
	const owner = thisProcessAsOwner(processesHere({ pid: process.pid, isRunning: () => true }));
	await writeFile(world.path(run, "process.json"), ownerText(isMine ? owner : { ...owner, start: "1" }), {
		mode: 0o600,
	});
	const series = points.map(({ at, done, failed }) =>
		JSON.stringify({
			t: Date.parse(owner.since) / 1000 + at,
			s: 1,
			sent: 2,
			done,
			failed,
			p50: 1,
			p95: 1,
			state,
			in_flight: 1,
			cap: null,
		}),
	);
	await writeFile(world.path(run, "series.jsonl"), series.map((line) => `${line}\n`).join(""));
	return { world, run };
}

const listed = async (world: Recorded): Promise<unknown> =>
	parseLines((await world.run(["runs", "list", "--json"])).stdout)[0];

it("a run that goes on is listed with its process, its rate and the rows that it has done", async () => {
	const points = [
		{ at: 1, done: 2, failed: 0 },
		{ at: 2, done: 5, failed: 1 },
	];
	const { world, run } = await goingOn(points, true);
	expect(await listed(world)).toMatchObject({
		run,
		state: "running",
		process: process.pid,
		rate: 2,
		doing: "running",
		rows: 6,
		done: 2,
		failed: 0,
		pending: 4,
		ended: null,
		exit_code: null,
	});
});

it("a run that goes on is not called unfinished, and no resume is advised, which would be refused", async () => {
	const { world, run } = await goingOn([{ at: 1, done: 2, failed: 0 }], true);
	const shown = (await world.run(["runs", "show"])).stdout;
	expect(shown).toMatch(/^state +running: process \d+ on .+ since \S+, 2 requests a second$/m);
	expect(shown).toContain(`Change it with: ragtag runs adjust ${run} --rate N`);
	expect(shown).not.toMatch(/resume|undo/i);
	await says(world.run(["runs", "resume"]), 2, `ragtag runs show ${run}`);
	const pruned = await world.run(["runs", "prune", "--older-than", "1ms", "--keep-last", "0"]);
	expect(pruned.stderr).toContain(`Run ${run} is going on: it stays.`);
});

it("a run that its user paused is listed as paused, and one whose process is gone as killed", async () => {
	const point = [{ at: 1, done: 2, failed: 0 }];
	const paused = await goingOn(point, true, "paused");
	expect(await listed(paused.world)).toMatchObject({ state: "paused", process: process.pid });
	const { world, run } = await goingOn(point, false);
	expect(await listed(world)).toMatchObject({ state: "killed", process: process.pid, rate: null, doing: null });
	const shown = (await world.run(["runs", "show"])).stdout;
	expect(shown).toMatch(/^state +killed: process \d+ on /m);
	expect(shown).toContain(`Resume it with: ragtag runs resume ${run}`);
});

it("a run that was killed is listed with the counts of its journal, and the seconds of its executions alone", async () => {
	const { world, run } = await tagged(9, stopAt(6));
	await rm(world.path(run, "summary.json"));
	const journal = world.path(run, "journal.log");
	const lines = (await readFile(journal, "utf8")).split(/(?<=\n)/);
	const entry = entryOf(Buffer.from((lines[0] ?? "").trimEnd()));
	const first = entry && recordOf(entry);
	if (first?.kind !== "header") throw new Error("the journal begins with its header");
	// The header, and two records of each of the first four rows.
	const killed = [...lines.slice(0, 9), encode(outcome(4, "failed"))];
	await writeFile(journal, `${killed.join("")}a write that was cut off`);
	const ended = Date.parse(first.time) / 1000 + 42;
	await utimes(journal, ended, ended);
	const counts = { run, state: "unfinished", rows: 9, done: 4, failed: 1, pending: 4, ended: null, exit_code: null };
	expect(await listed(world)).toMatchObject({ ...counts, seconds: 42 });
	// A day later it was resumed, and killed after 3 s.
	const day = 24 * 3600;
	const again = encode({ ...first, earlierMilliseconds: 42_000, time: new Date(day * 1000).toISOString() });
	await writeFile(journal, [...killed, again].join(""));
	await utimes(journal, day + 3, day + 3);
	expect(await listed(world)).toMatchObject({ ...counts, seconds: 45 });
});

it("a run whose journal is a link, which is not followed, does not hide the other runs", async () => {
	const { world, run } = await goingOn([], false);
	const journal = world.path(run, "journal.log");
	await rename(journal, `${journal}.elsewhere`);
	await symlink(`${journal}.elsewhere`, journal);
	expect(await listed(world)).toMatchObject({ run, state: "damaged" });
});
