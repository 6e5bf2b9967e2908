import { appendFile, link, mkdir, readFile, rm, stat, symlink, truncate } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { encode } from "../../../src/run/journal/record-line.ts";
import { continueRun, createRun, type JournalWriter } from "../../../src/run/journal/writer.ts";
import { JOURNAL_FILE, readRun } from "../../../src/run/journal/reader.ts";
import type { JournalRecord } from "../../../src/run/journal/records.ts";
import { end, header, outcome, problem, ROWS, row, sent, stored, readWhole } from "./support.ts";
import { folder } from "../../support/service.ts";

async function record(run: JournalWriter, ...records: readonly JournalRecord[]): Promise<void> {
	for (const one of records) await run.append(one);
}

/** A run that was killed: row 1 is settled, rows 2 to 4 may have been sent, of row 4 the file is stored. */
async function killed(): Promise<string> {
	const path = join(await folder(), "runs", "run-1");
	const run = await createRun(path, header());
	await record(run, sent(1), sent(2), sent(3));
	await record(run, sent(4, { documentId: "", write: "upload", fileName: "a.txt", size: 5, namesakes: [] }));
	await record(run, stored(4, "new", "a.txt"), sent(4, { documentId: "new" }));
	await record(run, outcome(1, "updated"), outcome(9, "failed"));
	await run.close();
	return path;
}

describe("a run that was killed", () => {
	it("knows which rows are done, which may have been sent, and which were not sent", async () => {
		const run = await readRun(await killed());
		expect(run?.header).toEqual(header());
		expect(run?.state.totals()).toMatchObject({ updated: 1, failed: 1, pending: ROWS - 7 });
		expect(run?.state.end).toBeUndefined();
		expect(run?.state.countInDoubt()).toBe(3);
		expect([0, 1, 2, 5].map((at) => run?.state.wasSent(at))).toEqual([false, true, true, false]);
	});

	it("knows what was sent for each row in doubt, or an upload would be made twice", async () => {
		const run = await readRun(await killed());
		const doubts = (await run?.rowsInDoubt()) ?? new Map();
		expect([...doubts.keys()]).toEqual([2, 3, 4]);
		expect(doubts.get(2)).toEqual({ sent: sent(2) });
		expect(doubts.get(4)).toEqual({ sent: sent(4, { documentId: "new" }), stored: stored(4, "new", "a.txt") });
	});

	it("knows them also for a failed row that was sent before all rows in doubt, or its retry would upload it twice", async () => {
		const path = await killed();
		const read = await readWhole(path);
		const run = await continueRun(read, header());
		await record(run, outcome(2, "failed"), outcome(3, "updated"), outcome(4, "updated"), sent(8));
		const doubts = async (includeFailed = false): Promise<unknown> => {
			const rows = await (await readRun(path))?.rowsInDoubt(includeFailed);
			return [...(rows?.keys() ?? [])];
		};
		expect(await doubts()).toEqual([8]);
		expect(await doubts(true)).toEqual([2, 8]);
		await record(run, { kind: "reopen", time: "t" });
		expect(await doubts()).toEqual([2, 8]);
		await record(run, outcome(2, "failed"), outcome(8, "failed"));
		expect(await doubts()).toEqual([]);
		expect(await doubts(true)).toEqual([2, 8]);
		await run.close();
	});

	it("continues after its last whole record, and then reads as one run", async () => {
		const path = await killed();
		await appendFile(join(path, JOURNAL_FILE), encode(outcome(2)).slice(0, -5));
		const read = await readWhole(path);
		const run = await continueRun(read, header({ time: "later", tool: "0.2.0" }));
		await record(run, outcome(2, "updated"), ...row(5));
		const last = end(run.state, 1);
		await record(run, last);
		await run.close();
		const again = await readRun(path);
		expect(again?.state.totals()).toMatchObject({ updated: 3, failed: 1, attempts: 4 });
		expect(again?.state.headers).toHaveLength(2);
		expect(again?.state.end).toEqual(last);
		expect(again?.state.countInDoubt()).toBe(2);
	});

	it("is not changed by a reader: another process may be writing that record", async () => {
		const path = await killed();
		await appendFile(join(path, JOURNAL_FILE), "{");
		const before = await readFile(join(path, JOURNAL_FILE));
		await readRun(path);
		expect(await readFile(join(path, JOURNAL_FILE))).toEqual(before);
	});

	it("treats reopened rows as in doubt: a failed upload may have been stored", async () => {
		const path = await killed();
		const read = await readWhole(path);
		const run = await continueRun(read, header());
		await record(run, ...row(7, "failed"), { kind: "reopen", time: "t" });
		await run.close();
		expect((await readRun(path))?.state.countInDoubt()).toBe(4);
	});
});

describe("a run's folder", () => {
	it("is readable by its user alone, as it says what was written where", async () => {
		const path = await killed();
		expect((await stat(path)).mode & 0o777).toBe(0o700);
		expect((await stat(join(path, JOURNAL_FILE))).mode & 0o777).toBe(0o600);
	});

	it("is never used twice, or two runs would mix", async () => {
		const path = await killed();
		expect(await problem(createRun(path, header()))).toMatchObject({ exit: 7 });
		expect((await readRun(path))?.state.totals().updated).toBe(1);
	});

	it.each([
		["is missing", async (path: string) => await rm(path, { recursive: true })],
		["has no journal yet", async (path: string) => await rm(join(path, JOURNAL_FILE))],
		["has half a header", async (path: string) => await truncate(join(path, JOURNAL_FILE), 30)],
		["has an empty journal", async (path: string) => await truncate(join(path, JOURNAL_FILE), 0)],
	])("that %s is no run, as nothing was sent", async (_, undo) => {
		const path = join(await folder(), "run-1");
		await (await createRun(path, header())).close();
		await undo(path);
		expect(await readRun(path)).toBeUndefined();
	});
});

describe("resuming a run", () => {
	it("is refused if a file has a second hard link, through which another process could write", async () => {
		const path = await killed();
		const read = await readWhole(path);
		await link(join(path, JOURNAL_FILE), join(path, "copy"));
		expect(await problem(continueRun(read, header()))).toMatchObject({
			message: expect.stringContaining("another program"),
		});
	});
});

describe("a path that is no plain file", () => {
	it.each<[string, (path: string) => Promise<unknown>]>([
		["a link, which leads elsewhere", (path) => symlink("/dev/null", path)],
		["a folder", (path) => mkdir(path)],
	])("is refused in place of a journal: %s", async (_, make) => {
		const path = await killed();
		await rm(join(path, JOURNAL_FILE));
		await make(join(path, JOURNAL_FILE));
		expect(await problem(readRun(path))).toBeInstanceOf(Error);
	});
});
