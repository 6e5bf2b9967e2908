import { expect, it } from "vitest";
import type { Activity } from "../../src/activity.ts";
import { drawn, input, ioOn, Kept, Terminal } from "./terminal.ts";
import type { ProgressMode } from "../../src/io/measured.ts";

const reading = (done: number): Activity => ({
	state: "reading",
	what: "documents of D",
	count: { done, total: 12_000 },
	seconds: 3,
});

/** A command without rows on a pipe, whose activity a test sets. */
async function silent(
	options: { readonly progress?: ProgressMode; readonly quiet?: boolean } = {},
	stderr = new Kept(),
) {
	const streams = ioOn({ stdin: input("yes\n", true) }, stderr);
	await streams.io.configure(options);
	return streams;
}

it("a job that cron starts without -q has no line of progress in its first five seconds", async () => {
	const { timers, stderr, doing } = await silent();
	doing.now = reading(100);
	timers.pass(4999);
	expect(stderr.text).toBe("");
	timers.pass(1);
	expect(stderr.text).toBe("2026-11-22T00:00:05Z progress: reading documents of D: 100 of 12,000 so far  3s\n");
});

it("on a terminal without a bar a silence is explained after a second", async () => {
	const stderr = Object.assign(new Kept(), { isTTY: true });
	const { timers, doing } = await silent({}, stderr);
	doing.now = reading(100);
	timers.pass(1000);
	expect(stderr.text).toContain("reading documents of D");
});

it("with --progress plain a list that takes long says so after a second, and then every five seconds", async () => {
	const { io, timers, stderr, doing } = await silent({ progress: "plain" });
	doing.now = reading(100);
	timers.pass(999);
	expect(stderr.text).toBe("");
	timers.pass(1);
	doing.now = reading(3200);
	timers.pass(4999);
	expect(stderr.text).toBe("2026-11-22T00:00:01Z progress: reading documents of D: 100 of 12,000 so far  3s\n");
	timers.pass(1);
	expect(stderr.text.split("\n")[1]).toBe(
		"2026-11-22T00:00:06Z progress: reading documents of D: 3,200 of 12,000 so far  3s",
	);
	io.end("exit 0");
	timers.pass(60_000);
	expect(stderr.text.split("\n")).toHaveLength(3);
});

it("a command that has not begun its work says nothing, and neither does one that speaks each second", async () => {
	const { io, timers, stderr, doing } = await silent();
	timers.pass(10_000);
	expect(stderr.text).toBe("");
	doing.now = reading(1);
	for (let second = 0; second < 4; second += 1) {
		io.note("a note");
		timers.pass(900);
	}
	expect(stderr.text).toBe("a note\n".repeat(4));
});

it("each attempt of a first connection is named as soon as it is known", async () => {
	const { timers, stderr, doing } = await silent({ progress: "plain" });
	for (const [attempt, wait] of [
		["2 of 6", 0.5],
		["3 of 6", 1.9],
	] as const) {
		const again = { attempt, seconds: wait };
		doing.now = { state: "reading", what: "from rag.example.com", cause: "connection refused", again, seconds: 1 };
		timers.pass(1000);
	}
	expect(stderr.text.split("\n").map((line) => line.replace(/^.*?: reading from rag.example.com: /, ""))).toEqual([
		"trying again (2 of 6) in 1 s: connection refused  1s",
		"trying again (3 of 6) in 2 s: connection refused  1s",
		"",
	]);
});

it.each([{ quiet: true }, { progress: "none" }] as const)("nothing is shown with %j", async (options) => {
	const { timers, stderr, doing } = await silent(options);
	doing.now = reading(1);
	timers.pass(60_000);
	expect(stderr.text).toBe("");
});

it("--progress json reports a silence as JSON", async () => {
	const { timers, stderr, doing } = await silent({ progress: "json" });
	doing.now = reading(100);
	timers.pass(1000);
	expect(JSON.parse(stderr.text)).toMatchObject({ type: "progress", state: "reading", read: 100, read_total: 12_000 });
});

it("on a terminal the words are redrawn, and erased before a message", async () => {
	const terminal = new Terminal();
	const { io, timers, doing } = await silent({ progress: "bar" }, terminal);
	doing.now = reading(100);
	timers.pass(900);
	expect(terminal.text).toBe("");
	await drawn(terminal, timers).toContain("reading documents of D: 100 of 12,000 so far");
	io.note("a note");
	expect(terminal.screen).toEqual(["a note", ""]);
	timers.pass(900);
	expect(terminal.screen).toEqual(["a note", ""]);
	timers.pass(100);
	expect(terminal.screen.at(-1)).toContain("reading documents of D");
	io.end("exit 0");
	expect(terminal.screen).toEqual(["a note", ""]);
});

it("a question is not drawn over", async () => {
	const terminal = new Terminal();
	const { io, timers, doing } = await silent({ progress: "bar" }, terminal);
	doing.now = reading(100);
	await drawn(terminal, timers).toContain("reading");
	const answer = io.ask("Remove 3 documents?");
	timers.pass(5000);
	expect(terminal.screen).toEqual(["Remove 3 documents? "]);
	expect(await answer).toBe("yes");
});

it("the status is told at any time, also with --quiet", async () => {
	const { io, stderr, doing } = await silent({ quiet: true });
	io.status();
	doing.now = reading(3200);
	io.status();
	const rows = io.progress();
	doing.now = { state: "running", seconds: 4 };
	rows.update({ done: 10, total: 20, failed: 1 });
	io.status();
	doing.now = { state: "stopping", cause: "stopped by SIGINT", seconds: 2 };
	io.status();
	rows.stop();
	doing.now = { state: "verifying", what: "documents of D", seconds: 1 };
	io.status();
	expect(stderr.text.trimEnd().split("\n")).toEqual([
		"status: starting",
		"status: reading documents of D: 3,200 of 12,000 so far  3s",
		"status: running, 10/20 rows 50%  1 failed",
		"status: stopping 2s: stopped by SIGINT  10/20 rows  1 failed",
		"status: verifying documents of D  1s",
	]);
});
