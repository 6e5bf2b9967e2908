import { CHANGED_SINCE, type RowStatus, SUPERSEDED, type Totals } from "../types.ts";
import {
	allRowsOf,
	compareHeader,
	type EndRecord,
	type HeaderRecord,
	type LostRecord,
	type ReadRecord,
	type ReopenRecord,
	type RowOutcome,
} from "./records.ts";
import { RowStates } from "./row-states.ts";

/** The totals of a run without rows. */
export const NO_TOTALS: Totals = {
	rows: 0,
	updated: 0,
	unchanged: 0,
	uploaded: 0,
	removed: 0,
	failed: 0,
	invalid: 0,
	duplicateSkipped: 0,
	pending: 0,
	attempts: 0,
};

const BEFORE_HEADER = "a record before the first header";

/**
 * The state of a run after each record of its journal. Only records change it, so a journal that is read again gives the
 * same counts as the process that wrote it.
 *
 * After each record, `rows = updated + unchanged + uploaded + removed + failed + invalid + duplicateSkipped + pending`.
 */
export class JournalState {
	readonly #headers: HeaderRecord[] = [];
	readonly #rows = new RowStates();
	readonly #counts: Record<RowStatus, number> = { updated: 0, unchanged: 0, uploaded: 0, removed: 0, failed: 0 };
	/** the sum of `#counts` */
	#settled = 0;
	#attempts = 0;
	#same = 0;
	#superseded = 0;
	#lost = 0;
	#end: EndRecord | undefined;

	/** The first header, which identifies the run; undefined before it. */
	get header(): HeaderRecord | undefined {
		return this.#headers[0];
	}

	/** One for each execution, in order. */
	get headers(): readonly HeaderRecord[] {
		return this.#headers;
	}

	/** How the last execution ended; undefined while it goes on, and where it was killed. */
	get end(): EndRecord | undefined {
		return this.#end;
	}

	/** Number of records that a repair could not keep. */
	get lost(): number {
		return this.#lost;
	}

	/** Number of updated rows whose documents already had the metadata. */
	get noOpUpdates(): number {
		return this.#same;
	}

	/** Of the failed rows, those whose documents a newer run had touched. */
	get superseded(): number {
		return this.#superseded;
	}

	/** The codes of all failed rows. */
	failedCodes(): readonly string[] {
		return this.#rows.failedCodes();
	}

	/** Rows of the manifest, those of other shards included; 0 before the first header. */
	get allRows(): number {
		return this.header === undefined ? 0 : allRowsOf(this.header.manifest);
	}

	/** undefined for a row that is not settled */
	statusOf(row: number): RowStatus | undefined {
		return this.#rows.statusOf(row);
	}

	/** The code with which a row failed; undefined for any other row. */
	codeOf(row: number): string | undefined {
		return this.#rows.codeOf(row);
	}

	/** Whether a row failed and certainly nothing of it was applied. */
	isUntouched(row: number): boolean {
		return this.#rows.isUntouched(row);
	}

	/** The number of rows that failed with that code. */
	failedWith(code: string): number {
		return this.#rows.failedWith(code);
	}

	/** Counts of the whole run, over all executions. */
	totals(): Totals {
		if (this.header === undefined) return NO_TOTALS;
		const { rows, invalid, duplicateSkipped } = this.header.manifest;
		const pending = rows - invalid - duplicateSkipped - this.#settled;
		return { rows, ...this.#counts, invalid, duplicateSkipped, pending, attempts: this.#attempts };
	}

	/** @returns the rule that the record breaks, and then it is not applied */
	apply(record: ReadRecord): string | undefined {
		if (record.kind === "header") return this.#begin(record);
		if (record.kind === "newer") return `a header of format ${record.version} among records of an older one`;
		if (this.header === undefined) return BEFORE_HEADER;
		switch (record.kind) {
			case "outcome":
				return this.settle(record);
			case "end":
				return this.#finish(record);
			case "reopen":
				return this.#reopen(record);
			case "lost":
				return this.#lose(record);
			case "sent":
			case "stored":
			case "execution":
				return "a record of what was sent among the outcomes";
		}
	}

	#begin(header: HeaderRecord): string | undefined {
		const [first] = this.#headers;
		if (first !== undefined) {
			if (header.run !== first.run) return `the header of another run, ${header.run}`;
			const difference = compareHeader(first, header);
			if (difference !== undefined) return difference;
		}
		this.#headers.push(header);
		this.#end = undefined;
		return undefined;
	}

	/** The same for the outcome of a row, of which the counts need less than its record has. */
	settle(record: RowOutcome): string | undefined {
		const [header] = this.#headers;
		if (header === undefined) return BEFORE_HEADER;
		const { manifest } = header;
		const { row, line, attempts } = record;
		if (this.#hasEnded()) return `an outcome of the row of line ${line} after the end of the execution`;
		const all = allRowsOf(manifest);
		if (row >= all) return `an outcome of row ${row} of a manifest of ${all} rows`;
		const before = this.#rows.statusOf(row);
		// A failed row can only succeed after it was reopened. A repair may have lost the record of that.
		const wasReopened = this.#lost > 0 && before === "failed" && record.status !== "failed";
		const isChanged = record.status === "failed" && record.error.code === CHANGED_SINCE && before === "updated";
		if (before !== undefined && !wasReopened && !isChanged) return `a second outcome of the row of line ${line}`;
		if (before !== undefined) this.#unsettle(before, 1);
		if (this.#settled >= manifest.rows - manifest.invalid - manifest.duplicateSkipped) {
			return "more outcomes than the manifest has valid rows";
		}
		if (record.status === "failed") this.#rows.setFailed(row, record.error.code, record.isUntouched === true);
		else this.#rows.setSucceeded(row, record.status);
		this.#counts[record.status] += 1;
		this.#settled += 1;
		this.#attempts += attempts;
		if (record.isSame === true) this.#same += 1;
		if (record.status === "failed" && record.error.code === SUPERSEDED) this.#superseded += 1;
		this.#end = undefined;
		return undefined;
	}

	#finish(record: EndRecord): string | undefined {
		if (this.#hasEnded()) return "a second end of an execution";
		const totals = this.totals();
		// The ends of a repaired journal still count the records that were lost.
		const other = this.#lost > 0 ? undefined : countsOf(totals).find(([name, count]) => record.counts[name] !== count);
		if (other !== undefined) {
			const [name, count] = other;
			return `an end that counts ${record.counts[name]} as ${name}, after records that give ${count}`;
		}
		this.#end = record;
		return undefined;
	}

	#reopen({ codes }: ReopenRecord): string | undefined {
		if (this.#hasEnded()) return "rows reopened after the end of the execution";
		this.#end = undefined;
		this.#unsettle("failed", this.#rows.reopen(codes === undefined ? undefined : new Set(codes)));
		if (codes === undefined || codes.includes(SUPERSEDED)) this.#superseded = 0;
		return undefined;
	}

	#lose({ records }: LostRecord): undefined {
		this.#lost += records;
	}

	/** Whether only a header may follow. A repair may have lost that header, so then any record may. */
	#hasEnded(): boolean {
		return this.#end !== undefined && this.#lost === 0;
	}

	#unsettle(status: RowStatus, rows: number): void {
		this.#counts[status] -= rows;
		this.#settled -= rows;
	}
}

function countsOf(totals: Totals): readonly (readonly [keyof Totals, number])[] {
	const { rows, updated, unchanged, uploaded, removed, failed } = totals;
	return [
		["rows", rows],
		["updated", updated],
		["unchanged", unchanged],
		["uploaded", uploaded],
		["removed", removed],
		["failed", failed],
		["invalid", totals.invalid],
		["duplicateSkipped", totals.duplicateSkipped],
		["pending", totals.pending],
		["attempts", totals.attempts],
	];
}
