import { noOutcomes, countSettled } from "../../outcomes.ts";
import type { Journal, Outcome, Recorded, Totals, Work } from "../types.ts";
import { RowNumbers } from "./row-states.ts";

/** The counts of the check of a manifest: all rows, and those that no run sends. */
export type ManifestCounts = { readonly rows: number; readonly invalid: number; readonly duplicateSkipped: number };

/** The totals of a manifest of which no row was sent. */
export function unsentTotals(counts: ManifestCounts): Totals {
	return new MemoryJournal(counts).totals();
}

/** A journal in memory. It holds four bytes a row, so that it detects a row that is settled twice. */
export class MemoryJournal<Item extends Work> implements Journal<Item> {
	readonly #manifest: ManifestCounts;
	readonly #onOutcome: ((outcome: Outcome<Item>) => Promise<void> | void) | undefined;
	readonly #counts = noOutcomes();
	readonly #settled = new RowNumbers();
	#attempts = 0;

	/** @param onOutcome called with each outcome once, after it is counted; its row stays in flight until it resolves */
	constructor(manifest: ManifestCounts, onOutcome?: (outcome: Outcome<Item>) => Promise<void> | void) {
		this.#manifest = manifest;
		this.#onOutcome = onOutcome;
	}

	record(outcome: Outcome<Item>): Recorded {
		const { index, line } = outcome.item;
		if (this.#settled.get(index) === 1) throw new Error(`the row of line ${line} was settled twice`);
		this.#settled.set(index, 1);
		this.#counts[outcome.status] += 1;
		this.#attempts += outcome.attempts;
		const settled = Promise.resolve(this.#onOutcome?.(outcome));
		return { written: settled, settled };
	}

	totals(): Totals {
		const { rows, invalid, duplicateSkipped } = this.#manifest;
		const pending = rows - countSettled(this.#counts) - invalid - duplicateSkipped;
		return { rows, ...this.#counts, invalid, duplicateSkipped, pending, attempts: this.#attempts };
	}
}
