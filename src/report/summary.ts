import type { ExitCode } from "../errors.ts";
import type { Outcome, Totals, Work } from "../run/types.ts";
import { numberText, durationText, rowsText } from "../text/words.ts";
import type { Undone } from "./undo.ts";
import { isAllWell, type VerifyCounts } from "./verify.ts";

/** The `--json` line of a row: for every row that failed, and for `upload` every row. */
export function rowLine({ item, status, documentId, error, attempts }: Outcome<Work>): string {
	return JSON.stringify({
		type: "row",
		line: item.line,
		status,
		dataset_id: item.datasetId,
		document_id: documentId === "" ? null : documentId,
		file: item.fileName ?? null,
		error_code: error?.code ?? null,
		error: error?.text ?? null,
		attempts,
	});
}

/** The last line of a run's `--json` output. All counts are always there. */
export type Summary = {
	readonly type: "summary";
	readonly run: string | null;
	readonly rows: number;
	readonly updated: number;
	readonly unchanged: number;
	readonly uploaded: number;
	readonly removed: number;
	readonly failed: number;
	readonly invalid: number;
	readonly duplicate_skipped: number;
	readonly pending: number;
	readonly attempts: number;
	readonly seconds: number;
	/** whether updates were seen to arrive, and none that was read back is lost */
	readonly verified: boolean;
	/** what reading back found; null where nothing was */
	readonly verify: VerifyCounts | null;
	/** what an undo came to; null for what is none */
	readonly undone: Undone | null;
	/** documents that were changed, made or removed; in a dry run those that would be */
	readonly changes: number;
	/** whether all that was written can be taken back */
	readonly undoable: boolean;
	/** the command that takes it back */
	readonly undo: string | null;
	readonly exit_code: ExitCode;
	readonly resume: string | null;
};

/** Whether what a run wrote can be taken back. */
export type Undo = {
	/** the command that does it; undefined where nothing can be taken back */
	readonly command: string | undefined;
	/** rows that it would leave as they are: those of which nobody knows what they had before */
	readonly blind: number;
	/** and those whose documents are gone */
	readonly removed: number;
};

/** What a summary tells beside the counts. */
export type SummaryFacts = {
	/** whether updates were seen to arrive at this address: false where nothing could be read back */
	readonly verified?: boolean | undefined;
	/** what reading back found */
	readonly verify?: VerifyCounts | undefined;
	/** what an undo came to */
	readonly undone?: Undone | undefined;
	readonly run?: string | undefined;
	/** rows that were updated with what their documents had already */
	readonly same?: number | undefined;
	readonly undo?: Undo | undefined;
	/** the command that goes on */
	readonly resume?: string | undefined;
	/** documents that a dry run would change */
	readonly wouldChange?: number | undefined;
};

/** The summary object of a run. `seconds` is rounded to milliseconds. */
export function summaryOf(totals: Totals, seconds: number, exit: ExitCode, facts: SummaryFacts = {}): Summary {
	const { duplicateSkipped, attempts, ...counts } = totals;
	return {
		type: "summary",
		run: facts.run ?? null,
		...counts,
		duplicate_skipped: duplicateSkipped,
		attempts,
		seconds: Math.round(seconds * 1000) / 1000,
		verified: isVerified(totals, facts),
		verify: facts.verify ?? null,
		undone: facts.undone ?? null,
		changes: totals.updated + totals.uploaded + totals.removed - (facts.same ?? 0) + (facts.wouldChange ?? 0),
		undoable: facts.undo?.command !== undefined && facts.undo.blind + facts.undo.removed === 0,
		undo: facts.undo?.command ?? null,
		exit_code: exit,
		resume: facts.resume ?? null,
	};
}

function isVerified({ updated, uploaded }: Totals, { verified = false, verify }: SummaryFacts): boolean {
	if (verify === undefined) return verified && updated + uploaded > 0;
	return isAllWell(verify) && verify.equal + verify.normalised > 0;
}

/**
 * The counts of a run in words: `2,000 rows: 1,998 updated, 2 failed`. Counts of zero are left out.
 *
 * @param wouldChange how many of the pending rows a dry run would change
 */
export function countsText(totals: Totals, wouldChange = 0): string {
	const named: readonly (readonly [number, string])[] = [
		[totals.updated, "updated"],
		[totals.unchanged, "unchanged"],
		[totals.uploaded, "uploaded"],
		[totals.removed, "removed"],
		[totals.failed, "failed"],
		[totals.invalid, "invalid"],
		[totals.duplicateSkipped, "duplicates skipped"],
		[wouldChange, "would change"],
		[totals.pending - wouldChange, "pending"],
	];
	const parts = named.filter(([count]) => count > 0).map(([count, word]) => `${numberText(count)} ${word}`);
	return `${rowsText(totals.rows)}: ${parts.length === 0 ? "none was sent" : parts.join(", ")}`;
}

/** The summary for people: counts, time, rate. */
export function summaryText(totals: Totals, seconds: number, wouldChange = 0): string {
	const done = totals.updated + totals.unchanged + totals.uploaded + totals.removed + totals.failed + wouldChange;
	const rate = seconds > 0 && done > 0 ? `, ${numberText(Math.round((done / seconds) * 10) / 10)} a second` : "";
	return `${countsText(totals, wouldChange)} in ${durationText(seconds)}${rate}`;
}
