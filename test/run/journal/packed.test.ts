import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { JournalUnreadable } from "../../../src/run/journal/errors.ts";
import { continueRun } from "../../../src/run/journal/open.ts";
import { packRun, unpack } from "../../../src/run/journal/packed.ts";
import { JOURNAL_FILE, readRun, SENT_FILE } from "../../../src/run/journal/reader.ts";
import type { JournalRecord } from "../../../src/run/journal/records.ts";
import { repairRun } from "../../../src/run/journal/repair.ts";
import { JournalState } from "../../../src/run/journal/state.ts";
import { bytesOf, end, folder, header, outcome, ROWS, sent } from "./support.ts";

/** Rows that failed, which can be tried again. */
const FAILED = 10;
const VALID = ROWS - 5;
const FILES = [JOURNAL_FILE, SENT_FILE];

/** The bytes of a finished run's two files. */
function finished(): Record<string, Buffer> {
	const rows = Array.from({ length: VALID }, (_, row) => row);
	const state = new JournalState();
	const records: JournalRecord[] = [header(), ...rows.map((row) => outcome(row, row < FAILED ? "failed" : "updated"))];
	for (const record of records) state.apply(record);
	return { [JOURNAL_FILE]: bytesOf([...records, end(state)]), [SENT_FILE]: bytesOf(rows.map((row) => sent(row))) };
}

async function run(files: Readonly<Record<string, Buffer>>): Promise<string> {
	const path = join(await folder(), "run-1");
	await mkdir(path);
	for (const [name, bytes] of Object.entries(files)) await writeFile(join(path, name), bytes);
	return path;
}

const FOUND = { updated: VALID - FAILED, failed: FAILED, pending: 0 };

describe("a compressed run", () => {
	it("is read as the plain one was, and takes far less space", async () => {
		const files = finished();
		const path = await run(files);
		expect(await packRun(path)).toBe(true);
		expect((await readdir(path)).toSorted()).toEqual(FILES.map((name) => `${name}.gz`).toSorted());
		const read = await readRun(path);
		expect([read?.state.totals(), read?.sent.count]).toEqual([expect.objectContaining(FOUND), VALID]);
		const records: unknown[] = [];
		for await (const record of read?.sentRecords() ?? []) records.push(record);
		expect([records.length, records[7]]).toEqual([VALID, { ...sent(7), order: 0 }]);
		for (const name of FILES) {
			const { length } = await readFile(join(path, `${name}.gz`));
			expect(length).toBeLessThan((files[name]?.length ?? 0) / 3);
		}
	});

	it("is plain again before a record is appended, byte for byte", async () => {
		const files = finished();
		const path = await run(files);
		await packRun(path);
		const read = await readRun(path);
		if (read === undefined) throw new Error("no run");
		const open = await continueRun(read, header({ time: "2026-01-03T00:00:00.000Z" }));
		await open.close();
		expect((await readdir(path)).toSorted()).toEqual(FILES.toSorted());
		const before = files[JOURNAL_FILE] ?? Buffer.alloc(0);
		const after = await readFile(join(path, JOURNAL_FILE));
		expect(after.subarray(0, before.length).equals(before)).toBe(true);
		expect((await readRun(path))?.state.headers).toHaveLength(2);
	});

	it("is whole after many pieces that took turns in one buffer, or records would be lost", async () => {
		// Bytes that hardly shrink take long to compress: the next piece is read while they are.
		const bytes = randomBytes(3_000_001);
		const path = await run({ [SENT_FILE]: bytes, [JOURNAL_FILE]: bytes.subarray(7) });
		expect(await packRun(path)).toBe(true);
		for (const [name, first] of [
			[SENT_FILE, 0],
			[JOURNAL_FILE, 7],
		] as const) {
			const packed = await readFile(join(path, `${name}.gz`));
			expect(gunzipSync(packed).equals(bytes.subarray(first))).toBe(true);
			await unpack(join(path, name));
			expect((await readFile(join(path, name))).equals(bytes.subarray(first))).toBe(true);
		}
	});

	it("stays plain where its files are short, or longer than the end of a run has time for", async () => {
		const short = await run({ [JOURNAL_FILE]: bytesOf([header()]), [SENT_FILE]: Buffer.alloc(0) });
		expect([await packRun(short), (await readdir(short)).toSorted()]).toEqual([false, FILES.toSorted()]);
		const long = await run(finished());
		expect([await packRun(long, 100_000), (await readdir(long)).toSorted()]).toEqual([false, FILES.toSorted()]);
	});
});

const HALF = (bytes: Buffer): Buffer => gzipSync(bytes).subarray(0, 900);

describe("a kill while a file is compressed or made plain loses nothing", () => {
	it.each<readonly [string, (name: string, bytes: Buffer) => Record<string, Buffer>]>([
		["half of the draft is written", (name, bytes) => ({ [name]: bytes, [`${name}.packing`]: HALF(bytes) })],
		["the draft is complete", (name, bytes) => ({ [name]: bytes, [`${name}.packing`]: gzipSync(bytes) })],
		["the plain file is still there", (name, bytes) => ({ [name]: bytes, [`${name}.gz`]: gzipSync(bytes) })],
		["the plain file is gone", (name, bytes) => ({ [`${name}.gz`]: gzipSync(bytes) })],
		[
			"half of it is plain",
			(name, bytes) => ({ [`${name}.gz`]: gzipSync(bytes), [`${name}.unpacking`]: bytes.subarray(0, 5_000) }),
		],
		[
			"all of it is plain, without its name",
			(name, bytes) => ({ [`${name}.gz`]: gzipSync(bytes), [`${name}.unpacking`]: bytes }),
		],
	])("%s", async (_, left) => {
		const files = finished();
		// Each of the two files can be left so, while the other one is done or not begun.
		for (const name of FILES) {
			for (const other of FILES.filter((each) => each !== name)) {
				const bytes = files[name] ?? Buffer.alloc(0);
				const rest = files[other] ?? Buffer.alloc(0);
				for (const beside of [{ [other]: rest }, { [`${other}.gz`]: gzipSync(rest) }]) {
					const path = await run({ ...left(name, bytes), ...beside });
					const read = await readRun(path);
					expect([read?.state.totals(), read?.sent.count]).toEqual([expect.objectContaining(FOUND), VALID]);
					if (read === undefined) throw new Error("no run");
					await (await continueRun(read, header())).close();
					expect((await readRun(path))?.state.headers).toHaveLength(2);
					const names = await readdir(path);
					expect(names.filter((each) => each.endsWith(".gz"))).toEqual([]);
					expect(names).toEqual(expect.arrayContaining(FILES));
				}
			}
		}
	});
});

it("where both forms are there, the plain one counts: records may have been appended to it", async () => {
	const files = finished();
	const journal = files[JOURNAL_FILE] ?? Buffer.alloc(0);
	const path = await run({ ...files, [`${JOURNAL_FILE}.gz`]: gzipSync(journal.subarray(0, 10_000)) });
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
		const path = await run(finished());
		await packRun(path);
		const packed = join(path, `${JOURNAL_FILE}.gz`);
		await writeFile(packed, spoil(await readFile(packed)));
		await expect(readRun(path)).rejects.toThrow(JournalUnreadable);
		const { journal } = await repairRun(path, () => new Date());
		expect([journal.lost, journal.original]).toEqual([expect.any(Number), `${packed}.damaged`]);
		expect(journal.lost).toBeGreaterThan(0);
		const { updated = 0, failed, pending } = (await readRun(path))?.state.totals() ?? {};
		expect([updated > 0, failed, updated + Number(failed) + Number(pending)]).toEqual([true, FAILED, VALID]);
		await rm(`${packed}.damaged`);
	},
);
