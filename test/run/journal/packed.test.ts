import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { JournalUnreadable } from "../../../src/run/journal/errors.ts";
import { continueRun } from "../../../src/run/journal/open.ts";
import { packRun, unpack } from "../../../src/run/journal/packed.ts";
import { JOURNAL_FILE, readRun } from "../../../src/run/journal/reader.ts";
import type { JournalRecord } from "../../../src/run/journal/records.ts";
import { repairRun } from "../../../src/run/journal/repair.ts";
import { JournalState } from "../../../src/run/journal/state.ts";
import { bytesOf, end, folder, header, ROWS, row, sent, readWhole } from "./support.ts";

/** Rows that failed, which can be tried again. */
const FAILED = 10;
const VALID = ROWS - 5;

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

const FOUND = { updated: VALID - FAILED, failed: FAILED, pending: 0 };

describe("a compressed run", () => {
	it("is read as the plain one was, and takes far less space", async () => {
		const plain = finished();
		const path = await run({ "": plain });
		await packRun(path);
		expect(await readdir(path)).toEqual(["journal.log.gz"]);
		const read = await readRun(path);
		expect(read?.state.totals()).toEqual(expect.objectContaining(FOUND));
		const records: unknown[] = [];
		for await (const record of read?.sentRecords() ?? []) records.push(record);
		expect([records.length, records[7]]).toEqual([VALID, { ...sent(7), order: 0 }]);
		const { length } = await readFile(join(path, "journal.log.gz"));
		expect(length).toBeLessThan(plain.length / 3);
	});

	it("gives what was sent of the rows that failed, from the middle of the file too", async () => {
		const path = await run({ "": finished() });
		const plain = await (await readRun(path))?.rowsInDoubt(true);
		await packRun(path);
		expect(await (await readRun(path))?.rowsInDoubt(true)).toEqual(plain);
		expect(plain?.size).toBe(FAILED);
	});

	it("is plain again before a record is appended, byte for byte", async () => {
		const before = finished();
		const path = await run({ "": before });
		await packRun(path);
		const read = await readWhole(path);
		const open = await continueRun(read, header({ time: "2026-01-03T00:00:00.000Z" }));
		await open.journal.close();
		expect(await readdir(path)).toEqual([JOURNAL_FILE]);
		const after = await readFile(join(path, JOURNAL_FILE));
		expect(after.subarray(0, before.length).equals(before)).toBe(true);
		expect((await readRun(path))?.state.headers).toHaveLength(2);
	});

	it("is whole after many pieces, or records would be lost", async () => {
		// Bytes that hardly shrink take long to compress: the next piece is read while they are.
		const bytes = randomBytes(3_000_001);
		const path = await run({ "": bytes });
		await packRun(path);
		expect(gunzipSync(await readFile(join(path, "journal.log.gz"))).equals(bytes)).toBe(true);
		await unpack(join(path, JOURNAL_FILE));
		expect((await readFile(join(path, JOURNAL_FILE))).equals(bytes)).toBe(true);
	});

	it("stays plain where its journal is short, or longer than the end of a run has time for", async () => {
		for (const path of [await run({ "": bytesOf([header()]) }), await run({ "": finished() })]) {
			await packRun(path, 100_000);
			expect(await readdir(path)).toEqual([JOURNAL_FILE]);
		}
	});
});

const HALF = (bytes: Buffer): Buffer => gzipSync(bytes).subarray(0, 900);

describe("a kill while a journal is compressed or made plain loses nothing", () => {
	it.each<readonly [string, (bytes: Buffer) => Record<string, Buffer>]>([
		["half of the draft is written", (bytes) => ({ "": bytes, ".packing": HALF(bytes) })],
		["the draft is complete", (bytes) => ({ "": bytes, ".packing": gzipSync(bytes) })],
		["the plain file is still there", (bytes) => ({ "": bytes, ".gz": gzipSync(bytes) })],
		["the plain file is gone", (bytes) => ({ ".gz": gzipSync(bytes) })],
		["half of it is plain", (bytes) => ({ ".gz": gzipSync(bytes), ".unpacking": bytes.subarray(0, 5_000) })],
		["all of it is plain, without its name", (bytes) => ({ ".gz": gzipSync(bytes), ".unpacking": bytes })],
	])("%s", async (_, left) => {
		const path = await run(left(finished()));
		const read = await readWhole(path);
		expect(read.state.totals()).toEqual(expect.objectContaining(FOUND));
		await (await continueRun(read, header())).journal.close();
		expect((await readRun(path))?.state.headers).toHaveLength(2);
		const names = await readdir(path);
		expect([names.includes(JOURNAL_FILE), names.includes(`${JOURNAL_FILE}.gz`)]).toEqual([true, false]);
	});
});

it("where both forms are there, the plain one counts: records may have been appended to it", async () => {
	const journal = finished();
	const path = await run({ "": journal, ".gz": gzipSync(journal.subarray(0, 10_000)) });
	expect((await readRun(path))?.state.totals()).toMatchObject(FOUND);
});

it.each([
	["cut off", (packed: Buffer) => packed.subarray(0, packed.length - 2_000)],
	[
		"changed",
		(packed: Buffer) => Buffer.concat([packed.subarray(0, 6_000), Buffer.alloc(100), packed.subarray(6_100)]),
	],
])(
	"a compressed journal that is %s is damaged; a repair keeps what can be read, and the damaged file",
	async (_, spoil) => {
		const path = await run({ "": finished() });
		await packRun(path);
		const packed = join(path, `${JOURNAL_FILE}.gz`);
		await writeFile(packed, spoil(await readFile(packed)));
		await expect(readRun(path)).rejects.toThrow(JournalUnreadable);
		const { lost, original } = await repairRun(path, () => new Date());
		expect(original).toBe(`${packed}.damaged`);
		expect(lost).toBeGreaterThan(0);
		const { updated = 0, failed, pending } = (await readRun(path))?.state.totals() ?? {};
		expect([updated > 0, failed, updated + Number(failed) + Number(pending)]).toEqual([true, FAILED, VALID]);
		await rm(`${packed}.damaged`);
	},
);
