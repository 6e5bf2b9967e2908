import type { Totals } from "../run/types.ts";
import { type Undo } from "./summary.ts";
import { numberText, rowsText } from "../text/words.ts";

/**
 * @param blind rows that were written over something that is not known
 * @param same rows whose documents had already what was written: there is nothing of them to take back
 * @param stored rows that failed although their files were stored, as under another name than asked for
 */
export function undoOf(totals: Totals, blind: number, same: number, stored: number, command: string): Undo {
	const reversible = totals.updated + totals.uploaded + stored - blind - same;
	return { command: reversible > 0 ? command : undefined, blind, removed: totals.removed };
}

/** A sentence for the end of a run; undefined where there is nothing to take back, or it is plain that nothing can be. */
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
		`${numberText(kept)} kept because they were changed since`,
		`${numberText(failed)} failed`,
	];
	if (unchanged > 0) parts.push(`${numberText(unchanged)} already had the previous values`);
	if (impossible > 0) parts.push(`${numberText(impossible)} can't be undone`);
	return `${name.charAt(0).toUpperCase()}${name.slice(1)}: ${parts.join(", ")}.`;
}

/** What an undo came to, row by row. */
export type Undone = {
	/** documents that have again what they had, or that are gone again */
	readonly reversed: number;
	/** left alone, as somebody changed them since */
	readonly kept: number;
	readonly failed: number;
	/** had its previous values already */
	readonly unchanged: number;
	/** nobody knows what was there before, or it is gone */
	readonly impossible: number;
};

/** @param conflicts rows that failed because somebody changed their documents since */
export function undoneOf({ updated, removed, unchanged, failed, invalid }: Totals, conflicts: number): Undone {
	return { reversed: updated + removed, kept: conflicts, failed: failed - conflicts, unchanged, impossible: invalid };
}
