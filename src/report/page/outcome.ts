import type { Totals } from "../../run/types.ts";
import { numberText, rowsText } from "../../text/words.ts";
import type { VerifyCounts } from "../verify.ts";
import type { RunPage } from "./model.ts";

/** What the outcome is read from. */
export type Ended = {
	/** undefined where the command ended before its rows were known */
	readonly totals: Totals | undefined;
	/** undefined for a run that has not ended */
	readonly exit: number | undefined;
	readonly verify: VerifyCounts | undefined;
};

/** Exits that promise that no row was sent. */
const UNSENT: readonly number[] = [2, 3, 5, 8];

/** Exits of a command that came to its end: rows that are pending then are those that a dry run would change. */
const COMPLETE: readonly number[] = [0, 1, 10, 74];

/** How a run ended, in one word and one sentence. The word never says more than the exit code. */
export function outcomeOf({ totals, exit, verify }: Ended): RunPage["outcome"] {
	if (totals === undefined) {
		const isUnsent = exit !== undefined && UNSENT.includes(exit);
		const sentence = isUnsent ? "No row was sent." : "The command ended before it could count its rows.";
		return { tone: "bad", word: "Failed", sentence };
	}
	const { rows, failed, invalid, pending, duplicateSkipped } = totals;
	const reached = rows - failed - invalid - pending - duplicateSkipped;
	if (exit === undefined) {
		return { tone: "open", word: "Not ended", sentence: `${numberText(pending)} of ${rowsText(rows)} are pending.` };
	}
	if (pending > 0 && COMPLETE.includes(exit)) {
		const words = failed + invalid > 0 ? `; ${numberText(failed + invalid)} failed` : "";
		const sentence = `${numberText(pending)} of ${rowsText(rows)} would change${words}. Nothing was sent.`;
		return { tone: "open", word: "Dry run", sentence };
	}
	if (exit === 0) {
		if (rows === 0) return { tone: "good", word: "Successful", sentence: "There was no row to send." };
		const sentence =
			rows === 1 ? "The row reached its goal." : `All ${rowsText(rows - duplicateSkipped)} reached their goal.`;
		return { tone: "good", word: "Successful", sentence };
	}
	const parts = [
		...(failed > 0 ? [`${numberText(failed)} failed`] : []),
		...(invalid > 0 ? [`${numberText(invalid)} ${invalid === 1 ? "is" : "are"} invalid`] : []),
		...(pending > 0 ? [`${numberText(pending)} ${pending === 1 ? "is" : "are"} pending`] : []),
	];
	const lost =
		verify === undefined || verify.lost === 0 ? "" : ` ${rowsText(verify.lost)} did not keep what was written.`;
	const rest = parts.length === 0 ? "" : `; ${parts.join(", ")}`;
	const sentence = `${numberText(reached)} of ${rowsText(rows)} reached ${reached === 1 ? "its" : "their"} goal${rest}.${lost}`;
	return pending > 0
		? { tone: "open", word: "Stopped early", sentence }
		: { tone: "bad", word: "Finished with failures", sentence };
}
