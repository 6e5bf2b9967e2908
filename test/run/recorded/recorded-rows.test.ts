import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue, Metadata } from "../../../src/json/values.ts";
import { splitLists } from "../../../src/rest/ragflow.ts";
import { createRun } from "../../../src/run/journal/writer.ts";
import { type RecordedRun } from "../../../src/run/journal/reader.ts";
import type { OutcomeRecord, SentRecord, StoredRecord } from "../../../src/run/journal/records.ts";
import { type WrittenRow, writesTo, writtenRows } from "../../../src/run/recorded/recorded-rows.ts";
import { folder } from "../../support/service.ts";
import { header, outcome, sent, stored, readWhole } from "../journal/support.ts";

const asSent = (metadata: Metadata): Metadata => metadata;
const a = (value: JsonValue): Metadata => new Map([["a", value]]);

async function recordedRun(
	records: readonly (SentRecord | StoredRecord)[],
	outcomes: readonly OutcomeRecord[],
): Promise<RecordedRun> {
	const path = join(await folder(), "run");
	const run = await createRun(path, header());
	for (const record of [...records, ...outcomes]) await run.append(record);
	await run.close();
	return readWhole(path);
}

async function written(...records: Parameters<typeof recordedRun>): Promise<WrittenRow[]> {
	const all: WrittenRow[] = [];
	for await (const one of writtenRows(await recordedRun(...records))) all.push(one);
	return all;
}

describe("the record of what a run wrote, from which an undo restores", () => {
	it("has one entry a row: the last values sent over the first ones found", async () => {
		const records = [
			sent(0, { line: 2, before: a(0), time: 10 }),
			sent(1, { line: 3, metadata: a("first"), before: a(1), time: 11 }),
			sent(1, { line: 3, metadata: a("second"), before: a("first"), time: 12 }),
		];
		const all = await written(records, [outcome(0, "updated")]);
		expect(all).toMatchObject([
			{ row: 0, line: 2, documentId: "doc-0", before: a(0), time: 10, status: "updated" },
			{ row: 1, line: 3, documentId: "doc-1", metadata: a("second"), before: a(1), time: 12, status: undefined },
		]);
	});

	it("names the document that an upload made, or none if it is unknown", async () => {
		const upload = { documentId: "", write: "upload", fileName: "a.txt", size: 1 } as const;
		const records = [sent(0, upload), stored(0, "new", "a.txt")];
		const all = await written([...records, sent(1, upload)], [outcome(0, "uploaded")]);
		expect(all).toMatchObject([
			{ row: 0, write: "upload", documentId: "new", status: "uploaded" },
			{ row: 1, write: "upload", documentId: "", status: undefined },
		]);
	});

	it("holds for a row that was sent many times", async () => {
		const many = Array.from({ length: 600 }, (_, n) => sent(0, { metadata: a(n + 1), before: a(n) }));
		expect(await written([...many, sent(1)], [])).toMatchObject([
			{ row: 0, metadata: a(600), before: a(0) },
			{ row: 1 },
		]);
	});
});

it("blame finds all that a run wrote to a document, whatever its id looks like", async () => {
	const id = fc.oneof(
		fc.constantFrom("a", '"', "\\", "\n", "a\u0000", "é", '"id":"a"', "\ud800", "doc-1", "doc-10"),
		fc.string({ unit: "binary", minLength: 1 }),
	);
	const one = fc.record({ row: fc.integer({ min: 0, max: 12 }), documentId: id, isUpload: fc.boolean() });
	const rowsOf = fc.uniqueArray(one, { selector: ({ row }) => row, minLength: 1, maxLength: 12 });
	await fc.assert(
		fc.asyncProperty(rowsOf, fc.array(fc.nat(11), { maxLength: 6 }), async (rows, again) => {
			// Some rows are sent more than once.
			const all = [...rows, ...again.flatMap((at) => rows[at] ?? [])];
			const records = all.flatMap(({ row, documentId, isUpload }): (SentRecord | StoredRecord)[] => {
				if (!isUpload) return [sent(row, { documentId, metadata: a(documentId), before: a("") })];
				const upload = sent(row, { documentId: "", write: "upload", metadata: a(documentId), fileName: "f", size: 1 });
				return [upload, stored(row, documentId, "f")];
			});
			const run = await recordedRun(records, [outcome(rows[0]?.row ?? 0)]);
			const expected: WrittenRow[] = [];
			for await (const each of writtenRows(run)) expected.push(each);
			const byRow = (x: WrittenRow, y: WrittenRow): number => x.row - y.row;
			for (const { documentId } of rows) {
				const found = await writesTo(run, documentId, asSent);
				expect(found.toSorted(byRow)).toEqual(
					expected.filter((each) => each.documentId === documentId).toSorted(byRow),
				);
			}
		}),
		{ numRuns: 40 },
	);
});

describe("the values before all writes of a row", () => {
	const one = (metadata: Metadata, before?: Metadata) => ({ metadata, ...(before === undefined ? {} : { before }) });

	it.each([
		["of one write, what it saw", [one(a(1), a(0))], asSent, a(0)],
		["nothing known of the only one", [one(a(1))], asSent, undefined],
		["the second saw the first", [one(a(1), a(0)), one(a(2), a(1))], asSent, a(0)],
		["somebody else wrote between them", [one(a(1), a(0)), one(a(2), a(5))], asSent, a(5)],
		["the first was refused, and its document emptied", [one(a(1), a(0)), one(a(1), new Map())], asSent, a(0)],
		["what it had was written again", [one(a(1), a(0)), one(a(0), a(0))], asSent, a(0)],
		["nothing known of the second", [one(a(1), a(0)), one(a(2))], asSent, undefined],
		["the second saw the first, and nothing is known of that", [one(a(1)), one(a(2), a(1))], asSent, undefined],
		["three of ours", [one(a(1), a(0)), one(a(2), a(1)), one(a(3), a(2))], asSent, a(0)],
		["the service took the list apart", [one(a(["x,y"]), a(0)), one(a(2), a(["x", "y"]))], splitLists, a(0)],
	])("%s", async (_, records, keeps, expected) => {
		const run = await recordedRun(
			records.map((record) => sent(0, record)),
			[],
		);
		for await (const { before } of writtenRows(run, keeps)) expect(before).toEqual(expected);
		expect.assertions(1);
	});
});
