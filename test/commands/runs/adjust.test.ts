import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { systemClock } from "../../../src/run/clock.ts";
import type { Clock } from "../../../src/run/types.ts";
import { type Ended, envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, idOf, serve } from "../../support/service.ts";
import { GivenTimers } from "../../support/timers.ts";
import { summaryOf } from "../../support/values.ts";

type Slow = {
	readonly ended: Promise<Ended>;
	readonly run: string;
	readonly folder: string;
	readonly timers: GivenTimers;
	/** `fast`: the waits of `runs` take no time */
	readonly waits: { fast: boolean };
	readonly stop: AbortController;
	readonly requests: () => number;
	/** what the run has written to standard error */
	readonly err: () => string;
	/** runs a command of `ragtag runs`; the run looks at its file at each wait of that command */
	runs(...argv: readonly string[]): Promise<Ended>;
};

/** A run of three rows that would take minutes at its rate. It has sent its first request. */
async function slowRun(more: readonly string[] = ["--rate", "0.01"], ownClock = systemClock): Promise<Slow> {
	const home = await folder();
	const state = join(home, "state");
	const timers = new GivenTimers(new Date(2026, 10, 22, 22, 14));
	const stop = new AbortController();
	let requests = 0;
	let err = "";
	let started = (): void => undefined;
	const first = new Promise<void>((resolve) => (started = resolve));
	const log = (): void => {
		requests += 1;
		started();
	};
	const service = await serve(3, { log });
	const rows = [1, 2, 3].map((n) => `${idOf(n)},Ann\n`);
	const manifest = await file("tags.csv", `document_id,author\n${rows.join("")}`);
	// The flavour is given: to find it out takes requests before the run has a record.
	const known = ["-d", service.dataset, "--flavour", "documented"];
	const argv = ["docs", "tag", manifest, ...known, "--json", ...more];
	const env = { ...envOf(service), RAGTAG_STATE_DIR: state };
	const onError = (text: string): void => void (err = text);
	const ended = ragtag(argv, { env, timers, home, signal: stop.signal, onError, clock: ownClock });
	await first;
	const waits = { fast: false };
	let skipped = 0;
	const clock: Clock = {
		...systemClock,
		now: () => systemClock.now() + skipped,
		sleep: async (milliseconds, signal) => {
			timers.tick();
			if (waits.fast) skipped += milliseconds;
			else await systemClock.sleep(milliseconds / 10, signal);
		},
	};
	const runs = (...words: readonly string[]): Promise<Ended> => ragtag(["runs", ...words], { env, home, clock });
	const listed = await runs("list", "--json");
	// From then on the run takes changes.
	const run = /\d{8}T\d{6}-[0-9a-f]{6}/.exec(listed.stdout)?.[0] ?? "";
	onTestFinished(async () => {
		stop.abort({ exit: 130, text: "the test has ended" });
		await ended;
	});
	const path = join(state, "runs", run);
	await until(() => existsSync(join(path, "process.json")));
	return { ended, run, folder: path, timers, waits, stop, requests: () => requests, err: () => err, runs };
}

async function until(met: () => boolean): Promise<void> {
	while (!met()) await new Promise((resolve) => setImmediate(resolve));
}

describe("runs adjust", () => {
	it("changes the rate of the run that is going on, and the summary tells of it", async () => {
		const slow = await slowRun();
		const changed = await slow.runs("adjust", "--rate", "unlimited");
		expect(changed).toEqual({ exit: 0, stdout: `Run ${slow.run}: rate 0.01 → unlimited, not paused.\n`, stderr: "" });
		const ended = await says(slow.ended, 0, "rate changed: 0.01 → unlimited at 22:14 (runs adjust)");
		const time = new Date(2026, 10, 22, 22, 14).toISOString();
		expect(summaryOf(ended.stdout)).toMatchObject({
			updated: 3,
			adjusted: [{ time, rate: "unlimited", by: "runs adjust" }],
		});
	});

	it("pauses a run, which then sends nothing, keeps its lock, and ends with Ctrl-C", async () => {
		const slow = await slowRun();
		const paused = await slow.runs("adjust", slow.run, "--pause", "--rate", "unlimited");
		expect(paused.stdout).toBe(`Run ${slow.run}: rate 0.01 → unlimited, paused.\n`);
		const before = slow.requests();
		for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
		expect(slow.requests()).toBe(before);
		expect((await slow.runs("resume", slow.run)).exit).toBe(5);
		slow.stop.abort({ exit: 130, text: "stopped by SIGINT" });
		await ends(slow.ended, 130, { pending: 3 });
	});

	it("continues a run that is paused", async () => {
		const slow = await slowRun();
		await slow.runs("adjust", "--pause");
		const continued = await slow.runs("adjust", "--continue", "--rate", "unlimited");
		expect(continued.stdout).toBe(`Run ${slow.run}: rate 0.01 → unlimited, not paused.\n`);
		expect((await slow.ended).exit).toBe(0);
		expect(summaryOf((await slow.ended).stdout)).toMatchObject({
			adjusted: [{ paused: true }, { rate: "unlimited" }, { paused: false }],
		});
	});

	it("ends a paused run when --max-duration is over", async () => {
		let over = (): void => undefined;
		const isOver = new Promise<void>((resolve) => (over = resolve));
		const sleep: Clock["sleep"] = (milliseconds, signal) =>
			milliseconds > 3_000_000 ? isOver : systemClock.sleep(milliseconds, signal);
		const slow = await slowRun(["--rate", "0.01", "--max-duration", "1h"], { ...systemClock, sleep });
		await slow.runs("adjust", "--pause");
		over();
		expect((await slow.ended).exit).toBe(9);
	});

	it.each(["{", '{"schema":1,"id":"x","rate":"fast"}', "\u0000"])(
		"a broken or foreign file is a note, and the run goes on: %j",
		async (text) => {
			const slow = await slowRun();
			await writeFile(join(slow.folder, "adjust.json"), text, { mode: 0o600 });
			await until(() => {
				slow.timers.tick();
				return slow.err().includes("adjust.json was not written by runs adjust; the run goes on unchanged.");
			});
			expect((await slow.runs("adjust", "--rate", "unlimited")).exit).toBe(0);
			expect((await slow.ended).exit).toBe(0);
		},
	);

	it("says when the run has not taken the change, so that nobody counts on it", async () => {
		const slow = await slowRun();
		slow.timers.tick = () => undefined;
		slow.waits.fast = true;
		await says(slow.runs("adjust", "--rate", "5"), 6, `run ${slow.run} has not taken the change within 5 s`);
	});

	it("is exit 2 for a run that has ended, and where none is going on", async () => {
		const slow = await slowRun(["--rate", "unlimited"]);
		await slow.ended;
		const one = await slow.runs("adjust", slow.run, "--rate", "5");
		expect(one).toMatchObject({ exit: 2, stderr: expect.stringContaining("is not going on; nothing was changed") });
		const none = await slow.runs("adjust", "--pause");
		expect(none).toMatchObject({ exit: 2, stderr: expect.stringContaining("no run is going on") });
	});
});
