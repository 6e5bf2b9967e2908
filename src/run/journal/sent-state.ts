import { isWritten, RowBytes } from "./row-states.ts";
import type { ReadRecord } from "./records.ts";
import type { JournalState } from "./state.ts";

const SENT = 1;
const STORED = 2;

/** Its first write was recorded without what the document had before. */
const BLIND = 4;

/**
 * Which rows may have been sent. A row that is not among them certainly was not, as its record is durable before the
 * first byte of its first write; unless a repair lost records.
 */
export class SentState {
	readonly #rows = new RowBytes();
	readonly #most: number;
	#count = 0;
	#lost = 0;

	/** @param rows of the manifest */
	constructor(rows: number) {
		this.#most = rows;
	}

	/** Rows that may have been sent. */
	get count(): number {
		return this.#count;
	}

	/** Whether a row may have been written over something that is not known: it can't be undone. */
	lacksBeforeImage(row: number): boolean {
		return (this.#rows.get(row) & BLIND) !== 0;
	}

	/** Records that a repair could not keep: where there are any, a row without a record may have been sent, too. */
	get lost(): number {
		return this.#lost;
	}

	/** Whether a write of the row may have gone out. */
	wasSent(row: number): boolean {
		return this.#rows.get(row) !== 0;
	}

	/** Whether the row's file was stored. */
	wasStored(row: number): boolean {
		return (this.#rows.get(row) & STORED) !== 0;
	}

	/** @returns the rule that the record would break; it is then not applied */
	apply(record: ReadRecord): string | undefined {
		if (record.kind === "lost") {
			this.#lost += record.records;
			return undefined;
		}
		if (record.kind !== "sent" && record.kind !== "stored") return "an outcome among the records of what was sent";
		const { row } = record;
		if (row >= this.#most) return `a record of row ${row} of a manifest of ${this.#most} rows`;
		const before = this.#rows.get(row);
		// What was stored was sent: its record can only be missing where a repair lost it.
		if (record.kind === "stored" && before === 0 && this.#lost === 0) return `row ${row} was stored but never sent`;
		// Of several writes of a row the first tells: a later one may have seen what an earlier one wrote.
		const isBlind = before === 0 && record.kind === "sent" && record.write === "update" && record.before === undefined;
		if (before === 0) this.#count += 1;
		this.#rows.set(row, before | SENT | (isBlind ? BLIND : 0) | (record.kind === "stored" ? STORED : 0));
		return undefined;
	}

	/** The rows that may have been sent, in the order of the manifest. */
	*rows(): Generator<number> {
		for (let row = 0; row < this.#rows.length; row++) if (this.#rows.get(row) !== 0) yield row;
	}
}

/** Whether a row may have been sent and is not settled. */
export function isInDoubt(row: number, outcomes: JournalState, sent: SentState): boolean {
	return sent.wasSent(row) && outcomes.statusOf(row) === undefined;
}

/** How many rows may have been sent and are not settled. */
export function countInDoubt(outcomes: JournalState, sent: SentState): number {
	let count = 0;
	for (const row of sent.rows()) if (outcomes.statusOf(row) === undefined) count += 1;
	return count;
}

/** How many rows may have been written over something that is not known. */
export function countWithoutBeforeImage(outcomes: JournalState, sent: SentState): number {
	let count = 0;
	for (const row of sent.rows()) if (sent.lacksBeforeImage(row) && !outcomes.isUntouched(row)) count += 1;
	return count;
}

/** How many rows failed although their files were stored: these can be taken back. */
export function countStoredButFailed(outcomes: JournalState, sent: SentState): number {
	let count = 0;
	for (const row of sent.rows()) if (sent.wasStored(row) && outcomes.statusOf(row) === "failed") count += 1;
	return count;
}

/**
 * Rows that were written without a record of it. There are none unless records were lost: what was sent is durable
 * before it is sent, and its outcome is recorded after.
 */
export function* writtenWithoutSentRecord(outcomes: JournalState, sent: SentState): Generator<number> {
	const rows = outcomes.totals().rows;
	for (let row = 0; row < rows; row++) {
		if (isWritten(outcomes.statusOf(row)) && !sent.wasSent(row)) yield row;
	}
}
