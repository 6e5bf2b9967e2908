import { isDeepStrictEqual } from "node:util";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countedOf, encode, MAX_LINE_BYTES, recordOf } from "../../../src/run/journal/record-line.ts";
import { JournalUnreadable } from "../../../src/run/journal/errors.ts";
import type { JournalRecord } from "../../../src/run/journal/records.ts";
import { readJournal } from "../../../src/run/journal/reader.ts";
import { scan } from "../../../src/run/journal/lines.ts";
import { JournalState } from "../../../src/run/journal/state.ts";
import type { Totals } from "../../../src/run/types.ts";
import { bytesOf, end, header, identity, inPieces, outcome, sent, STATUSES } from "./support.ts";

type Scan = Awaited<ReturnType<typeof scan>>;

/** A journal of about that many bytes, with a second execution and an opening in it. */
function journal(bytes: number): JournalRecord[] {
	const records: JournalRecord[] = [header()];
	const state = new JournalState();
	const add = (record: JournalRecord): void => {
		expect(state.apply(record)).toBeUndefined();
		records.push(record);
	};
	state.apply(header());
	for (let row = 0; bytesOf(records).length < bytes; row++) {
		add(sent(row, { metadata: new Map() }));
		add(outcome(row, STATUSES[row % STATUSES.length], 1 + (row % 3)));
		if (row === 9) {
			add(end(state, 130));
			add(header({ time: "later" }));
			add({ kind: "reopen", time: "later" });
			add(outcome(4, "updated", 2));
		}
	}
	return records;
}

/** The counts after each record, and where it ends. */
function truth(records: readonly JournalRecord[]): { next: number; totals: Totals }[] {
	const state = new JournalState();
	let next = 0;
	return [{ next, totals: state.totals() }].concat(
		records.map((record) => {
			expect(state.apply(record)).toBeUndefined();
			next += Buffer.byteLength(encode(record));
			return { next, totals: state.totals() };
		}),
	);
}

async function scanned(bytes: Uint8Array): Promise<{ result: Scan; state: JournalState }> {
	const state = new JournalState();
	const result = await scan(inPieces(bytes), (entry) => {
		const record = countedOf(entry);
		return record === undefined ? "unknown" : state.apply(record);
	});
	return { result, state };
}

describe("a journal that was cut at any byte", () => {
	it("opens with the counts of its whole records: a kill loses no row and counts none twice", async () => {
		const records = journal(8_000);
		const bytes = bytesOf(records);
		const truths = truth(records);
		expect(bytes.length).toBeGreaterThan(8_000);
		let whole = 0;
		for (let length = 0; length <= bytes.length; length++) {
			while ((truths[whole + 1]?.next ?? Number.POSITIVE_INFINITY) <= length) whole += 1;
			const { result, state } = await scanned(bytes.subarray(0, length));
			const { next, totals } = truths[whole] ?? { next: -1, totals: undefined };
			const expected = { goodLength: next, records: whole, end: next === length ? "clean" : "torn" };
			// An assertion costs more than a scan: one for each length would take minutes.
			const right = isDeepStrictEqual([result, state.totals(), identity(state)], [expected, totals, true]);
			if (!right) expect({ length, result, totals: state.totals() }).toEqual({ length, result: expected, totals });
		}
	});

	it.each([
		["zeros, as power loss leaves them", Buffer.alloc(4_096)],
		["zeros and line ends", Buffer.from(`${"\0".repeat(100)}\n${"\0".repeat(100)}\n`)],
		["garbage", Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * 7_919 + (at >> 3)) % 256))],
		["half a record", Buffer.from(encode(outcome(900)).slice(0, 20))],
		["a record without its end", Buffer.from(encode(outcome(900)).slice(0, -1))],
		["a record with another checksum", Buffer.from(encode(outcome(900)).replace(" 902 ", " 903 "))],
	])("ends before %s, and everything before it counts", async (_, tail) => {
		const records = journal(3_000);
		const bytes = bytesOf(records);
		const { result, state } = await scanned(Buffer.concat([bytes, tail]));
		expect(result).toEqual({ goodLength: bytes.length, records: records.length, end: "torn" });
		expect(state.totals()).toEqual(truth(records).at(-1)?.totals);
	});

	it("holds at most one record of a tail of many megabytes", async () => {
		const bytes = bytesOf([header()]);
		function* zeros(): Generator<Uint8Array> {
			yield bytes;
			for (let at = 0; at < 2 * MAX_LINE_BYTES; at += 65_536) yield new Uint8Array(65_536);
			yield Buffer.from("\n\0");
		}
		const before = process.memoryUsage().arrayBuffers;
		const result = await scan(zeros(), () => undefined);
		expect(result).toMatchObject({ goodLength: bytes.length, end: "torn" });
		expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 * MAX_LINE_BYTES);
	});
});

describe("a journal that was damaged", () => {
	it("never gives a wrong count, whichever bit flips", async () => {
		const records = journal(5_000);
		const bytes = bytesOf(records);
		const truths = truth(records);
		const ends = { torn: 0, damaged: 0 };
		for (let bit = 0; bit < bytes.length * 8; bit++) {
			const flipped = Buffer.from(bytes);
			flipped[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
			const { result, state } = await scanned(flipped);
			const prefix = truths[result.records];
			// What is counted is what was so at some moment, and that is said to be all that is known.
			const counted = isDeepStrictEqual([result.goodLength, state.totals()], [prefix?.next, prefix?.totals]);
			const noticed = result.end !== "clean" && result.goodLength <= bit >> 3;
			// A flip of a line end joins two records: more than these can't be taken for a torn write.
			const few = result.end !== "torn" || truths.length - 1 - result.records <= 2;
			if (!counted || !noticed || !few) expect({ bit, result, totals: state.totals() }).toBe("noticed and counted");
			ends[result.end === "torn" ? "torn" : "damaged"] += 1;
		}
		expect(ends.damaged).toBeGreaterThan(ends.torn);
	});

	it("names the damaged byte and record, so that its user can inspect it", async () => {
		const records = journal(3_000);
		const bytes = bytesOf(records);
		const place = truth(records)[5]?.next ?? 0;
		bytes.fill(0, place, place + 10);
		const { result } = await scanned(bytes);
		expect(result).toEqual({ goodLength: place, records: 5, end: { byte: place, record: 6 } });
		const error: unknown = await readJournal(inPieces(bytes), "journal.log").catch((thrown: unknown) => thrown);
		expect(error).toBeInstanceOf(JournalUnreadable);
		expect(error).toMatchObject({
			exit: 7,
			message: `journal.log is damaged at byte ${place.toLocaleString("en")} (record 6)`,
		});
	});

	it("does not pass as whole if a block was written twice: its rows would count twice", async () => {
		const bytes = bytesOf(journal(6_000));
		const block = bytes.subarray(2_048, 4_096);
		const twice = Buffer.concat([bytes.subarray(0, 4_096), block, bytes.subarray(4_096)]);
		expect((await scanned(twice)).result.end).toMatchObject({ byte: expect.any(Number) });
		const records = journal(6_000);
		const again = bytesOf([...records, ...records.slice(-3)]);
		expect((await scanned(again)).result.end).toMatchObject({ rule: expect.stringContaining("second outcome") });
	});

	it("is read on if a program changed its line endings", async () => {
		const records = journal(3_000);
		const changed = Buffer.from(bytesOf(records).toString("utf8").replaceAll("\n", "\r\n"));
		const { result, state } = await scanned(changed);
		expect(result).toEqual({ goodLength: changed.length, records: records.length, end: "clean" });
		expect(state.totals()).toEqual(truth(records).at(-1)?.totals);
	});

	it.each([
		[1, "an older version"],
		[3, "a newer version"],
	])("of format %i is refused, not read in part", async (version, text) => {
		const covered = encode(header()).replace('"version":2', `"version":${version}`).slice(9, -1);
		const line = `${crc32(covered).toString(16).padStart(8, "0")} ${covered}\n`;
		const bytes = Buffer.from(`${line}what ever\n${encode(outcome(1))}`);
		const error: unknown = await readJournal([bytes], "j").catch((thrown: unknown) => thrown);
		expect(error).toMatchObject({ exit: 8, message: expect.stringContaining(text) });
	});

	it("never crashes a reader, whatever bytes it has", async () => {
		const good = fc.constantFrom(...journal(2_000).map((record) => Buffer.from(encode(record))));
		const any = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
		await fc.assert(
			fc.asyncProperty(fc.array(fc.oneof(good, any), { maxLength: 12 }), async (parts) => {
				const { result, state } = await scanned(Buffer.concat(parts));
				expect(identity(state)).toBe(true);
				expect(result.records).toBeLessThanOrEqual(parts.length);
			}),
		);
	});
});

describe("the size of the pieces in which a file is read", () => {
	it.each([1, 2, 15, 16, 17, 64, 65_536])("makes no difference at %d bytes", async (size) => {
		const records = journal(2_500);
		const seen: unknown[] = [];
		const result = await scan(inPieces(bytesOf(records), size), (entry) => void seen.push(recordOf(entry)));
		expect(result.end).toBe("clean");
		expect(seen).toEqual(records);
	});
});
