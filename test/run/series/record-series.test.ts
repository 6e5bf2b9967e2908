import { appendFile, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readSeries, recordSeries } from "../../../src/run/series/series-file.ts";
import { noOutcomes } from "../../../src/outcomes.ts";
import { FakeClock } from "../fake-clock.ts";
import { ratesOf } from "../rates.ts";
import { folder } from "../../support/service.ts";

const TOTALS = { rows: 100, ...noOutcomes(), invalid: 3, duplicateSkipped: 2, pending: 95, attempts: 0 };

/** A run whose seconds pass when the test says so. */
async function running(path: string) {
	const clock = new FakeClock();
	const rates = ratesOf(clock, 50);
	const { monitor } = rates;
	monitor.enter("running");
	let tick = (): void => undefined;
	const notes: string[] = [];
	const totals = { ...TOTALS };
	const series = recordSeries(path, { rates, journal: { totals: () => totals } }, (text) => notes.push(text), {
		date: () => new Date(1_000_000 + clock.now()),
		every: (_, call) => {
			tick = call;
			return () => (tick = () => undefined);
		},
	});
	/** Lets a second pass, and waits until as many points are in the file. */
	const second = async (points: number): Promise<void> => {
		await clock.pass(1000);
		while ((await readSeries(path)).length < points) {
			tick();
			await new Promise((resolve) => setImmediate(resolve));
		}
	};
	return { monitor, series, notes, totals, second, pass: (ms: number) => clock.pass(ms) };
}

describe("the series of a run", () => {
	it("has a line for each second, and one for the rest at the end", async () => {
		const path = join(await folder(), "series.jsonl");
		const { monitor, series, totals, second, pass, notes } = await running(path);
		monitor.sent();
		monitor.sent();
		monitor.answered(-20);
		Object.assign(totals, { updated: 1, pending: 94 });
		await second(1);
		monitor.failed(960, new Error("any"));
		Object.assign(totals, { failed: 1, pending: 93 });
		await pass(250);
		series();
		series();
		expect(await readSeries(path)).toEqual([
			{
				t: 1001,
				s: 1,
				sent: 2,
				done: 1,
				failed: 0,
				state: "running",
				in_flight: 1,
				cap: 50,
				p50: expect.closeTo(20, -1),
				p95: expect.closeTo(20, -1),
			},
			{
				t: 1001.25,
				s: 0.25,
				sent: 0,
				done: 2,
				failed: 1,
				state: "running",
				in_flight: 0,
				cap: 50,
				p50: expect.closeTo(40, -1),
				p95: expect.closeTo(40, -1),
			},
		]);
		expect(notes).toEqual([]);
	});

	it("is appended to by a resumed run, also after a line that was cut off", async () => {
		const path = join(await folder(), "series.jsonl");
		const first = await running(path);
		await first.second(1);
		first.series();
		await appendFile(path, '{"t":1002,"s":1,"se');
		const resumed = await running(path);
		await resumed.second(2);
		resumed.series();
		expect((await readSeries(path)).map(({ t }) => t)).toEqual([1001, 1001]);
		expect((await readFile(path, "utf8")).split("\n").filter((line) => line.endsWith('"se'))).toHaveLength(1);
	});

	it("never fails the run: what can't be written is one note", async () => {
		const target = join(await folder(), "elsewhere");
		const path = `${target}.jsonl`;
		await writeFile(target, "untouched");
		await symlink(target, path);
		const notes: string[] = [];
		const sampled = { rates: ratesOf(new FakeClock()), journal: { totals: () => TOTALS } };
		const series = recordSeries(path, sampled, (text) => notes.push(text), {
			date: () => new Date(),
			every: () => () => undefined,
		});
		series();
		expect(notes).toEqual([expect.stringContaining(path)]);
		expect(await readFile(target, "utf8")).toBe("untouched");
	});
});
