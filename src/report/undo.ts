import { countWritten } from "../outcomes.ts";
import type { Totals } from "../run/types.ts";
import type { Undo } from "./summary.ts";
import { numberText, rowsText } from "../text/words.ts";

/** A sentence for the end of a run; undefined where nothing was written, or only removals were. */
export function undoText({ command, blind, removed }: Undo): string | undefined {
	const left = blind + removed;
	if (command !== undefined) {
		return `Undo it with: ${command}${left === 0 ? "" : ` (except for ${rowsText(left)} that can't be undone)`}`;
	}
	return blind === 0
		? undefined
		: "This run can't be undone: the previous values of its documents are not known, or can't be sent back.";
}

/** `Undo of RUN: 98 reversed, 2 kept because they were changed since, 0 failed.` */
export function undoneText(name: string, { reversed, kept, failed, unchanged, impossible }: Undone): string {
	const parts = [
		`${numberText(reversed)} reversed`,
		`${numberText(kept)} kept because ${kept === 1 ? "it was" : "they were"} changed since`,
		`${numberText(failed)} failed`,
	];
	if (unchanged > 0) parts.push(`${numberText(unchanged)} already had the previous values`);
	if (impossible > 0) parts.push(`${numberText(impossible)} can't be undone`);
	return `${name.charAt(0).toUpperCase()}${name.slice(1)}: ${parts.join(", ")}.`;
}

export type Undone = Readonly<ReturnType<typeof undoneOf>>;

/** The rows of an undo, by outcome. @param conflicts rows that failed because their documents were changed since */
export function undoneOf(totals: Totals, conflicts: number) {
	return {
		/** documents that were restored, or uploaded documents that were removed */
		reversed: countWritten(totals),
		/** left alone, because they were changed since */
		kept: conflicts,
		failed: totals.failed - conflicts,
		/** had its previous values already */
		unchanged: totals.unchanged,
		/** their previous values are not known, or the documents were removed */
		impossible: totals.invalid,
	};
}
