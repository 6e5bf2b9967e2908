import { isWritten } from "../../outcomes.ts";
import { SUPERSEDED, TAKEN_BACK, type Totals, totalsOf } from "../types.ts";
import type { Counted } from "./record-line.ts";
import {
	allRowsOf,
	compareHeader,
	COUNTED,
	type EndRecord,
	type HeaderRecord,
	type ReopenRecord,
	type SentRecord,
} from "./records.ts";
import { NO_BEFORE_IMAGE, RowStates, SENT, STORED, UNTOUCHED } from "./row-states.ts";

const NO_ROWS = { rows: 0, invalid: 0, duplicateSkipped: 0 };

/**
 * The state of a run after each record of its journal. Only records change it, so a journal that is read again gives the
 * same counts as the process that wrote it.
 *
 * After each record, `rows` is the sum of all outcomes, `invalid`, `duplicateSkipped` and `pending`.
 */
export class JournalState extends RowStates {
	readonly #headers: HeaderRecord[] = [];
	#attempts = 0;
	#same = 0;
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

	/** Number of records that a repair could not keep. Unless it is 0, a row without a record may have been sent too. */
	get lost(): number {
		return this.#lost;
	}

	/** Number of updated rows whose documents already had the metadata. */
	get noOpUpdates(): number {
		return this.#same;
	}

	/** Of the failed rows, those whose documents a newer run had touched. */
	get superseded(): number {
		return this.failedWith(SUPERSEDED);
	}

	/** Whether a row failed and certainly nothing of it was applied. */
	isUntouched(row: number): boolean {
		return this.has(row, UNTOUCHED);
	}

	/** Whether a write of the row may have been sent. */
	wasSent(row: number): boolean {
		return this.has(row, SENT);
	}

	/** Whether any row may have been sent. A record that a repair lost counts as one. */
	get wrote(): boolean {
		return this.sent + this.#lost > 0;
	}

	/** The number of rows that may have been sent and are not settled. */
	countInDoubt(): number {
		return this.count((row) => this.wasSent(row) && this.statusOf(row) === undefined);
	}

	/** The number of rows that can't be undone, as they may have been written while their before-image was unknown. */
	countWithoutBeforeImage(): number {
		return this.count((row) => this.has(row, NO_BEFORE_IMAGE) && !this.isUntouched(row));
	}

	/** The number of rows that failed after their files were stored. An undo removes these files. */
	countStoredButFailed(): number {
		return this.count((row) => this.has(row, STORED) && this.statusOf(row) === "failed");
	}

	/** The number of rows that were written although no record says that they were sent: a repair lost those records. */
	countWrittenUnsent(): number {
		return this.count((row) => isWritten(this.statusOf(row)) && !this.wasSent(row));
	}

	/** Counts of the whole run, over all executions. */
	totals(): Totals {
		return totalsOf(this.header?.manifest ?? NO_ROWS, this.counts(), this.#attempts);
	}

	/** @returns the rule that the record breaks, and then it is not applied */
	apply(record: Counted): string | undefined {
		if (record.kind === "header") return this.#begin(record);
		if (record.kind === "other format") return `a header of format ${record.version} among records of another one`;
		const [header] = this.#headers;
		if (header === undefined) return "a record before the first header";
		switch (record.kind) {
			case "outcome":
				return this.#settle(record, header);
			case "sent":
				return this.#send(record, header);
			case "stored":
				// A file is sent before it is stored. A repair may have lost the record of that.
				if (!this.wasSent(record.row) && this.#lost === 0) return `row ${record.row} was stored but never sent`;
				return this.#note(record.row, SENT | STORED, header);
			case "end":
				return this.#finish(record);
			case "reopen":
				return this.#reopen(record);
			case "lost":
				this.#lost += record.records;
				return undefined;
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

	#send(
		{ row, write, before }: Pick<SentRecord, "row" | "write" | "before">,
		header: HeaderRecord,
	): string | undefined {
		// Only the first write of a row counts: the before-image of a later one may be what an earlier one wrote.
		const isBlind = write === "update" && before === undefined && !this.wasSent(row);
		return this.#note(row, isBlind ? SENT | NO_BEFORE_IMAGE : SENT, header);
	}

	#note(row: number, bits: number, { manifest }: HeaderRecord): string | undefined {
		if (row >= allRowsOf(manifest)) return `a record of row ${row} of a manifest of ${allRowsOf(manifest)} rows`;
		this.add(row, bits);
		return undefined;
	}

	#settle(record: Extract<Counted, { kind: "outcome" }>, { manifest }: HeaderRecord): string | undefined {
		const { row, line, attempts, status } = record;
		if (this.#hasEnded()) return `an outcome of the row of line ${line} after the end of the execution`;
		const all = allRowsOf(manifest);
		if (row >= all) return `an outcome of row ${row} of a manifest of ${all} rows`;
		if (isWritten(status) && !this.wasSent(row) && this.#lost === 0) {
			return `the row of line ${line} was written, and no record says that it was sent`;
		}
		const before = this.statusOf(row);
		// A failed row can only succeed after it was reopened. A repair may have lost the record of that.
		const wasReopened = this.#lost > 0 && before === "failed" && status !== "failed";
		const takenBack = record.status === "failed" ? TAKEN_BACK.get(record.error.code) : undefined;
		const isChanged = takenBack !== undefined && takenBack === before;
		if (before !== undefined && !wasReopened && !isChanged) return `a second outcome of the row of line ${line}`;
		if (before === undefined && this.settled >= manifest.rows - manifest.invalid - manifest.duplicateSkipped) {
			return "more outcomes than the manifest has valid rows";
		}
		this.remove(row, UNTOUCHED);
		if (record.status === "failed") {
			this.setFailed(row, record.error.code);
			if (record.isUntouched === true) this.add(row, UNTOUCHED);
		} else {
			this.setSucceeded(row, record.status);
			if (record.isSame === true) this.#same += 1;
		}
		this.#attempts += attempts;
		this.#end = undefined;
		return undefined;
	}

	#finish(record: EndRecord): string | undefined {
		if (this.#hasEnded()) return "a second end of an execution";
		const totals = this.totals();
		// The ends of a repaired journal still count the records that were lost.
		const other = this.#lost > 0 ? undefined : COUNTED.find((name) => record.counts[name] !== totals[name]);
		if (other !== undefined) {
			return `an end that counts ${record.counts[other]} as ${other}, after records that give ${totals[other]}`;
		}
		this.#end = record;
		return undefined;
	}

	#reopen({ codes }: ReopenRecord): string | undefined {
		if (this.#hasEnded()) return "rows reopened after the end of the execution";
		this.#end = undefined;
		this.reopen(codes === undefined ? undefined : new Set(codes));
		return undefined;
	}

	/** Whether only a header may follow. A repair may have lost that header, so then any record may. */
	#hasEnded(): boolean {
		return this.#end !== undefined && this.#lost === 0;
	}
}
