import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { JournalUnreadable } from "../../../src/run/journal/errors.ts";
import { packFile } from "../../../src/run/journal/files.ts";
import { continueRun } from "../../../src/run/journal/writer.ts";
import { JOURNAL_FILE, readRun } from "../../../src/run/journal/reader.ts";
import type { JournalRecord } from "../../../src/run/journal/records.ts";
import { repairRun } from "../../../src/run/journal/repair.ts";
import { JournalState } from "../../../src/run/journal/state.ts";
import { folder } from "../../support/service.ts";
import { bytesOf, end, header, readWhole, ROWS, row, sent } from "./support.ts";

/** Rows that failed, which can be tried again. */
const FAILED = 10;
const VALID = ROWS - 5;
const FOUND = { updated: VALID - FAILED, failed: FAILED, pending: 0 };

/** The bytes of a finished run's journal. */
function finished(): Buffer {
	const rows = Array.from({ length: VALID }, (_, at) => row(at, at < FAILED ? "failed" : "updated"));
	const state = new JournalState();
	const records: JournalRecord[] = [header(), ...rows.flat()];
	for (const record of records) state.apply(record);
	return bytesOf([...records, end(state)]);
}

/** A run's folder with those files; a name without its beginning is that of the journal. */
async function run(files: Readonly<Record<string, Buffer>>): Promise<string> {
	const path = join(await folder(), "run-1");
	await mkdir(path);
	for (const [end, bytes] of Object.entries(files)) await writeFile(join(path, JOURNAL_FILE + end), bytes);
	return path;
}

it("a compressed run is read as the plain one was, and takes far less space", async () => {
	const plain = finished();
	const path = await run({ "": plain });
	const doubts = await (await readWhole(path)).rowsInDoubt(true);
	await packFile(join(path, JOURNAL_FILE));
	expect(await readdir(path)).toEqual(["journal.log.gz"]);
	const read = await readWhole(path);
	expect(read.state.totals()).toEqual(expect.objectContaining(FOUND));
	const records: unknown[] = [];
	for await (const record of read.sentRecords()) records.push(record);
	expect([records.length, records[7]]).toEqual([VALID, { ...sent(7), order: 0 }]);
	expect(await read.rowsInDoubt(true)).toEqual(doubts);
	expect((await readFile(join(path, "journal.log.gz"))).length).toBeLessThan(plain.length / 3);
});

it("it is plain again before a record is appended, byte for byte", async () => {
	const before = finished();
	const path = await run({ "": before });
	await packFile(join(path, JOURNAL_FILE));
	await (await continueRun(await readWhole(path), header({ time: "2026-01-03T00:00:00.000Z" }))).close();
	expect(await readdir(path)).toEqual([JOURNAL_FILE]);
	expect((await readFile(join(path, JOURNAL_FILE))).subarray(0, before.length)).toEqual(before);
});

it.each<readonly [string, (bytes: Buffer) => Record<string, Buffer>]>([
	["half of the draft is written", (bytes) => ({ "": bytes, ".gz.new": gzipSync(bytes).subarray(0, 900) })],
	["the plain file is still there", (bytes) => ({ "": bytes, ".gz": gzipSync(bytes) })],
	["the plain file is gone", (bytes) => ({ ".gz": gzipSync(bytes) })],
	["half of it is plain", (bytes) => ({ ".gz": gzipSync(bytes), ".new": bytes.subarray(0, 5_000) })],
	["an older compressed one is left", (bytes) => ({ "": bytes, ".gz": gzipSync(bytes.subarray(0, 10_000)) })],
])("a kill while a journal is compressed or made plain loses nothing: %s", async (_, left) => {
	const path = await run(left(finished()));
	const read = await readWhole(path);
	expect(read.state.totals()).toEqual(expect.objectContaining(FOUND));
	await (await continueRun(read, header())).close();
	expect((await readRun(path))?.state.headers).toHaveLength(2);
	const names = await readdir(path);
	expect([names.includes(JOURNAL_FILE), names.includes(`${JOURNAL_FILE}.gz`)]).toEqual([true, false]);
});

it.each<readonly [string, (packed: Buffer) => Buffer]>([
	["cut off", (packed) => packed.subarray(0, -2_000)],
	["changed", (packed) => Buffer.concat([packed.subarray(0, 6_000), Buffer.alloc(100), packed.subarray(6_100)])],
])("a compressed journal that is %s is damaged; a repair keeps what can be read, and the file", async (_, spoil) => {
	const bytes = spoil(gzipSync(finished()));
	const path = await run({ ".gz": bytes });
	await expect(readRun(path)).rejects.toThrow(JournalUnreadable);
	const { kept, lost, original = "" } = await repairRun(path, () => new Date());
	expect(await readFile(original)).toEqual(bytes);
	expect([kept > 100, lost > 0]).toEqual([true, true]);
	const { updated, failed, pending } = (await readWhole(path)).state.totals();
	expect([updated > 0, failed, updated + failed + pending]).toEqual([true, FAILED, VALID]);
	expect((await readdir(path)).toSorted()).toEqual([JOURNAL_FILE, original.slice(path.length + 1)]);
});
