import { isDeepStrictEqual } from "node:util";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encode, MAX_LINE_BYTES, recordOf } from "../../../src/run/journal/record-line.ts";
import { JournalUnreadable } from "../../../src/run/journal/errors.ts";
import type { JournalRecord } from "../../../src/run/journal/records.ts";
import { readJournal } from "../../../src/run/journal/reader.ts";
import { goodEntries } from "../../../src/run/journal/lines.ts";
import { JournalState } from "../../../src/run/journal/state.ts";
import type { Totals } from "../../../src/run/types.ts";
import { bytesOf, end, header, identity, inPieces, outcome, sent, STATUSES } from "./support.ts";

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

/** What a journal says, or the offset of its damage. */
async function read(bytes: Uint8Array) {
	try {
		const { state, ...found } = await readJournal(inPieces(bytes), "j");
		return { found, totals: state.totals(), isWhole: identity(state) };
	} catch (error) {
		if (!(error instanceof JournalUnreadable)) throw error;
		const [, byte = ""] = /^j is damaged at byte ([\d,]+) /.exec(error.message) ?? [];
		return { byte: Number(byte.replaceAll(",", "")), message: error.message };
	}
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
			const result = await read(bytes.subarray(0, length));
			const { next, totals } = truths[whole] ?? { next: -1, totals: undefined };
			const expected = { found: { goodLength: next, records: whole }, totals, isWhole: true };
			// An assertion costs more than a reading: one for each length would take minutes.
			if (!isDeepStrictEqual(result, expected)) expect({ length, result }).toEqual({ length, result: expected });
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
		const found = { goodLength: bytes.length, records: records.length };
		const { totals } = truth(records).at(-1) ?? {};
		expect(await read(Buffer.concat([bytes, tail]))).toEqual({ found, totals, isWhole: true });
	});

	it("holds at most one record of a tail of many megabytes", async () => {
		const bytes = bytesOf([header()]);
		function* zeros(): Generator<Uint8Array> {
			yield bytes;
			for (let at = 0; at < 2 * MAX_LINE_BYTES; at += 65_536) yield new Uint8Array(65_536);
			yield Buffer.from("\n\0");
		}
		const before = process.memoryUsage().arrayBuffers;
		expect(await readJournal(zeros(), "j")).toMatchObject({ goodLength: bytes.length, records: 1 });
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
			const result = await read(flipped);
			ends[result.found === undefined ? "damaged" : "torn"] += 1;
			if (result.found === undefined) {
				if (!(result.byte <= bit >> 3)) expect({ bit, result }).toBe("noticed");
				continue;
			}
			const { goodLength, records: count } = result.found;
			const prefix = truths[count];
			// What is counted is what was so at some moment, and that is said to be all that is known.
			const counted = isDeepStrictEqual([goodLength, result.totals], [prefix?.next, prefix?.totals]);
			// A flip of a line end joins two records: more than these can't be taken for a torn write.
			const few = truths.length - 1 - count <= 2;
			if (!counted || goodLength > bit >> 3 || !few) expect({ bit, result }).toBe("noticed and counted");
		}
		expect(ends.damaged).toBeGreaterThan(ends.torn);
	});

	it("names the damaged byte and record, so that its user can inspect it", async () => {
		const records = journal(3_000);
		const bytes = bytesOf(records);
		const place = truth(records)[5]?.next ?? 0;
		bytes.fill(0, place, place + 10);
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
		expect(await read(twice)).toEqual({ byte: expect.any(Number), message: expect.any(String) });
		const records = journal(6_000);
		const again = bytesOf([...records, ...records.slice(-3)]);
		expect(await read(again)).toMatchObject({ message: expect.stringContaining("second outcome") });
	});

	it("is read on if a program changed its line endings", async () => {
		const records = journal(3_000);
		const changed = Buffer.from(bytesOf(records).toString("utf8").replaceAll("\n", "\r\n"));
		const found = { goodLength: changed.length, records: records.length };
		expect(await read(changed)).toMatchObject({ found, totals: truth(records).at(-1)?.totals });
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
				const { found = { records: 0 }, isWhole = true } = await read(Buffer.concat(parts));
				expect(isWhole).toBe(true);
				expect(found.records).toBeLessThanOrEqual(parts.length);
			}),
		);
	});
});

describe("the size of the pieces in which a file is read", () => {
	it.each([1, 2, 15, 16, 17, 64, 65_536])("makes no difference at %d bytes", async (size) => {
		const records = journal(2_500);
		const seen: unknown[] = [];
		for await (const entry of goodEntries(inPieces(bytesOf(records), size))) seen.push(recordOf(entry));
		expect(seen).toEqual(records);
	});
});
