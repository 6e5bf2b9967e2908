import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encode, MAX_LINE_BYTES } from "../../../src/run/journal/record-line.ts";
import { JournalLost } from "../../../src/run/journal/errors.ts";
import type { JournalRecord } from "../../../src/run/journal/records.ts";
import { JournalState } from "../../../src/run/journal/state.ts";
import { type JournalWriter, journalWriter } from "../../../src/run/journal/writer.ts";
import { FakeDisk, type Operation, systemError } from "./fake-disk.ts";
import { bytesOf, header, outcome, sent } from "./support.ts";

function writerOn(disk: FakeDisk): JournalWriter {
	const state = new JournalState();
	// The header is not written in every test.
	state.apply(header());
	return journalWriter(disk.open(), "run/journal.log", disk.bytes.length, state);
}

/** What a promise came to, without waiting for it. */
async function settled(promise: Promise<void>): Promise<unknown> {
	return await promise.then(
		() => "durable",
		(error: unknown) => error,
	);
}

describe("a record that was accepted", () => {
	it("is durable once that is reported: no interleaving of records and syncs loses a counted outcome", async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.scheduler(),
				fc.integer({ min: 1, max: 25 }),
				fc.integer({ min: 1, max: 60 }),
				async (scheduler, count, mostTaken) => {
					const disk = new FakeDisk();
					disk.mostTaken = mostTaken;
					disk.gate = async (operation) => {
						await scheduler.schedule(Promise.resolve(), operation);
					};
					const writer = writerOn(disk);
					const rows = Array.from({ length: count }, (_, row) => row);
					const done = rows.map(async (row) => {
						await scheduler.schedule(Promise.resolve(), `row ${row}`);
						const record = outcome(row);
						await writer.append(record);
						expect(disk.bytes.subarray(0, disk.durable).includes(encode(record))).toBe(true);
					});
					await scheduler.waitFor(Promise.all(done));
					expect(disk.bytes.length).toBe(bytesOf(rows.map((row) => outcome(row))).length);
					expect(disk.syncs).toBeLessThanOrEqual(count);
				},
			),
			{ numRuns: 60 },
		);
	});

	it("shares its write and its sync with all of its turn, as a sync for each row would slow a run", async () => {
		const disk = new FakeDisk();
		const writer = writerOn(disk);
		await Promise.all(Array.from({ length: 500 }, (_, row) => writer.append(outcome(row))));
		expect([disk.writes, disk.syncs]).toEqual([1, 1]);
	});

	it("is counted once it is durable, and not before: a loss of power may take it", async () => {
		const disk = new FakeDisk();
		let release = (): void => undefined;
		disk.gate = (operation) => (operation === "sync" ? new Promise<void>((resolve) => (release = resolve)) : undefined);
		const writer = writerOn(disk);
		const appended = writer.append(outcome(1));
		const length = bytesOf([outcome(1)]).length;
		await expect.poll(() => disk.bytes.length).toBe(length);
		expect([disk.durable, writer.state.statusOf(1)]).toEqual([0, undefined]);
		release();
		await appended;
		expect([disk.durable, writer.state.statusOf(1)]).toEqual([length, "unchanged"]);
	});

	it("is refused where it breaks a rule, and the others of its turn are counted", async () => {
		const writer = writerOn(new FakeDisk());
		const appended = [writer.append(outcome(1)), writer.append(outcome(1)), writer.append(outcome(2))];
		const results = await Promise.all(appended.map(settled));
		expect(results).toEqual([
			"durable",
			expect.objectContaining({ message: expect.stringContaining("second") }),
			"durable",
		]);
		expect(writer.state.totals().unchanged).toBe(2);
	});

	it("is written while an earlier sync goes on: a slow storage holds back no record", async () => {
		const disk = new FakeDisk();
		let release = (): void => undefined;
		disk.gate = (operation) =>
			operation === "sync" && disk.syncs === 0 ? new Promise<void>((resolve) => (release = resolve)) : undefined;
		const writer = writerOn(disk);
		const first = writer.append(outcome(1));
		await expect.poll(() => disk.writes).toBe(1);
		const second = writer.append(outcome(2));
		await expect.poll(() => disk.writes).toBe(2);
		expect(disk.durable).toBe(0);
		release();
		await Promise.all([first, second]);
		// The second was written after the first sync had begun, so it has a sync of its own.
		expect([disk.syncs, disk.durable]).toEqual([2, disk.bytes.length]);
	});

	it("comes after all earlier ones, or a reader would see an end before its outcomes", async () => {
		const disk = new FakeDisk();
		const writer = writerOn(disk);
		const records: JournalRecord[] = [header(), outcome(1), sent(2), outcome(2, "failed"), outcome(3)];
		await Promise.all(records.map((record) => writer.append(record)));
		expect(disk.bytes.equals(bytesOf(records))).toBe(true);
	});

	it("that is too long is refused alone and does not end the run", async () => {
		const disk = new FakeDisk();
		const writer = writerOn(disk);
		const long = new Map([["text", "x".repeat(MAX_LINE_BYTES)]]);
		await expect(writer.append(sent(1, { metadata: long }))).rejects.toThrow(RangeError);
		await writer.append(outcome(2));
		expect(disk.bytes.equals(bytesOf([outcome(2)]))).toBe(true);
	});

	it("is durable before the file is closed, and none is accepted after that", async () => {
		const disk = new FakeDisk();
		const writer = writerOn(disk);
		const appended = writer.append(outcome(1));
		await writer.close();
		await appended;
		expect(disk.durable).toBe(bytesOf([outcome(1)]).length);
		await expect(writer.append(outcome(2))).rejects.toThrow("closed");
		await writer.close();
	});
});

describe("a storage that fails", () => {
	const FAULTS: readonly [Operation, string, string][] = [
		["write", "ENOSPC", "no space left for run/journal.log: it went wrong"],
		["write", "EDQUOT", "no space left for run/journal.log: it went wrong"],
		["write", "EFBIG", "no space left for run/journal.log: it went wrong"],
		["write", "EIO", "run/journal.log can't be written: it went wrong"],
		["sync", "EIO", "run/journal.log can't be written: it went wrong"],
		["sync", "ENOSPC", "no space left for run/journal.log: it went wrong"],
		["size", "EIO", "run/journal.log can't be written: it went wrong"],
	];
	it.each(FAULTS)("with %s %s fails every waiting row and is not tried again", async (at, code, message) => {
		const disk = new FakeDisk();
		const writer = writerOn(disk);
		await writer.append(header());
		const asked: Operation[] = [];
		disk.gate = (operation) => void asked.push(operation);
		disk.fault = (operation) => (operation === at ? systemError(code) : undefined);
		const waiting = [writer.append(outcome(1)), writer.append(outcome(2)), writer.append(outcome(3))];
		const errors = await Promise.all(waiting.map(settled));
		// The disk is well again: what it lost meanwhile, nobody knows.
		disk.fault = () => undefined;
		errors.push(await settled(writer.append(outcome(4))));
		expect(new Set(errors).size).toBe(1);
		expect(errors[0]).toBeInstanceOf(JournalLost);
		expect(errors[0]).toMatchObject({ message });
		expect(writer.lost).toBe(errors[0]);
		expect(asked.filter((operation) => operation === at)).toHaveLength(1);
		await writer.close();
	});

	it("by accepting no bytes causes no endless loop", async () => {
		const disk = new FakeDisk();
		disk.mostTaken = 0;
		await expect(writerOn(disk).append(outcome(1))).rejects.toThrow("takes no more bytes");
		expect(disk.writes).toBe(1);
	});

	it("after a part of a group reports none of its rows as durable", async () => {
		const disk = new FakeDisk();
		const writer = writerOn(disk);
		await writer.append(outcome(1));
		// Of the group of the others one is written, then the disk is full.
		disk.mostTaken = bytesOf([outcome(2)]).length;
		disk.fault = (operation) => (operation === "write" && disk.writes === 2 ? systemError("ENOSPC") : undefined);
		const errors = await Promise.all([2, 3].map((row) => settled(writer.append(outcome(row)))));
		expect(writer.lost).toMatchObject({ message: expect.stringContaining("no space left") });
		expect(errors).toEqual([writer.lost, writer.lost]);
		expect(disk.bytes.equals(bytesOf([outcome(1), outcome(2)]))).toBe(true);
	});
});

describe("another program that writes the same file", () => {
	it.each([
		["appends to it", "writes to", (disk: FakeDisk) => (disk.bytes = Buffer.concat([disk.bytes, Buffer.from("x")]))],
		["cuts it", "writes to", (disk: FakeDisk) => (disk.bytes = disk.bytes.subarray(1))],
		["removes it", "moved or removed", (disk: FakeDisk) => (disk.nlink = 0)],
		["gives it a second name", "writes to", (disk: FakeDisk) => (disk.nlink = 2)],
	])("and %s stops the run before the next byte: two writers would mix their rows", async (_, what, meddle) => {
		const disk = new FakeDisk();
		const writer = writerOn(disk);
		await writer.append(header());
		meddle(disk);
		const before = Buffer.from(disk.bytes);
		await expect(writer.append(outcome(1))).rejects.toMatchObject({
			message: `another program ${what} run/journal.log`,
		});
		expect(disk.bytes.equals(before)).toBe(true);
	});

	it("is noticed if it wrote between the reading and the first record", async () => {
		const disk = new FakeDisk(bytesOf([header(), outcome(1)]));
		const writer = journalWriter(disk.open(), "j", bytesOf([header()]).length, new JournalState());
		await expect(writer.append(outcome(2))).rejects.toThrow("another program");
	});
});
