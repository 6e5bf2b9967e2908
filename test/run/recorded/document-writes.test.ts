import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readRun } from "../../../src/run/journal/reader.ts";
import type { JournalRecord, SentRecord, StoredRecord } from "../../../src/run/journal/records.ts";
import { writesTo } from "../../../src/run/recorded/document-writes.ts";
import { type WrittenRow, writtenRows } from "../../../src/run/recorded/recorded-rows.ts";
import { folder } from "../../support/service.ts";
import { bytesOf, header, outcome, sent } from "../journal/support.ts";

const asSent: Parameters<typeof writesTo>[2] = (metadata) => metadata;

/** The folder of a run with those records. */
async function run(
	records: readonly (SentRecord | StoredRecord)[],
	outcomes: readonly JournalRecord[] = [],
): Promise<string> {
	const path = await folder();
	await writeFile(join(path, "journal.jsonl"), bytesOf([header(), ...outcomes]));
	await writeFile(join(path, "sent.jsonl"), bytesOf(records));
	return path;
}

describe("the record of what a run wrote to one document", () => {
	it("is found in the whole run, whatever the ids look like", async () => {
		const id = fc.oneof(
			fc.constantFrom("a", "b", '"', "\\", "\n", "a\u0000", "é", '"id":"a"', "\ud800", "doc-1", "doc-10"),
			fc.string({ unit: "binary" }),
		);
		const one = fc.record({
			row: fc.integer({ min: 0, max: 12 }),
			documentId: id.filter((text) => text !== ""),
			metadata: fc.dictionary(fc.constantFrom("id", "i"), id).map((object) => new Map(Object.entries(object))),
			isUpload: fc.boolean(),
		});
		await fc.assert(
			fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 12 }), async (all) => {
				// A row is about one document, however often it is sent.
				const ofRow = new Map(all.map(({ row, documentId }) => [row, documentId]));
				const rows = all.map((each) => ({ ...each, documentId: ofRow.get(each.row) ?? "" }));
				const records = rows.flatMap(({ row, documentId, metadata, isUpload }): (SentRecord | StoredRecord)[] =>
					isUpload
						? [
								sent(row, { documentId: "", write: "upload", metadata, fileName: "f", size: 1 }),
								{ kind: "stored", row, documentId, storedName: "f" },
							]
						: [sent(row, { documentId, metadata, line: row + 2, time: row })],
				);
				const path = await run(records, [outcome(all[0]?.row ?? 0)]);
				const read = await readRun(path);
				const expected: WrittenRow[] = [];
				if (read !== undefined) for await (const each of writtenRows(read, asSent)) expected.push(each);
				for (const documentId of new Set(all.map((each) => each.documentId))) {
					const byRow = (a: WrittenRow, b: WrittenRow): number => a.row - b.row;
					expect((await writesTo(path, documentId, asSent)).toSorted(byRow)).toEqual(
						expected.filter((each) => each.documentId === documentId).toSorted(byRow),
					);
				}
			}),
			{ numRuns: 60 },
		);
	});

	it("is open again if the row was reopened after a failure", async () => {
		const reopen = { kind: "reopen", time: "2026-01-02T03:04:06.000Z" } as const;
		const failed = outcome(1, "failed", 1, "CODE_102");
		const statusOf = async (...outcomes: readonly JournalRecord[]): Promise<unknown> =>
			(await writesTo(await run([sent(0), sent(1)], outcomes), "doc-1", asSent)).map(({ status }) => status);
		expect(await statusOf(outcome(0), failed)).toEqual(["failed"]);
		expect(await statusOf(failed, reopen)).toEqual([undefined]);
		expect(await statusOf(failed, { ...reopen, codes: ["CODE_9"] })).toEqual(["failed"]);
		expect(await statusOf(failed, reopen, outcome(1))).toEqual(["updated"]);
	});

	it("is refused if any line of the run is damaged, as it may have been the document's", async () => {
		const path = await run([sent(0), sent(1), sent(2)]);
		const file = join(path, "sent.jsonl");
		const text = await readFile(file, "utf8");
		await writeFile(file, text.replace("doc-1", "doc-9"));
		await expect(writesTo(path, "doc-2", asSent)).rejects.toMatchObject({ kind: "corrupt" });
		// A write that was cut off at the end is none.
		await writeFile(file, text.slice(0, -5));
		expect(await writesTo(path, "doc-1", asSent)).toHaveLength(1);
		expect(await writesTo(path, "doc-2", asSent)).toEqual([]);
	});
});
