import type { Journal, Outcome, RowStatus, Totals, Work } from "../types.ts";

/** Rows of the manifest that never reach the engine, and all rows together. */
export type ManifestCounts = { readonly rows: number; readonly invalid: number; readonly duplicateSkipped: number };

/** Rows by which the table of settled rows grows. */
const GROWTH = 65_536;

/**
 * A journal in memory: one byte a row, so that a row that is settled twice is noticed.
 *
 * `onOutcome` sees each outcome once, after it counts; the row's place in flight is held until it resolves.
 */
export class MemoryJournal<Item extends Work> implements Journal<Item> {
	readonly #intake: ManifestCounts;
	readonly #onOutcome: ((outcome: Outcome<Item>) => Promise<void> | void) | undefined;
	readonly #counts: Record<RowStatus, number> = { updated: 0, unchanged: 0, uploaded: 0, removed: 0, failed: 0 };
	#settled = new Uint8Array(GROWTH);
	#attempts = 0;

	constructor(intake: ManifestCounts, onOutcome?: (outcome: Outcome<Item>) => Promise<void> | void) {
		this.#intake = intake;
		this.#onOutcome = onOutcome;
	}

	record(outcome: Outcome<Item>): Promise<void> | void {
		const { index, line } = outcome.item;
		if (index >= this.#settled.length) this.#grow(index);
		if (this.#settled[index] === 1) throw new Error(`the row of line ${line} was settled twice`);
		this.#settled[index] = 1;
		this.#counts[outcome.status] += 1;
		this.#attempts += outcome.attempts;
		return this.#onOutcome?.(outcome);
	}

	totals(): Totals {
		const { rows, invalid, duplicateSkipped } = this.#intake;
		const { updated, unchanged, uploaded, removed, failed } = this.#counts;
		const settled = updated + unchanged + uploaded + removed + failed;
		return {
			rows,
			updated,
			unchanged,
			uploaded,
			removed,
			failed,
			invalid,
			duplicateSkipped,
			pending: rows - settled - invalid - duplicateSkipped,
			attempts: this.#attempts,
		};
	}

	#grow(index: number): void {
		const larger = new Uint8Array(Math.max(index + GROWTH, this.#settled.length * 2));
		larger.set(this.#settled);
		this.#settled = larger;
	}
}
