import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Exit, type ExitCode } from "../../src/errors.ts";
import { exitOf } from "../../src/report/exit.ts";
import { countsText, type Ended, rowLine, summaryOf, summaryText } from "../../src/report/summary.ts";
import { durationText, rowsText } from "../../src/text/words.ts";
import { verifyText } from "../../src/report/verify.ts";
import type { Totals, VerifyCounts } from "../../src/run/types.ts";
import { totalsOf } from "../support/pages.ts";

const none = totalsOf({});

const verifiedTwo: VerifyCounts = {
	mode: "all",
	rows: 2,
	checked: 2,
	equal: 2,
	normalised: 0,
	lost: 0,
	changed_since: 0,
	unknown: 0,
	pending: 0,
};

function ended(counts: Partial<Totals>, more: Partial<Ended> = {}): Ended {
	return { totals: { ...none, ...counts }, seconds: 1, stop: undefined, ...more };
}

describe("the exit code of a run", () => {
	const stop = (exit: ExitCode) => ({ exit, text: "" });
	// Signals and faults of our own, what sent nothing, then 7, 4, 8, 6, 9, 1, 10, 74.
	const order = [129, 130, 143, 70, 2, 3, 7, 4, 8, 6, 9] as const;

	it("is 0 when every row reached its goal", () => {
		expect(exitOf(ended({ rows: 2, updated: 1, duplicateSkipped: 1 }))).toBe(Exit.ok);
	});

	it.each(order)("%d, the reason of a stop, is not hidden by failed rows or a full disk", (exit) => {
		expect(exitOf(ended({ rows: 3, failed: 1, invalid: 1, pending: 1 }, { stop: stop(exit) }), true)).toBe(exit);
	});

	it.each([
		[{ failed: 1 }, false, Exit.failedRows],
		[{ invalid: 1 }, false, Exit.failedRows],
		[{ failed: 1 }, true, Exit.failedRows],
		[{ updated: 1 }, true, Exit.output],
		[{ pending: 1 }, false, Exit.internal],
		[{ pending: 1, failed: 1 }, true, Exit.internal],
		[{ pending: -1, updated: 2 }, false, Exit.internal],
	])("for %j, output lost: %s, is %d", (counts, outputFailed, exit) => {
		expect(exitOf(ended(counts), outputFailed)).toBe(exit);
	});

	it.each([
		[{ pending: 2 }, { changes: 2, isDetailed: false }, false, Exit.ok],
		[{ pending: 2 }, { changes: 2, isDetailed: true }, false, Exit.differences],
		[{ pending: 2 }, { changes: 2, isDetailed: true }, true, Exit.differences],
		[{ pending: 2, failed: 1 }, { changes: 2, isDetailed: true }, true, Exit.failedRows],
		[{ unchanged: 2 }, { changes: 0, isDetailed: true }, false, Exit.ok],
		[{ unchanged: 2 }, { changes: 0, isDetailed: true }, true, Exit.output],
		[{ unchanged: 2 }, { changes: 0, isDetailed: true, undeclared: { documents: 1, fails: false } }, false, Exit.ok],
		[
			{ unchanged: 2 },
			{ changes: 0, isDetailed: false, undeclared: { documents: 1, fails: true } },
			false,
			Exit.differences,
		],
		[{ unchanged: 2 }, { changes: 0, isDetailed: false, undeclared: { documents: 0, fails: true } }, false, Exit.ok],
		[{ pending: 3 }, { changes: 2, isDetailed: true }, false, Exit.internal],
	])("of a dry run with %j and %j, output lost: %s, is %d", (counts, dry, outputFailed, exit) => {
		expect(exitOf(ended(counts, { dry }), outputFailed)).toBe(exit);
	});
});

describe("the exit code of a run that was verified", () => {
	it.each([
		[{ updated: 2 }, {}, false, Exit.ok, true],
		[{ updated: 2 }, { equal: 1, changed_since: 1 }, false, Exit.ok, true],
		[{ updated: 2 }, { equal: 0, changed_since: 2 }, false, Exit.ok, false],
		[{ updated: 2 }, { equal: 1, lost: 1 }, false, Exit.differences, false],
		[{ updated: 2 }, { equal: 1, lost: 1 }, true, Exit.differences, false],
		[{ updated: 2, failed: 1 }, { equal: 1, lost: 1 }, false, Exit.failedRows, false],
		[{ updated: 2 }, { equal: 0, lost: 1, unknown: 1 }, false, Exit.failedRows, false],
	])("of %j with the result %j, output lost: %s, is %d", (counts, found, outputFailed, exit, verified) => {
		const verify = { ...verifiedTwo, ...found };
		const end = ended(counts, { verified: true, verify: { counts: verify, again: "" } });
		expect(exitOf(end, outputFailed)).toBe(exit);
		expect(summaryOf(end, exit)).toMatchObject({ verified, verify });
	});

	it("is that of a stop, whatever was lost before", () => {
		const lost = { ...verifiedTwo, equal: 0, lost: 1, pending: 1 };
		const stop = { exit: Exit.interrupted, text: "" };
		expect(exitOf(ended({ updated: 2 }, { stop, verify: { counts: lost, again: "" } }))).toBe(130);
	});
});

describe("what a verification found, in words", () => {
	it.each([
		[{}, "Verified 2 rows: 2 equal, 0 normalised by the service, 0 lost, 0 changed since"],
		[
			{ checked: 1, equal: 1, pending: 1 },
			"Verified 1 row: 1 equal, 0 normalised by the service, 0 lost, 0 changed since, 1 not checked",
		],
		[
			{ mode: "sample", rows: 1_000 } as const,
			"Verified 2 of 1,000 rows: 2 equal, 0 normalised by the service, 0 lost, 0 changed since",
		],
	])("%j", (more, text) => {
		expect(verifyText({ ...verifiedTwo, ...more })).toBe(text);
	});
});

describe("the summary for scripts", () => {
	it("has every count always, and its counts add up", () => {
		fc.assert(
			fc.property(fc.array(fc.nat(1_000), { minLength: 12, maxLength: 12 }), (counts) => {
				const [updated = 0, unchanged = 0, uploaded = 0, replaced = 0, renamed = 0, removed = 0] = counts;
				const [parsed = 0, downloaded = 0, failed = 0, invalid = 0, skipped = 0, pending = 0] = counts.slice(6);
				const rows = counts.reduce((sum, count) => sum + count, 0);
				const written = { updated, unchanged, uploaded, replaced, renamed, removed };
				const outcomes = { ...written, parsed, downloaded, failed };
				const settled = { ...outcomes, invalid, duplicateSkipped: skipped, pending };
				const summary = summaryOf(ended({ rows, ...settled, attempts: 9 }, { seconds: 1.23456 }), Exit.limit);
				expect(summary).toEqual({
					type: "summary",
					run: null,
					rows,
					...outcomes,
					invalid,
					duplicate_skipped: skipped,
					pending,
					attempts: 9,
					superseded: 0,
					seconds: 1.235,
					verified: false,
					verify: null,
					changes: updated + uploaded + replaced + renamed + removed,
					undeclared: null,
					undone: null,
					undoable: false,
					undo: null,
					exit_code: 9,
					resume: null,
					stop: null,
					slow: [],
					adjusted: [],
					shard: null,
					limiter: null,
					found_rate: null,
					oldest_reading_seconds: null,
				});
			}),
		);
	});

	it("has one line for a row, with null for absent values", () => {
		const item = { index: 0, line: 2, datasetId: "set", documentId: "doc" };
		expect(rowLine({ item, status: "updated", documentId: "doc", attempts: 1 })).toBe(
			'{"type":"row","line":2,"status":"updated","dataset_id":"set","document_id":"doc","name":null,"file":null,' +
				'"error_code":null,"error":null,"attempts":1}',
		);
		const given = rowLine({ item: { ...item, name: "old" }, status: "updated", documentId: "doc", attempts: 1 });
		expect(given).toContain('"name":"old"');
		const shown = {
			item: { ...item, name: "old" },
			status: "updated",
			documentId: "doc",
			name: "new",
			attempts: 1,
		} as const;
		expect(rowLine(shown)).toContain('"name":"new"');
		const upload = { ...item, documentId: "", file: { path: "a\n.txt" } };
		const error = { code: "CODE_102", text: 'no "file"' };
		const line = rowLine({ item: upload, status: "failed", documentId: "", error, attempts: 3 });
		expect(line).not.toContain("\n");
		expect(JSON.parse(line)).toMatchObject({
			document_id: null,
			file: "a\n.txt",
			error_code: "CODE_102",
			error: 'no "file"',
			attempts: 3,
		});
	});
});

describe("the summary for people", () => {
	it.each([
		[{ rows: 0 }, "0 rows: none was sent"],
		[{ rows: 1, updated: 1 }, "1 row: 1 updated"],
		[{ rows: 2_000, updated: 1_998, failed: 2 }, "2,000 rows: 1,998 updated, 2 failed"],
		[
			{
				rows: 36,
				updated: 1,
				unchanged: 2,
				uploaded: 3,
				removed: 4,
				failed: 5,
				invalid: 6,
				duplicateSkipped: 7,
				pending: 8,
			},
			"36 rows: 1 updated, 2 unchanged, 3 uploaded, 4 removed, 5 failed, 6 invalid, 7 duplicates skipped, 8 pending",
		],
	])("names every count that is not zero: %j", (counts, text) => {
		expect(countsText({ ...none, ...counts })).toBe(text);
	});

	it("has time and rate, and no rate if nothing was done", () => {
		expect(
			summaryText({ totals: { ...none, rows: 2_000, updated: 1_999, failed: 1 }, seconds: 20, stop: undefined }),
		).toBe("2,000 rows: 1,999 updated, 1 failed in 20.0 s, 100 a second");
		expect(summaryText({ totals: { ...none, rows: 2, pending: 2 }, seconds: 1, stop: undefined })).toBe(
			"2 rows: 2 pending in 1.0 s",
		);
		expect(summaryText({ totals: { ...none, rows: 1, updated: 1 }, seconds: 0, stop: undefined })).toBe(
			"1 row: 1 updated in 0.0 s",
		);
		expect(rowsText(1_000_000)).toBe("1,000,000 rows");
	});

	it.each([
		[0, "0.0 s"],
		[0.44, "0.4 s"],
		[12.34, "12.3 s"],
		[59.94, "59.9 s"],
		[59.96, "1 min 00 s"],
		[185, "3 min 05 s"],
		[3_599.4, "59 min 59 s"],
		[3_599.6, "1 h 00 min"],
		[7_440, "2 h 04 min"],
		[360_000, "100 h 00 min"],
	])("prints %d seconds as %s", (seconds, text) => {
		expect(durationText(seconds)).toBe(text);
	});
});
