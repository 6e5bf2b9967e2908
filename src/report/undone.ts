import type { Totals } from "../run/types.ts";

/** What an undo came to, row by row. */
export type Undone = {
	/** documents that have again what they had, or that are gone again */
	readonly reversed: number;
	/** left alone, as somebody changed them since */
	readonly kept: number;
	readonly failed: number;
	/** already as before */
	readonly unchanged: number;
	/** nobody knows what was there before, or it is gone */
	readonly impossible: number;
};

/** @param conflicts rows that failed because somebody changed their documents since */
export function undoneOf({ updated, removed, unchanged, failed, invalid }: Totals, conflicts: number): Undone {
	return { reversed: updated + removed, kept: conflicts, failed: failed - conflicts, unchanged, impossible: invalid };
}
