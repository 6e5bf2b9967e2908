import type { Totals } from "../run/types.ts";
import { rowsText, type Undo } from "./summary.ts";

/**
 * @param blind rows that were written over something that is not known
 * @param same rows whose documents had already what was written: there is nothing of them to take back
 */
export function undoOf(totals: Totals, blind: number, same: number, command: string): Undo {
	const reversible = totals.updated + totals.uploaded - blind - same;
	return { command: reversible > 0 ? command : undefined, blind, removed: totals.removed };
}

/** A sentence for the end of a run; undefined where there is nothing to take back, or it is plain that nothing can be. */
export function undoText({ command, blind, removed }: Undo): string | undefined {
	const left = blind + removed;
	if (command !== undefined) {
		return `Undo it with: ${command}${left === 0 ? "" : ` (but for ${rowsText(left)} that can't be undone)`}`;
	}
	return blind === 0 ? undefined : "This run can't be undone: what its documents had before was not read.";
}
