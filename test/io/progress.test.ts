import { expect, it } from "vitest";
import type { Activity } from "../../src/activity.ts";
import { MeasuredProgress } from "../../src/io/measured.ts";
import { progressMode } from "../../src/io/terminal.ts";
import widthOf from "string-width";
import { barLine, jsonLine, plainLine, type ProgressState, type RowCounts } from "../../src/io/progress-lines.ts";
import { drawn, HandTimers, ioOn, Terminal } from "./terminal.ts";

const counts = (done: number, total?: number, failed = 0): RowCounts => ({ done, total, failed });

/** The states of the design, as an operator meets them. */
const STATES = {
	running: { rows: counts(4512, 9000, 2), rate: 98, left: 46, activity: { state: "running", seconds: 60 } },
	waiting: {
		rows: counts(4512, 9000, 2),
		rate: 12,
		activity: { state: "waiting", cause: "the service asked for it (429)", seconds: 9.4, of: 14 },
	},
	slowed: {
		rows: counts(4530, 9000),
		rate: 28,
		left: 144,
		activity: { state: "slowed", cause: "429 at 61/s", seconds: 12, rate: { now: 31, cap: 100 } },
	},
	outage: {
		rows: counts(4530, 9000),
		rate: 0,
		activity: { state: "outage", cause: "connection refused", seconds: 41.2, of: 900 },
	},
	stopping: {
		rows: counts(10, 20, 1),
		rate: 5,
		activity: { state: "stopping", cause: "stopped by SIGINT", seconds: 2.9 },
	},
	verifying: { rows: counts(120, 300), rate: 40, left: 5, activity: { state: "verifying", seconds: 3 } },
	reading: {
		activity: { state: "reading", what: "documents of DATASET", count: { done: 3200, total: 12_000 }, seconds: 3.2 },
	},
	checking: {
		activity: { state: "checking", what: "tags.csv (45 MB)", count: { done: 120_000, unit: "rows" }, seconds: 75 },
	},
	first: {
		activity: {
			state: "reading",
			what: "from rag.example.com",
			cause: "connection refused",
			again: { attempt: "2 of 6", seconds: 3.4 },
			seconds: 1.5,
		},
	},
	parsing: {
		rows: counts(4, 40, 1),
		rate: 0.02,
		left: 180,
		activity: { state: "running", parsing: { running: 8, share: 2.5 }, seconds: 60 },
	},
	moving: {
		rows: counts(3, 9),
		rate: 0.5,
		bytesRate: 24_000_000,
		left: 12,
		activity: { state: "running", bytes: 1_230_000_000, bytesTotal: 3_400_000_000, seconds: 60 },
	},
	still: { rows: counts(3, 9), bytesRate: 0, activity: { state: "running", bytes: 1_230_000_000, seconds: 60 } },
	wide: { activity: { state: "checking", what: "資料 👩‍🔬.csv", seconds: 2 } },
} satisfies Record<string, ProgressState>;

it.each([
	["running", 80, `${"█".repeat(16)}${"░".repeat(17)} 4,512/9,000 rows 50%  2 failed  98/s  46s left`],
	["running", 40, "4,512/9,000 rows 50%  2 failed  98/s"],
	["waiting", 80, "waiting 9s of 14s: the service asked for it (429)  4,512/9,000 rows  2 failed"],
	["waiting", 70, "waiting 9s of 14s: the service asked for it (429)  4,512/9,000 rows"],
	["waiting", 40, "waiting 9s of 14s: the service asked for"],
	["slowed", 80, `${"█".repeat(9)}${"░".repeat(10)} 4,530/9,000 rows 50%  31/s of 100/s: 429 at 61/s  2m24s left`],
	["slowed", 40, `${"█".repeat(9)}${"░".repeat(10)} 4,530/9,000 rows 50%`],
	["outage", 80, "outage 0:41 of 15:00: connection refused  4,530/9,000 rows"],
	["stopping", 80, "stopping 2s: stopped by SIGINT  10/20 rows  1 failed"],
	["verifying", 60, `${"█".repeat(6)}${"░".repeat(11)} verifying  120/300 rows 40%  40/s  5s left`],
	["reading", 80, "reading documents of DATASET: 3,200 of 12,000 so far  3s"],
	["reading", 40, "reading documents of DATASET: 3,200 of 1"],
	["checking", 80, "checking tags.csv (45 MB): 120,000 rows so far  1m15s"],
	["first", 80, "reading from rag.example.com: trying again (2 of 6) in 4 s: connection refused"],
	["wide", 80, "checking 資料 👩‍🔬.csv  2s"],
	["wide", 22, "checking 資料 👩‍🔬.csv"],
	["wide", 14, "checking 資料 "],
] as const)("the bar shows the state with its cause, and never wraps: %s in %d columns", (state, width, expected) => {
	expect(barLine(STATES[state], width, widthOf)).toBe(expected);
	expect(widthOf(expected)).toBeLessThanOrEqual(width);
});

it.each([
	["running", "4,512/9,000 rows 50%  2 failed  98/s  46s left"],
	["waiting", "waiting 9s of 14s: the service asked for it (429)  4,512/9,000 rows  2 failed"],
	["slowed", "4,530/9,000 rows 50%  31/s of 100/s: 429 at 61/s  2m24s left"],
	["outage", "outage 0:41 of 15:00: connection refused  4,530/9,000 rows"],
	["checking", "checking tags.csv (45 MB): 120,000 rows so far  1m15s"],
	["parsing", "4/40 rows 10%  1 failed  8 parsing  3m00s left"],
	["moving", "3/9 rows 33%  0.5/s  1.2 GB of 3.4 GB at 24 MB/s  12s left"],
	["still", "3/9 rows 33%  1.2 GB"],
	["wide", "checking 資料 👩‍🔬.csv  2s"],
] as const)("a line of a log is complete: %s", (state, expected) => {
	expect(plainLine(STATES[state])).toBe(expected);
});

it("a program that reads the progress gets one object on each line, with every member", () => {
	const lines = [STATES.waiting, STATES.slowed, STATES.reading].map((state) => jsonLine(state, "T"));
	const outage = jsonLine({ activity: { state: "outage", seconds: 21, of: 900, next: 7.04 } }, "T");
	expect(outage).toContain('"seconds":21,"of_seconds":900,"next_try_seconds":7,');
	expect(lines).toEqual([
		'{"type":"progress","time":"T","state":"waiting","cause":"the service asked for it (429)","seconds":9.4,"of_seconds":14,"next_try_seconds":null,"lowered_rate":null,"auto_rate":null,"done":4512,"total":9000,"failed":2,"rate":12,"seconds_left":null,"what":null,"read":null,"read_total":null,"parsing":null,"bytes":null,"bytes_total":null}',
		'{"type":"progress","time":"T","state":"slowed","cause":"429 at 61/s","seconds":12,"of_seconds":null,"next_try_seconds":null,"lowered_rate":31,"auto_rate":null,"done":4530,"total":9000,"failed":0,"rate":28,"seconds_left":144,"what":null,"read":null,"read_total":null,"parsing":null,"bytes":null,"bytes_total":null}',
		'{"type":"progress","time":"T","state":"reading","cause":"documents of DATASET","seconds":3.2,"of_seconds":null,"next_try_seconds":null,"lowered_rate":null,"auto_rate":null,"done":0,"total":null,"failed":0,"rate":null,"seconds_left":null,"what":"documents of DATASET","read":3200,"read_total":12000,"parsing":null,"bytes":null,"bytes_total":null}',
	]);
});

it.each([
	["auto", true, {}, "bar"],
	["auto", false, {}, "plain"],
	["auto", true, { CI: "true" }, "plain"],
	["auto", true, { TERM: "dumb" }, "plain"],
	["bar", false, {}, "plain"],
	["bar", true, { CI: "1" }, "bar"],
	["json", true, {}, "json"],
	["none", true, {}, "none"],
] as const)("progress %s, terminal %s, %j: %s", (mode, terminal, env, expected) => {
	expect(progressMode(mode, { env, terminal })).toBe(expected);
});

it("the rate is that of the last seconds, so that an outage shows", () => {
	const timers = new HandTimers();
	const measured = new MeasuredProgress(() => timers.now());
	const rate = (done: number): number | undefined => {
		measured.update(counts(done, 10_000));
		return measured.state(undefined)?.rate;
	};
	expect(rate(5000)).toBeUndefined();
	timers.pass(10_000);
	expect(rate(6000)).toBe(100);
	timers.pass(30_000);
	expect(rate(6000)).toBe(0);
});

it("the time left comes from the last seconds, and is not shown while nothing moves", () => {
	const timers = new HandTimers();
	let state: Activity["state"] = "running";
	const measured = new MeasuredProgress(() => timers.now());
	const progress = {
		update: (rows: RowCounts) => measured.update(rows),
		get state() {
			return measured.state({ state, seconds: 0 });
		},
	};
	progress.update(counts(0, 10_000));
	for (let second = 1; second <= 50; second += 1) {
		timers.pass(1000);
		progress.update(counts(100 * second, 10_000));
		expect(progress.state).toBeDefined();
	}
	// The last ten seconds are five times as slow: they count as a third.
	for (let second = 1; second <= 10; second += 1) {
		timers.pass(1000);
		progress.update(counts(5000 + 20 * second, 10_000));
		expect(progress.state).toBeDefined();
	}
	const rate = (20 * 100 + 10 * 20) / 30;
	expect(progress.state?.rate).toBeCloseTo(rate);
	expect(progress.state?.left).toBe(Math.ceil(4800 / rate));
	state = "waiting";
	expect(progress.state?.left).toBeUndefined();
	state = "running";
	// A new window begins.
	expect(progress.state?.left).toBeUndefined();
	timers.pass(1000);
	progress.update(counts(5220, 10_000));
	expect(progress.state?.left).toBe(239);
});

it("the time left comes from the service's own progress while it parses: no document may be done for an hour", () => {
	const timers = new HandTimers();
	const measured = new MeasuredProgress(() => timers.now());
	measured.update(counts(0, 10));
	let share = 0;
	const state = () => measured.state({ state: "running", parsing: { running: 10, share }, bytes: 0, seconds: 0 });
	state();
	for (let second = 1; second <= 20; second += 1) {
		timers.pass(1000);
		share += 0.05;
		state();
	}
	expect(state()?.left).toBe(180);
});

it("a log gets a line every five seconds, and none for a short run", async () => {
	const { io, timers, stderr } = ioOn();
	await io.configure({});
	const progress = io.progress();
	progress.update({ done: 100, total: 2000, failed: 0 });
	timers.pass(4999);
	expect(stderr.text).toBe("");
	progress.update({ done: 600, total: 2000, failed: 1 });
	timers.pass(1);
	expect(stderr.text).toBe("2026-11-22T00:00:05Z progress: 600/2,000 rows 30%  1 failed  100/s  14s left\n");
	progress.stop();
	io.end("exit 0");
	timers.pass(60_000);
	expect(stderr.text.split("\n")).toHaveLength(2);
});

it("--quiet has no progress", async () => {
	const { io, timers, stderr } = ioOn({}, new Terminal());
	await io.configure({ quiet: true, progress: "json" });
	io.progress().update({ done: 1, failed: 0 });
	timers.pass(60_000);
	expect(stderr.text).toBe("");
});

it("a note printed while the bar is drawn is above it, whole, and nothing is left when it stops", async () => {
	const stderr = new Terminal();
	// CI is set where these tests run, and ora would be silent: here the mode decides.
	const { io, timers } = ioOn({ env: { CI: "true" } }, stderr);
	await io.configure({ progress: "bar" });
	const progress = io.progress();
	progress.update({ done: 0, total: 4, failed: 0 });
	timers.pass(100);
	progress.update({ done: 1, total: 4, failed: 0 });
	await drawn(stderr, timers).toContain("1/4 rows");
	io.note("a warning");
	io.err("an error");
	expect(stderr.screen.slice(0, -1)).toEqual(["a warning", "an error"]);
	expect(stderr.screen.at(-1)).toContain("1/4 rows");
	progress.stop();
	expect(stderr.screen).toEqual(["a warning", "an error", ""]);
});

it("--progress json writes nothing but JSON on standard error, also with a message that has line ends", async () => {
	const { io, timers, stderr } = ioOn();
	await io.configure({ progress: "json", debug: true });
	io.note("a note");
	io.err("an error\nof two lines");
	io.debug("GET /");
	io.status();
	io.progress().update({ done: 1, failed: 0 });
	io.status();
	timers.pass(5000);
	const lines = stderr.text.trimEnd().split("\n");
	const read = lines.map((line): unknown => JSON.parse(line));
	const time = "2026-11-22T00:00:00.000Z";
	expect(read.slice(0, 4)).toEqual([
		{ type: "note", time, text: "a note" },
		{ type: "error", time, text: String.raw`an error\x0aof two lines` },
		{ type: "note", time, text: "GET /" },
		{ type: "note", time, text: "status: starting" },
	]);
	expect(read.slice(4)).toMatchObject([{ type: "progress" }, { type: "progress" }]);
});

it("the time left after an outage, and at another cap, forgets the time before: it would be wrong for a minute", () => {
	let now = 0;
	const measured = new MeasuredProgress(() => now);
	const at = (seconds: number, done: number, activity: Activity): number | undefined => {
		now = seconds * 1000;
		measured.update({ done, total: 1_000, failed: 0 });
		return measured.state(activity)?.left;
	};
	const running = { state: "running", seconds: 0, cap: 10 } as const;
	at(0, 0, running);
	expect(at(10, 100, running)).toBe(90);
	at(11, 100, { state: "outage", seconds: 1, cap: 10 });
	at(50, 100, running);
	expect(at(52, 120, running)).toBe(88);
	at(53, 130, { ...running, cap: 50 });
	expect(at(55, 230, { ...running, cap: 50 })).toBe(16);
});
