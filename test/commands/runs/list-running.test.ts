import { appendFile, readFile, rename, rm, stat, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import process from "node:process";
import { expect, it } from "vitest";
import { ownerText, thisMachine, thisProcessAsOwner } from "../../../src/run/storage/process-owner.ts";
import { decode } from "../../../src/run/journal/decode.ts";
import { encode } from "../../../src/run/journal/encode.ts";
import { pointLine } from "../../../src/run/series/point.ts";
import { type Recorded, recorded, runOf, stopAt, tagging } from "../../support/recorded.ts";
import { outcome } from "../../run/journal/support.ts";
import { parseLines } from "../../support/values.ts";

/** Makes a journal longer than one that is read at once. It is no record, as if a write had been cut off. */
const CUT_OFF = "x".repeat(5 * 1024 * 1024);

const reopening = encode({ kind: "reopen", time: "now" });
const lost = encode({ kind: "lost", records: 1, time: "now" });
const last = [5, 6, 7, 8].map((row) => encode(outcome(row, "failed")));

/** Seconds after the process said that it executes the run. */
type Points = readonly { readonly at: number; readonly done: number; readonly failed: number }[];

/** A run of six rows as it is while this process executes it, with a journal that takes long to read. */
async function goingOn(
	points: Points,
	isMine: boolean,
	state: "running" | "paused" = "running",
): Promise<{ world: Recorded; run: string }> {
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
			state,
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
		state: "running",
		process: process.pid,
		rate: 2,
		doing: "running",
		rows: 6,
		done: 4,
		failed: 1,
		pending: 1,
		seconds: 2,
		ended: null,
		exit_code: null,
	});
});

it("a run that goes on is not called unfinished, and no resume is advised, which would be refused", async () => {
	const { world, run } = await goingOn([{ at: 1, done: 2, failed: 0 }], true);
	// Its journal can be read as a whole.
	await truncate(
		world.path(run, "journal.jsonl"),
		(await stat(world.path(run, "journal.jsonl"))).size - CUT_OFF.length,
	);
	const shown = (await world.run(["runs", "show"])).stdout;
	expect(shown).toMatch(/^state +running: process \d+ on .+ since \S+, 2 requests a second$/m);
	expect(shown).toContain(`Change it with: ragtag runs adjust ${run} --rate N`);
	expect(shown).not.toMatch(/resume|undo/i);
	const resumed = await world.run(["runs", "resume"]);
	expect([resumed.exit, resumed.stderr]).toEqual([2, expect.stringContaining(`ragtag runs show ${run}`)]);
	const pruned = await world.run(["runs", "prune", "--older-than", "1ms", "--keep-last", "0"]);
	expect(pruned.stderr).toContain(`Run ${run} is going on: it stays.`);
});

it("a run that its user paused is listed as paused, and one whose process is gone as killed", async () => {
	const point = [{ at: 1, done: 2, failed: 0 }];
	const paused = await goingOn(point, true, "paused");
	expect(await listed(paused.world)).toMatchObject({ state: "paused", process: process.pid });
	const { world, run } = await goingOn(point, false);
	expect(await listed(world)).toMatchObject({ state: "killed", process: process.pid, rate: null, doing: null });
	await truncate(
		world.path(run, "journal.jsonl"),
		(await stat(world.path(run, "journal.jsonl"))).size - CUT_OFF.length,
	);
	const shown = (await world.run(["runs", "show"])).stdout;
	expect(shown).toMatch(/^state +killed: process \d+ on /m);
	expect(shown).toContain(`Resume it with: ragtag runs resume ${run}`);
});

/** A run of nine rows of which the first five are settled, as if it had been killed; and its journal, line by line. */
async function killed(): Promise<{ world: Recorded; run: string; lines: string[] }> {
	const world = await recorded(9, stopAt(6));
	const run = runOf((await world.run((await tagging(world)).argv)).stdout);
	await rm(world.path(run, "summary.json"));
	const lines = (await readFile(world.path(run, "journal.jsonl"), "utf8")).split(/(?<=\n)/);
	return { world, run, lines };
}

/** What its series and its journal have then. The count of the series is wrong on purpose, so that it shows where it was used. */
async function leave(
	{ world, run }: { world: Recorded; run: string },
	lines: readonly string[],
	point: { readonly lines?: number; readonly bytes?: number },
): Promise<void> {
	await writeFile(world.path(run, "journal.jsonl"), lines.join("") + CUT_OFF);
	const bytes = point.lines === undefined ? point.bytes : Buffer.byteLength(lines.slice(0, point.lines).join(""));
	const { p50, p95 } = { p50: 1, p95: 1 };
	const counts = { seconds: 40, sent: 2, done: 4, failed: 1, ...(bytes === undefined ? {} : { journal: bytes }) };
	const line = pointLine({ t: 1, s: 1, ...counts, p50, p95, state: "running", in_flight: 1, cap: null });
	await writeFile(world.path(run, "series.jsonl"), `${line}\n`);
}

it("a run of millions of rows that was killed is listed at once: the journal is read from the last line of its series on", async () => {
	const { world, run, lines } = await killed();
	const outcomes = lines.filter((line) => line.includes('"k":"r"'));
	expect([lines.length, outcomes.length]).toEqual([7, 5]);
	// The header, three outcomes that the series has, two that it has not, one of them of a row that failed.
	const [header = ""] = lines;
	const others = [...lines.slice(1, 5), encode(outcome(4, "failed"))];
	await leave({ world, run }, [header, ...others], { lines: 4 });
	expect(await listed(world)).toMatchObject({
		run,
		state: "unfinished",
		rows: 9,
		done: 4,
		failed: 2,
		pending: 3,
		ended: null,
		exit_code: null,
	});
	// A later execution counts on.
	await leave({ world, run }, [header, ...others, header], { lines: 4 });
	expect(await listed(world)).toMatchObject({ state: "unfinished", done: 4, failed: 2, pending: 3 });
});

it("the seconds of a run that was killed twice are those of its executions, without the time between them", async () => {
	const { world, run, lines } = await killed();
	const journal = world.path(run, "journal.jsonl");
	const first = decode((lines[0] ?? "").trimEnd());
	if (first?.kind !== "header") throw new Error("the journal begins with its header");
	// The series says 40 s until its last line, and the journal was written for 2 s more.
	await leave({ world, run }, lines.slice(0, 6), { lines: 4 });
	await utimes(journal, 3, 3);
	expect(await listed(world)).toMatchObject({ done: 5, failed: 1, seconds: 42 });
	// A day later it was resumed, and killed after 3 s, before the series had another line.
	const day = 24 * 3600;
	const again = encode({ ...first, earlierMilliseconds: 42_000, time: new Date(day * 1000).toISOString() });
	await leave({ world, run }, [...lines.slice(0, 6), again], { lines: 4 });
	await utimes(journal, day + 3, day + 3);
	expect(await listed(world)).toMatchObject({ done: 5, failed: 1, seconds: 45 });
});

it("a long run whose journal is a link, which is not followed, does not hide the other runs", async () => {
	const { world, run, lines } = await killed();
	const journal = world.path(run, "journal.jsonl");
	await leave({ world, run }, lines.slice(0, 6), { lines: 4 });
	await rename(journal, `${journal}.elsewhere`);
	await symlink(`${journal}.elsewhere`, journal);
	expect(await listed(world)).toMatchObject({ run, state: "damaged" });
});

it.each<readonly [string, (lines: string[]) => string[], { lines?: number; bytes?: number }, object]>([
	["an execution ended since", (lines) => lines, { lines: 4 }, { done: 5, failed: 0, exit_code: 4 }],
	["failed rows are pending again", (all) => [...all, all[0] ?? "", reopening], { lines: 4 }, { done: 5, failed: 0 }],
	["its series was written by an earlier release", (lines) => lines.slice(0, 6), {}, { done: 5, failed: 0 }],
	["it lost its end", (lines) => lines.slice(0, 6), { bytes: 1e9 }, { done: 5, failed: 0 }],
	["it is damaged", (lines) => [...lines.slice(0, 5), "x\n", lines[5] ?? ""], { lines: 4 }, { state: "damaged" }],
	["another file took its place", (lines) => lines.slice(0, 6), { bytes: 700 }, { done: 5, failed: 0 }],
	[
		"it was repaired",
		([header = "", ...rest]) => [header, lost, ...rest.slice(0, 5)],
		{ lines: 5 },
		{ done: 5, failed: 0 },
	],
	["no row is left", (all) => [...all.slice(0, 6), ...last], { lines: 4 }, { failed: 4, state: "unfinished" }],
])("no count is wrong: the whole journal is read where %s", async (_, change, point, expected) => {
	const { world, run, lines } = await killed();
	await leave({ world, run }, change(lines), point);
	expect(await listed(world)).toMatchObject({ run, ...expected });
});

it.each<readonly [string, Points, boolean]>([
	["its process was killed", [{ at: 1, done: 5, failed: 0 }], false],
	["its series ends with an earlier execution", [{ at: -3, done: 5, failed: 0 }], true],
	["its series has no line", [], true],
])("counts that may be old are not shown: the journal is read where %s", async (_, points, isMine) => {
	const { world, run } = await goingOn(points, isMine);
	expect(await listed(world)).toMatchObject({ run, done: 2, failed: 0, pending: 4 });
});
