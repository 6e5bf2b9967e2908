import { expect, it, vi } from "vitest";
import { createIo } from "../../src/io.ts";
import { progressMode, rateMeter } from "../../src/io/progress.ts";
import { barLine, jsonLine, plainLine } from "../../src/io/progress-lines.ts";
import { HandTimers, input, Kept, Terminal } from "./terminal.ts";

it.each([
	[
		{ done: 5, total: 10, failed: 0, rate: 100 },
		60,
		true,
		`${"█".repeat(17)}${"░".repeat(17)} 5/10 rows, 100/s, 1s left`,
	],
	[{ done: 5, total: 10, failed: 0 }, 30, false, "##########---------- 5/10 rows"],
	[{ done: 1234567, total: undefined, failed: 3, rate: 2.34 }, 80, true, "1,234,567 rows, 2.3/s, 3 failed"],
	[{ done: 5, total: 1000, failed: 0, rate: 1 }, 20, true, "5/1,000 rows, 1.0/s,"],
	[{ done: 20, total: 10, failed: 0 }, 25, false, "############## 20/10 rows"],
	[{ done: 0, total: 0, failed: 0 }, 60, false, "0/0 rows"],
])("the bar shows the progress of the run, and never wraps: %j in %d columns", (state, width, unicode, expected) => {
	expect(barLine(state, { width, unicode })).toBe(expected);
	expect(barLine(state, { width, unicode }).length).toBeLessThanOrEqual(width);
});

it.each([
	[
		{ done: 812344, total: 1000000, failed: 12, rate: 99.7 },
		"progress: 812,344/1,000,000 rows, 100/s, 31m23s left, 12 failed",
	],
	[{ done: 0, total: 1000000, failed: 0, rate: 100 }, "progress: 0/1,000,000 rows, 100/s, 2h46m left"],
	[{ done: 10, total: 10, failed: 0, rate: 5 }, "progress: 10/10 rows, 5.0/s"],
	[{ done: 1, total: 10, failed: 0, rate: 0 }, "progress: 1/10 rows, 0.0/s"],
])("a line of a log is complete: %j", (state, expected) => {
	expect(plainLine(state)).toBe(expected);
});

it("a program that reads the progress gets one object on each line, with every member", () => {
	expect(jsonLine({ done: 3, failed: 1, rate: 9.96 })).toBe(
		'{"type":"progress","done":3,"total":null,"failed":1,"rate":10}',
	);
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
	const rate = rateMeter(() => timers.now());
	expect(rate(5000)).toBeUndefined();
	timers.pass(10_000);
	expect(rate(6000)).toBe(100);
	timers.pass(15_000);
	expect(rate(6000)).toBe(0);
});

it("a log gets a line every five seconds, and none for a short run", () => {
	const timers = new HandTimers();
	const stderr = new Kept();
	const progress = createIo({ stdin: input(""), stdout: new Kept(), stderr, env: {}, timers }).progress("auto");
	progress.update({ done: 100, total: 2000, failed: 0 });
	timers.pass(4999);
	expect(stderr.text).toBe("");
	progress.update({ done: 600, total: 2000, failed: 1 });
	timers.pass(1);
	expect(stderr.text).toBe("progress: 600/2,000 rows, 100/s, 14s left, 1 failed\n");
	progress.stop();
	timers.pass(60_000);
	expect(stderr.text.split("\n")).toHaveLength(2);
});

it("--quiet has no progress", async () => {
	const timers = new HandTimers();
	const stderr = new Terminal();
	const io = createIo({ stdin: input(""), stdout: new Kept(), stderr, env: {}, timers });
	await io.configure({ quiet: true });
	io.progress("json").update({ done: 1, failed: 0 });
	timers.pass(60_000);
	expect(stderr.text).toBe("");
});

it("a note printed while the bar is drawn is above it, whole, and nothing is left when it stops", async () => {
	const stderr = new Terminal();
	const timers = new HandTimers();
	// CI is set where these tests run, and ora would be silent: here the mode decides.
	const io = createIo({ stdin: input(""), stdout: new Kept(), stderr, env: { CI: "true" }, timers });
	const progress = io.progress("bar");
	progress.update({ done: 1, total: 4, failed: 0 });
	await vi.waitFor(() => expect(stderr.screen.at(-1)).toContain("1/4 rows"), 10_000);
	io.note("a warning");
	io.err("an error");
	expect(stderr.screen.slice(0, -1)).toEqual(["a warning", "an error"]);
	expect(stderr.screen.at(-1)).toContain("1/4 rows");
	progress.stop();
	expect(stderr.screen).toEqual(["a warning", "an error", ""]);
});
