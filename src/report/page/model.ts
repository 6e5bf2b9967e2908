import type { Difference } from "../../plan/change.ts";
import type { SlowCause } from "../../run/rate/slow-seconds.ts";
import type { FoundRate } from "../../run/rate/rate-memory.ts";
import type { Totals, VerifyCounts } from "../../run/types.ts";
import { numberText, rowsText } from "../../text/words.ts";
import type { Chart } from "./chart.ts";

/** A row that failed, or a row of the manifest that is invalid. */
export type PageFailure = {
	/** from 1 */
	readonly line: number;
	/** empty where there is none */
	readonly documentId: string;
	readonly code: string;
	readonly text: string;
	/** 0 for a row that was never sent */
	readonly attempts: number;
};

/** What a run wrote onto one document. */
export type PageChange = {
	readonly line: number;
	readonly datasetId: string;
	readonly documentId: string;
	readonly action: "update" | "upload" | "remove" | "rename";
	/** name of an uploaded file, or a new name */
	readonly name: string | undefined;
	/** all of its keys are added where it is not known what the document had */
	readonly difference: Difference;
	/** whether it is known what the document had before */
	readonly isBeforeKnown: boolean;
};

/** The first of a list, and how many there are in all. */
export type Cut<Item> = { readonly rows: readonly Item[]; readonly total: number };

/** A command to type next. */
export type NextCommand = { readonly what: string; readonly command: string };

/** All that a report says. Texts are foreign and not escaped. */
export type RunPage = {
	/** `docs tag` */
	readonly command: string;
	/** version of the program that wrote the report */
	readonly ragtag: string;
	readonly outcome: { readonly tone: "good" | "bad" | "open"; readonly word: string; readonly sentence: string };
	/** why it ended early, or what else was said at the end */
	readonly reasons: readonly string[];
	readonly next: readonly NextCommand[];
	readonly service: string | undefined;
	readonly datasets: readonly { readonly id: string; readonly name: string | undefined }[];
	readonly manifest: string | undefined;
	/** how it was run: options, rate, who began it, latency */
	readonly settings: readonly (readonly [name: string, text: string])[];
	/** ISO times */
	readonly started: string | undefined;
	readonly ended: string | undefined;
	readonly executions: number;
	/** name of the recorded run */
	readonly run: string | undefined;
	/** undefined where the command ended before its rows were known */
	readonly totals: Totals | undefined;
	/** of all executions; undefined where it is not known */
	readonly seconds: number | undefined;
	/** undefined for a run that has not ended */
	readonly exit: number | undefined;
	readonly slow: readonly SlowCause[];
	/** what `--rate auto` found; undefined where the rate was not looked for */
	readonly foundRate?: FoundRate | undefined;
	readonly verify: VerifyCounts | undefined;
	readonly charts: readonly Chart[];
	/** by code, the most frequent first */
	readonly codes: readonly { readonly code: string; readonly count: number; readonly example: string }[];
	readonly failures: Cut<PageFailure>;
	readonly problems: Cut<PageFailure>;
	readonly changes: Cut<PageChange>;
};

/** Exits that promise that no row was sent. */
const UNSENT: readonly number[] = [2, 3, 5, 8];

/** Exits of a command that came to its end: rows that are pending then are those that a dry run would change. */
const COMPLETE: readonly number[] = [0, 1, 10, 74];

/** How a run ended, in one word and one sentence. The word never says more than the exit code. */
export function outcomeOf({ totals, exit, verify }: Pick<RunPage, "totals" | "exit" | "verify">): RunPage["outcome"] {
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
