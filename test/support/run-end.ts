import type { RunEnd } from "../../src/run-end.ts";

/** The end of a run of four seconds that went well, unless it is said otherwise. */
export function runEnd(more: Partial<RunEnd> = {}): RunEnd {
	const end: Omit<RunEnd, "unlisted"> = {
		command: "docs tag",
		args: ["tags.csv"],
		exit: 0,
		text: "3 rows: 3 updated in 4 s",
		summary: undefined,
		result: undefined,
		folder: undefined,
		started: new Date("2026-11-22T17:00:00Z"),
		ended: new Date("2026-11-22T17:00:04Z"),
		problems: [],
		problemCount: 0,
		failedRows: [],
		failedRowCount: 0,
		...more,
	};
	const unlisted = end.problemCount - end.problems.length + end.failedRowCount - end.failedRows.length;
	return { ...end, unlisted };
}

/** A row that failed at that line. */
export function failedRow(
	line: number,
	more: Partial<RunEnd["failedRows"][number]> = {},
): RunEnd["failedRows"][number] {
	const row = { file: "tags.csv", line, documentId: `doc${line}`, path: undefined };
	return { ...row, code: "102", text: "the document is not there", attempts: 1, ...more };
}

/** A problem of the manifest at that line. */
export function problem(line: number, text: string, code = "BAD_DATE"): RunEnd["problems"][number] {
	return { file: "tags.csv", line, column: 3, field: "publish_date", code, text };
}
