import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { encode } from "../../../src/run/journal/record-line.ts";
import { continueRun, createRun } from "../../../src/run/journal/writer.ts";
import { JOURNAL_FILE, readRun } from "../../../src/run/journal/reader.ts";
import type { JournalRecord } from "../../../src/run/journal/records.ts";
import { repairRun } from "../../../src/run/journal/repair.ts";
import { bytesOf, end, header, identity, outcome, problem, row, sent, readWhole } from "./support.ts";
import { folder } from "../../support/service.ts";

const now = (): Date => new Date("2026-02-03T04:05:06Z");

type Folder = { readonly path: string; readonly records: readonly JournalRecord[] };

/** A run of two executions: rows 0 to 9 are updated, but row 5, which failed first, was opened again, and then updated. */
async function recorded(): Promise<Folder> {
	const path = join(await folder(), "run");
	const run = await createRun(path, header());
	const records: JournalRecord[] = [header()];
	const write = async (record: JournalRecord): Promise<void> => {
		await run.append(record);
		records.push(record);
	};
	for (let row = 0; row < 10; row++) {
		await write(sent(row));
		await write(outcome(row, row === 5 ? "failed" : "updated"));
	}
	await write(end(run.state, 1));
	await write(header({ time: "later" }));
	await write({ kind: "reopen", time: "later" });
	await write(outcome(5, "updated"));
	await write(end(run.state));
	await run.close();
	return { path, records };
}

/** Damages one byte of a record of the journal. */
async function harm({ path, records }: Folder, place: number): Promise<void> {
	const bytes = bytesOf(records);
	bytes[bytesOf(records.slice(0, place)).length + 30] = 0;
	await writeFile(join(path, JOURNAL_FILE), bytes);
}

describe("the repair of a run", () => {
	it("keeps all outcomes but the damaged one, whose row is in doubt and sent again", async () => {
		const run = await recorded();
		await harm(run, 6);
		const before = await readFile(join(run.path, JOURNAL_FILE));
		expect(await problem(readRun(run.path))).toMatchObject({ exit: 7 });
		const repaired = await repairRun(run.path, now);
		const original = join(run.path, `${JOURNAL_FILE}.damaged-20260203040506000`);
		expect(repaired).toEqual({ kept: run.records.length - 1, lost: 1, original });
		expect(await readFile(original)).toEqual(before);
		const read = await readWhole(run.path);
		expect(read.state.totals()).toMatchObject({ updated: 9, failed: 0 });
		expect(read.state.statusOf(2)).toBeUndefined();
		expect(read.state.countInDoubt()).toBe(1);
		expect(read.state.headers).toHaveLength(2);
		expect(read.state.lost).toBe(1);
		expect((await stat(join(run.path, JOURNAL_FILE))).mode & 0o777).toBe(0o600);
		const next = await continueRun(read, header());
		await next.append(outcome(2, "updated"));
		await next.close();
		expect((await readRun(run.path))?.state.totals()).toMatchObject({ updated: 10, failed: 0 });
	});

	it("gives a run that can be read and resumed, whichever record is damaged, without an extra row", async () => {
		const run = await recorded();
		// But the last: with nothing behind it it is a write that was cut off.
		for (let place = 0; place < run.records.length - 1; place++) {
			await harm(run, place);
			const { original = "" } = await repairRun(run.path, now);
			const read = await readRun(run.path);
			const updated = read?.state.totals().updated ?? 0;
			expect(read && identity(read.state)).toBe(true);
			const lost = run.records[place];
			expect(updated).toBe(lost?.kind === "outcome" && lost.status === "updated" ? 9 : 10);
			expect(updated + (read?.state.totals().failed ?? 0) + (read?.state.countInDoubt() ?? 0)).toBe(10);
			await rm(original);
		}
	});

	it("keeps each row once if a block was written twice", async () => {
		const run = await recorded();
		const { records } = run;
		await writeFile(join(run.path, JOURNAL_FILE), bytesOf([...records.slice(0, 9), ...records.slice(3)]));
		expect(await repairRun(run.path, now)).toMatchObject({ kept: records.length + 3, lost: 3 });
		expect((await readRun(run.path))?.state.totals()).toMatchObject({ updated: 10, attempts: 11 });
	});

	it("drops the rows of another run that was joined to it: this run never sent them", async () => {
		const run = await recorded();
		const other = bytesOf([header({ run: "run-2" }), ...row(700)]);
		await writeFile(join(run.path, JOURNAL_FILE), Buffer.concat([bytesOf(run.records), other]));
		expect(await repairRun(run.path, now)).toMatchObject({ lost: 3 });
		const read = await readRun(run.path);
		expect(read?.state.totals().updated).toBe(10);
		expect(read?.state.statusOf(700)).toBeUndefined();
	});

	it("reports a lost record of a write, or its row would pass for never sent", async () => {
		const run = await recorded();
		await writeFile(join(run.path, JOURNAL_FILE), bytesOf(run.records.filter(({ kind }) => kind !== "sent")));
		expect(await problem(readRun(run.path))).toMatchObject({ exit: 7 });
		expect(await repairRun(run.path, now)).toMatchObject({ kept: run.records.length - 10, lost: 10 });
		const read = await readRun(run.path);
		expect([read?.state.lost, read?.state.totals().updated]).toEqual([10, 10]);
	});

	it("changes nothing in a run that is whole, or whose last write was cut off", async () => {
		const run = await recorded();
		const half = Buffer.concat([bytesOf(run.records), Buffer.from(encode(header()).slice(0, 50))]);
		await writeFile(join(run.path, JOURNAL_FILE), half);
		const files = await readdir(run.path);
		expect(await repairRun(run.path, now)).toMatchObject({ lost: 0, original: undefined });
		expect(await readdir(run.path)).toEqual(files);
		expect(await readFile(join(run.path, JOURNAL_FILE))).toEqual(half);
	});

	it("keeps the damaged file of an earlier repair too", async () => {
		const run = await recorded();
		for (const place of [2, 4]) {
			await harm(run, place);
			await repairRun(run.path, () => new Date(place));
		}
		const [journal, ...damaged] = (await readdir(run.path)).toSorted();
		expect([journal, damaged.length]).toEqual(["journal.log", 2]);
	});

	it("is refused without a header, as the run would be unknown", async () => {
		const run = await recorded();
		const outcomes = bytesOf(run.records.filter(({ kind }) => kind !== "header"));
		await writeFile(join(run.path, JOURNAL_FILE), outcomes);
		expect(await problem(repairRun(run.path, now))).toMatchObject({ exit: 7 });
		expect(await readFile(join(run.path, JOURNAL_FILE))).toEqual(outcomes);
	});
});
