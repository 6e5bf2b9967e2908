import type { ExitCode } from "../errors.ts";
import { countSettled, type OutcomeCounts, type RowStatus } from "../outcomes.ts";

/** The members of a row that the engine needs; a manifest's row has them. Only the operation knows the rest. */
export type Work = {
	/** position in the manifest, from 0: the row's identity within a run */
	readonly index: number;
	/** line in the manifest, from 1 */
	readonly line: number;
	readonly datasetId: string;
	/** empty where there is none yet */
	readonly documentId: string;
	/** the document's name, where the source of the row says one; it may be out of date */
	readonly name?: string | undefined;
	/** `upload`: the file, by its absolute path */
	readonly file?: { readonly path: string } | undefined;
};

/** A document by its ids. */
export type WhichDocument = Pick<Work, "datasetId" | "documentId">;

/** The code of a row that a newer run makes needless: another run has touched its document since. */
export const SUPERSEDED = "SUPERSEDED";

/** The code of a row that was done, and whose document no longer has what was sent. */
export const CHANGED_SINCE = "CHANGED_SINCE";

/** The code of a row whose file was stored by the service's answer, and which its list does not show afterwards. */
export const NOT_LISTED = "NOT_LISTED";

/** Outcomes that a later look at the service may take back, by the code of the failure. */
export const TAKEN_BACK: ReadonlyMap<string, RowStatus> = new Map([
	[CHANGED_SINCE, "updated"],
	[NOT_LISTED, "uploaded"],
]);

export type RowError = { readonly code: string; readonly text: string };

/** The outcome of one row. Exactly one is recorded for each settled row. */
export type Outcome<Item extends Work = Work> = {
	readonly item: Item;
	readonly status: RowStatus;
	/** the document that was written, where it differs from the item's (uploads) */
	readonly documentId: string;
	/** the document's name, where the service showed it */
	readonly name?: string | undefined;
	/** the name under which an upload was stored */
	readonly storedName?: string | undefined;
	/** `replaced`: the document that it replaced */
	readonly replaces?: string | undefined;
	/** `updated`, and the document had it already */
	readonly isSame?: boolean | undefined;
	/** present when status is `failed` */
	readonly error?: RowError | undefined;
	/** `failed`, and certainly nothing of it was applied: the service refused all that was sent, or nothing was sent */
	readonly isUntouched?: boolean | undefined;
	/** attempts of this row, the first included */
	readonly attempts: number;
};

/** The reason why a run ended before its last row. The rows that were not settled are pending. */
export type Stop = {
	readonly exit: ExitCode;
	readonly text: string;
	readonly hint?: string | undefined;
	/** whether the rows themselves are wrong, so that a resumed run would send the same again */
	readonly areRowsWrong?: boolean;
	/** whether the user's own time limit ended the run: for a nightly job that is no failure */
	readonly isOutOfTime?: boolean;
};

/** Runs one request when its time has come; outside a run of rows it is retried, too. */
export type Request = (<Answer>(request: () => Promise<Answer>) => Promise<Answer>) & {
	/** the same also while the run ends, for what must not be left half done; absent outside of a run */
	readonly finishing?: Request;
};

/** Counts of a run. `rows` is the sum of all others but `attempts`. */
export type Totals = OutcomeCounts & {
	readonly rows: number;
	readonly invalid: number;
	readonly duplicateSkipped: number;
	readonly pending: number;
	/** attempts over all settled rows */
	readonly attempts: number;
};

/** The counts of the check of a manifest: all rows, and those that no run sends. */
export type ManifestCounts = Pick<Totals, "rows" | "invalid" | "duplicateSkipped">;

/** The totals of a manifest whose rows have these outcomes. */
export function totalsOf(manifest: ManifestCounts, counts: OutcomeCounts, attempts: number): Totals {
	const { rows, invalid, duplicateSkipped } = manifest;
	const pending = rows - countSettled(counts) - invalid - duplicateSkipped;
	return { rows, ...counts, invalid, duplicateSkipped, pending, attempts };
}

/** Stores outcomes. All totals come from it, so that all outputs agree. */
export type Journal<Item extends Work = Work> = {
	/**
	 * Resolves once the outcome is counted, and survives a loss of power.
	 *
	 * @throws when a row is recorded twice, or when the storage fails
	 */
	record(outcome: Outcome<Item>): Promise<void>;
	totals(): Totals;
	/** of the failed rows, those whose documents a newer run has touched; none unless given */
	readonly superseded?: number;
};

/** Time and chance, injected so that no test waits for a clock. */
export type Clock = {
	/** milliseconds on a monotonic clock */
	now(): number;
	/** resolves after that time, or at once when the signal aborts */
	sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
	/** from 0 up to but not including 1 */
	random(): number;
};

/** The rows of a run that are read back. */
export type VerifyMode = "sample" | "all";

/** The counts of a verification in the summary. `checked` is the sum of the five counts that follow it. */
export type VerifyCounts = {
	readonly mode: VerifyMode;
	/** rows that the run wrote */
	readonly rows: number;
	readonly checked: number;
	readonly equal: number;
	readonly normalised: number;
	readonly lost: number;
	readonly changed_since: number;
	/** could not be checked */
	readonly unknown: number;
	/** were not checked, because the verification was stopped */
	readonly pending: number;
};
