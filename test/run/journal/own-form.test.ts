import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/json/values.ts";
import { encode } from "../../../src/run/journal/encode.ts";
import { plainOutcomes, plainSent } from "../../../src/run/journal/own-form.ts";
import { readJournal, readSent } from "../../../src/run/journal/reader.ts";
import type { JournalRecord, OutcomeRecord, SentRecord } from "../../../src/run/journal/records.ts";
import { scan } from "../../../src/run/journal/scan.ts";
import { SentState } from "../../../src/run/journal/sent-state.ts";
import { JournalState } from "../../../src/run/journal/state.ts";
import { bytesOf, header, identity, inPieces, outcome, ROWS, sent, STATUSES } from "./support.ts";

const TIME = 1_795_460_580_264;

describe("the lines of a run are read without parsing them, or a resume of a million rows takes half a minute", () => {
	it("an outcome of every status but a failure, with all its members", () => {
		const outcomes: OutcomeRecord[] = STATUSES.filter((status) => status !== "failed").map((status, row) =>
			outcome(row, status, row + 1),
		);
		outcomes.push({ ...outcome(7), isSame: true }, { ...outcome(8, "uploaded"), storedName: "a plain name (1).txt" });
		outcomes.push({ ...outcome(9, "removed"), documentId: "" });
		const seen: unknown[] = [];
		const bytes = bytesOf(outcomes);
		const read = plainOutcomes((one) => seen.push(one) > 0);
		expect(read(bytes, 0)).toEqual({ length: bytes.length, records: outcomes.length });
		expect(seen).toEqual(
			outcomes.map(({ row, line, status, attempts, isSame }) => ({ row, line, status, attempts, isSame })),
		);
	});

	it("an update with and without a before-image, and a removal, with their offsets", () => {
		const metadata = new Map<string, JsonValue>([
			["text", '}],"b":{ \\" \\ – {['],
			["tags", ["a", "b"]],
		]);
		const { metadata: _, ...removal } = sent(3, { line: 5, time: TIME, write: "remove" });
		const records: SentRecord[] = [
			sent(0, { line: 2, time: TIME, metadata }),
			sent(1, { line: 3, time: TIME, metadata, before: metadata }),
			sent(2, { line: 4, time: TIME, metadata, before: new Map() }),
			removal,
		];
		const seen: unknown[] = [];
		const read = plainSent(({ row, write, hasBefore }, offset) => seen.push([row, write, hasBefore, offset]) > 0);
		const bytes = bytesOf(records);
		expect(read(bytes, 1000)).toEqual({ length: bytes.length, records: records.length });
		const offsets = records.map((_, at) => 1000 + bytesOf(records.slice(0, at)).length);
		expect(seen).toEqual([
			[0, "update", false, offsets[0]],
			[1, "update", true, offsets[1]],
			[2, "update", true, offsets[2]],
			[3, "remove", false, offsets[3]],
		]);
	});
});

describe("a line that is not as it was written is left to the careful reader, which knows what to do with it", () => {
	const line = encode(outcome(4));
	const covered = (text: string): string => encode({ kind: "lost", records: 0, time: text });
	it.each([
		["a flipped bit", line.replace("doc-4", "doc-5")],
		["another checksum", line.replace(/"c":"./, '"c":"x')],
		["a checksum in capitals", line.replace(/[0-9a-f]{8}/, (digits) => digits.toUpperCase())],
		["no line end", line.slice(0, -1)],
		["a changed line end", line.replace("\n", "\r\n")],
		["another record", covered("now")],
		["an empty line", "\n"],
		["nothing", ""],
	])("%s", (what, text) => {
		// Digits alone have no capitals.
		const isSame = text === line;
		const read = plainOutcomes(() => true)(Buffer.from(text), 0);
		expect(read, what).toEqual(isSame ? { length: line.length, records: 1 } : { length: 0, records: 0 });
	});

	it("one that the counts refuse: its rule is reported, and it is not applied twice", async () => {
		const error: unknown = await readJournal([bytesOf([header(), outcome(4), outcome(4)])], "j").catch(
			(e: unknown) => e,
		);
		expect(String(error)).toContain("record 3): a second outcome of the row of line 6");
	});
});

const anyText = fc.oneof(
	fc.string(),
	fc.string({ unit: "grapheme" }),
	fc.constantFrom('"', "\\", '},"b":{', "\n", "é"),
);
const anyValue: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
	value: fc.oneof(
		{ depthSize: "small" },
		fc.oneof(anyText, fc.integer(), fc.boolean(), fc.constant(null)),
		fc.array(tie("value"), { maxLength: 3 }),
	),
})).value;
const anyMetadata = fc.array(fc.tuple(anyText, anyValue), { maxLength: 4 }).map((members) => new Map(members));

const anyOutcome = fc
	.record({
		row: fc.integer({ min: 0, max: 40 }),
		status: fc.constantFrom(...STATUSES),
		attempts: fc.integer({ min: 0, max: 9 }),
		documentId: anyText,
		storedName: fc.option(anyText, { nil: undefined }),
	})
	.map(({ row, status, attempts, ...ids }): JournalRecord => ({ ...outcome(row, status, attempts), ...ids }));

const anySent = fc
	.record(
		{
			row: fc.integer({ min: 0, max: 40 }),
			documentId: anyText,
			datasetId: anyText,
			write: fc.constantFrom("update", "remove", "upload"),
			metadata: anyMetadata,
			before: anyMetadata,
			line: fc.nat(),
			time: fc.constant(TIME),
		},
		{ requiredKeys: ["row", "documentId", "datasetId", "write"] },
	)
	.map((record): JournalRecord => ({ kind: "sent", ...record }));

const harm = fc.record({
	what: fc.constantFrom("flip", "cut", "nothing"),
	/** where, as a share of the bytes */
	at: fc.noBias(fc.nat(999_999)),
	bit: fc.nat(7),
});

/** Bytes with one bit changed, cut off, or as they are. */
function harmed(bytes: Buffer, { what, at, bit }: { what: string; at: number; bit: number }): Buffer {
	const copy = Buffer.from(bytes);
	const place = Math.floor((copy.length * at) / 1_000_000);
	if (what === "cut") return copy.subarray(0, place);
	if (what === "flip" && copy.length > 0) copy[place] = (copy[place] ?? 0) ^ (1 << bit);
	return copy;
}

describe("whatever a file has, it gives the counts that parsing every line gives", () => {
	it("outcomes", async () => {
		const random = fc.asyncProperty(
			fc.array(anyOutcome),
			harm,
			fc.integer({ min: 1, max: 2000 }),
			async (all, how, size) => {
				const bytes = harmed(bytesOf([header(), ...all]), how);
				const careful = new JournalState();
				const expected = await scan([bytes], (record) => careful.apply(record));
				const read = await readJournal(inPieces(bytes, size), "j").catch(() => undefined);
				if (typeof expected.end === "object") expect(read).toBeUndefined();
				else {
					expect(read?.goodLength).toBe(expected.goodLength);
					expect(read?.state.totals()).toEqual(careful.totals());
					expect(read && identity(read.state)).toEqual(identity(careful));
				}
			},
		);
		await fc.assert(random, { numRuns: 1000 });
	});

	it("records of what was sent", async () => {
		const random = fc.asyncProperty(
			fc.array(anySent),
			harm,
			fc.integer({ min: 1, max: 2000 }),
			async (all, how, size) => {
				const bytes = harmed(bytesOf(all), how);
				const careful = new SentState(ROWS);
				const expectedNotes: number[][] = [];
				const expected = await scan([bytes], (record, offset) => {
					if (record.kind === "sent") expectedNotes.push([record.row, offset]);
					return careful.apply(record);
				});
				const notes: number[][] = [];
				const note = (row: number, offset: number): void => void notes.push([row, offset]);
				const read = await readSent(inPieces(bytes, size), "s", ROWS, note).catch(() => undefined);
				expect(notes).toEqual(expectedNotes);
				if (typeof expected.end === "object") expect(read).toBeUndefined();
				else {
					expect(read?.goodLength).toBe(expected.goodLength);
					expect([...(read?.state.rows() ?? [])]).toEqual([...careful.rows()]);
					const blind = (state?: SentState): boolean[] =>
						[...careful.rows()].map((row) => state?.lacksBeforeImage(row) ?? false);
					expect(blind(read?.state)).toEqual(blind(careful));
				}
			},
		);
		await fc.assert(random, { numRuns: 1000 });
	});
});
