import { expect, it } from "vitest";
import type { Activity } from "../../src/activity.ts";
import type { RowCounts } from "../../src/io/progress-lines.ts";
import { ioOn } from "../io/terminal.ts";
import type { ProgressMode } from "../../src/io/measured.ts";

/** A state that lasts so many seconds, with the rows that are done at its end. */
type Stretch = { readonly seconds: number; readonly activity: Omit<Activity, "seconds">; readonly rows?: RowCounts };

const TOTAL = 9000;
const rows = (done: number, failed = 0): RowCounts => ({ done, total: TOTAL, failed });
const refused = "connection refused";

/** A night as an operator may have it. */
const NIGHT: readonly Stretch[] = [
	{ seconds: 3, activity: { state: "checking", what: "tags.csv (45 MB)", count: { done: 120_000, unit: "rows" } } },
	{ seconds: 6, activity: { state: "reading", what: "documents of d0f1", count: { done: 3200, total: TOTAL } } },
	{
		seconds: 2,
		activity: { state: "reading", what: "from host", cause: refused, again: { attempt: "2 of 6", seconds: 4 } },
	},
	{ seconds: 30, activity: { state: "running" }, rows: rows(2940) },
	{ seconds: 14, activity: { state: "waiting", cause: "the service asked for it (429)", of: 14 }, rows: rows(2940, 2) },
	{
		seconds: 20,
		activity: { state: "slowed", cause: "429 at 61/s", rate: { now: 31, cap: 100 } },
		rows: rows(3560, 2),
	},
	{ seconds: 10, activity: { state: "outage", cause: refused, of: 900 }, rows: rows(3560, 2) },
	{ seconds: 10, activity: { state: "paused", cause: "runs adjust" }, rows: rows(3560, 2) },
	{ seconds: 20, activity: { state: "running" }, rows: rows(5500, 2) },
	{ seconds: 5, activity: { state: "stopping", cause: "stopped by SIGINT" }, rows: rows(5520, 2) },
];

async function slowRun(progress: ProgressMode): Promise<string> {
	const { io, timers, stderr, doing } = ioOn();
	await io.configure({ progress });
	let bar: ReturnType<typeof io.progress> | undefined;
	let before = rows(0);
	for (const stretch of NIGHT) {
		if (stretch.rows !== undefined) bar ??= io.progress();
		for (let second = 1; second <= stretch.seconds; second += 1) {
			doing.now = { ...stretch.activity, seconds: second };
			const { rows: after = before } = stretch;
			const done = before.done + Math.round(((after.done - before.done) * second) / stretch.seconds);
			bar?.update({ ...after, done });
			timers.pass(1000);
		}
		before = stretch.rows ?? before;
	}
	bar?.stop();
	doing.now = { state: "verifying", what: "documents of d0f1", count: { done: 100, total: TOTAL }, seconds: 0 };
	timers.pass(6000);
	io.end("exit 130");
	return stderr.text;
}

it("the lines of a slow night name each state, its cause and its seconds", async () => {
	const text = ["# --progress plain", await slowRun("plain"), "# --progress json", await slowRun("json")].join("\n");
	await expect(text).toMatchFileSnapshot("slow-run.txt");
});
