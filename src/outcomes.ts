/** The outcomes of a row that succeeded, in the order in which the summary names them. */
export const SUCCESSES = [
	"updated",
	"unchanged",
	"uploaded",
	"replaced",
	"renamed",
	"removed",
	"parsed",
	"downloaded",
] as const;

export type Success = (typeof SUCCESSES)[number];

/** The outcome of a row. A row without an outcome that the manifest's check did not leave out is pending. */
export type RowStatus = Success | "failed";

export type OutcomeCounts = Readonly<Record<RowStatus, number>>;

export const OUTCOMES: readonly RowStatus[] = [...SUCCESSES, "failed"];

/** The outcomes of rows that changed what a dataset holds. Parsing makes chunks of it, and a download only reads. */
const WRITTEN: ReadonlySet<RowStatus> = new Set(["updated", "uploaded", "replaced", "renamed", "removed"]);

/** Whether the row of an outcome was written. */
export function isWritten(status: RowStatus | undefined): boolean {
	return status !== undefined && WRITTEN.has(status);
}

/** Counts of zero, to be added to. */
export function noOutcomes(): Record<RowStatus, number> {
	return {
		updated: 0,
		unchanged: 0,
		uploaded: 0,
		replaced: 0,
		renamed: 0,
		removed: 0,
		parsed: 0,
		downloaded: 0,
		failed: 0,
	};
}

/** Rows that reached their goal. */
export function countDone(counts: OutcomeCounts): number {
	return sumOf(SUCCESSES, counts);
}

/** Rows that have an outcome. */
export function countSettled(counts: OutcomeCounts): number {
	return sumOf(OUTCOMES, counts);
}

/** Rows that changed what a dataset holds. */
export function countWritten(counts: OutcomeCounts): number {
	return sumOf([...WRITTEN], counts);
}

function sumOf(statuses: readonly RowStatus[], counts: OutcomeCounts): number {
	return statuses.reduce((sum, status) => sum + counts[status], 0);
}
