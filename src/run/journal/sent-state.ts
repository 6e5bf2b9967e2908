import type { ReadRecord } from "./records.ts";
import { isWritten, RowBytes } from "./row-states.ts";
import type { JournalState } from "./state.ts";

/** Bits of a row's byte. */
const SENT = 1;
const STORED = 2;

/** the first write of the row was recorded without a before-image */
const NO_BEFORE_IMAGE = 4;

/**
 * Which rows may have been sent. Any other row certainly was not, as its record is durable before the first byte of its
 * first write is sent. The exception is a file that a repair has written, which may lack records.
 */
export class SentState {
	readonly #rows = new RowBytes();
	readonly #manifestRows: number;
	#count = 0;
	#lost = 0;

	/** @param manifestRows number of rows of the manifest */
	constructor(manifestRows: number) {
		this.#manifestRows = manifestRows;
	}

	/** Number of rows that may have been sent. */
	get count(): number {
		return this.#count;
	}

	/** Number of records that a repair could not keep. Unless it is 0, a row without a record may have been sent too. */
	get lost(): number {
		return this.#lost;
	}

	/** Whether a write of the row may have been sent. */
	wasSent(row: number): boolean {
		return this.#rows.get(row) !== 0;
	}

	/** Whether the row's file was stored. */
	wasStored(row: number): boolean {
		return (this.#rows.get(row) & STORED) !== 0;
	}

	/** Whether a row may have been written while its before-image was not known, so that it can't be undone. */
	lacksBeforeImage(row: number): boolean {
		return (this.#rows.get(row) & NO_BEFORE_IMAGE) !== 0;
	}

	/** The rows that may have been sent, in the order of the manifest. */
	*rows(): Generator<number> {
		for (let row = 0; row < this.#rows.length; row++) if (this.#rows.get(row) !== 0) yield row;
	}

	/** @returns the rule that the record breaks, and then it is not applied */
	apply(record: ReadRecord): string | undefined {
		if (record.kind === "lost") {
			this.#lost += record.records;
			return undefined;
		}
		if (record.kind === "execution") return undefined;
		if (record.kind !== "sent" && record.kind !== "stored") return "an outcome among the records of what was sent";
		const { row } = record;
		if (record.kind === "sent") return this.sent(row, record.write === "update" && record.before === undefined);
		// A file is sent before it is stored. A repair may have lost the record of that.
		if (row < this.#manifestRows && !this.wasSent(row) && this.#lost === 0)
			return `row ${row} was stored but never sent`;
		return this.#set(row, STORED);
	}

	/**
	 * The same for the record of a write, of which this needs less than the record has.
	 *
	 * @param isBlind whether it is an update without a before-image
	 */
	sent(row: number, isBlind: boolean): string | undefined {
		// Only the first write of a row counts: the before-image of a later one may be what an earlier one wrote.
		return this.#set(row, isBlind && !this.wasSent(row) ? NO_BEFORE_IMAGE : 0);
	}

	#set(row: number, bits: number): string | undefined {
		if (row >= this.#manifestRows) return `a record of row ${row} of a manifest of ${this.#manifestRows} rows`;
		const known = this.#rows.get(row);
		if (known === 0) this.#count += 1;
		this.#rows.set(row, known | SENT | bits);
		return undefined;
	}
}

/** Whether a row is in doubt: it may have been sent, and it is not settled. */
export function isInDoubt(row: number, outcomes: JournalState, sent: SentState): boolean {
	return sent.wasSent(row) && outcomes.statusOf(row) === undefined;
}

export function countInDoubt(outcomes: JournalState, sent: SentState): number {
	return countRows(sent, (row) => outcomes.statusOf(row) === undefined);
}

/** The number of rows that can't be undone, as they may have been written while their before-image was unknown. */
export function countWithoutBeforeImage(outcomes: JournalState, sent: SentState): number {
	return countRows(sent, (row) => sent.lacksBeforeImage(row) && !outcomes.isUntouched(row));
}

/** The number of rows that failed after their files were stored. An undo removes these files. */
export function countStoredButFailed(outcomes: JournalState, sent: SentState): number {
	return countRows(sent, (row) => sent.wasStored(row) && outcomes.statusOf(row) === "failed");
}

function countRows(sent: SentState, isCounted: (row: number) => boolean): number {
	let count = 0;
	for (const row of sent.rows()) if (isCounted(row)) count += 1;
	return count;
}

/**
 * Rows with the outcome of a write but without a record of it in `sent.jsonl`. There are none unless records were lost,
 * as that record is durable before the write.
 */
export function* writtenWithoutSentRecord(outcomes: JournalState, sent: SentState): Generator<number> {
	const { allRows } = outcomes;
	for (let row = 0; row < allRows; row++) {
		if (isWritten(outcomes.statusOf(row)) && !sent.wasSent(row)) yield row;
	}
}
