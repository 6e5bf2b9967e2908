import { namedDocument } from "../../text/show.ts";
import { Exit, type ExitCode } from "../../errors.ts";
import type { RunEnd } from "../../run-end.ts";

/** One thing that is wrong with a line of a manifest, or with the run as a whole. */
export type Finding = {
	/** as messages name it; undefined for the run as a whole */
	readonly file: string | undefined;
	/** from 1, as the column */
	readonly line: number | undefined;
	readonly column: number | undefined;
	readonly code: string;
	readonly text: string;
	/** what stays the same when lines move: the document or the field */
	readonly subject: string;
};

/** Codes that are no fault of the run itself: its rows say what failed. */
const ROWS_FAILED: ReadonlySet<ExitCode> = new Set([Exit.failedRows, Exit.manifest]);

/** What is wrong, the run itself first, then the problems of its manifest and its failed rows. Nothing for a good run. */
export function findingsOf({ exit, text, problems, failedRows }: RunEnd): readonly Finding[] {
	const rows = [
		...problems.map(({ file, line, column, field, code, text: what }): Finding => {
			return { file, line, column, code, text: what, subject: field ?? "" };
		}),
		...failedRows.map(({ file, line, code, text: what, path, name, documentId }): Finding => {
			const subject = path ?? documentId;
			const about = subject === "" ? what : `${path ?? namedDocument(name, documentId)}: ${what}`;
			return { file, line, column: undefined, code, text: about, subject };
		}),
	];
	if (exit === Exit.ok || (ROWS_FAILED.has(exit) && rows.length > 0)) return rows;
	const run = { file: undefined, line: undefined, column: undefined, code: `exit ${exit}`, text, subject: "" };
	return [run, ...rows];
}

/** How many findings are counted and not listed. */
export function unlistedOf({ problems, problemCount, failedRows, failedRowCount }: RunEnd): number {
	return problemCount - problems.length + failedRowCount - failedRows.length;
}
