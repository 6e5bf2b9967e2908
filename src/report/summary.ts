import type { ExitCode } from "../errors.ts";
import { OUTCOMES, countSettled, countWritten } from "../outcomes.ts";
import type { Adjustment } from "../run/rate/rate-control.ts";
import type { Pace } from "../run/rate/slow-seconds.ts";
import type { FoundRate } from "../run/rate/found-rate.ts";
import type { Outcome, Stop, Totals, VerifyCounts, Work } from "../run/types.ts";
import { type Shard, shardText } from "../shard.ts";
import { numberText, durationText, rowsText } from "../text/words.ts";
import { adjustedLine, slowCauses } from "./pace.ts";

/** The `--json` line of a row. It is printed for every row that failed, and for `upload` and `download` for every row. */
export function rowLine({ item, status, documentId, name, replaces, error, attempts }: Outcome<Work>): string {
	return JSON.stringify({
		type: "row",
		line: item.line,
		status,
		dataset_id: item.datasetId,
		document_id: documentId === "" ? null : documentId,
		...(replaces === undefined ? {} : { replaces }),
		name: name ?? item.name ?? null,
		file: item.file?.path ?? null,
		error_code: error?.code ?? null,
		error: error?.text ?? null,
		attempts,
	});
}

/** A part of a manifest, and the number of rows that are not in it. */
export type ShardCounts = Shard & { readonly otherRows: number };

/** The last line of a run's `--json` output. */
export type Summary = ReturnType<typeof summaryOf>;

/** Whether the writes of a run can be undone. */
export type Undo = {
	/** the command that does it; undefined where nothing can be undone */
	readonly command: string | undefined;
	/** rows whose previous values are not known, so an undo leaves them as they are */
	readonly blind: number;
	/** rows whose documents were removed */
	readonly removed: number;
};

/** The result of a dry run. Rows that would change are pending, because nothing was sent. */
export type DryResult = {
	readonly changes: number;
	/** whether `--detailed-exitcode` was given */
	readonly isDetailed: boolean;
	/** documents that no row names, and whether that is a difference; undefined without `--undeclared` */
	readonly undeclared?: { readonly documents: number; readonly fails: boolean } | undefined;
};

/** How a run ended, or a command that sent no row. An undefined member is not known, or does not apply. */
export type Ended = {
	readonly totals: Totals;
	readonly seconds: number;
	/** why it ended before its last row */
	readonly stop: Stop | undefined;
	/** the name of the recorded run, and its folder */
	readonly run?: string | undefined;
	readonly folder?: string | undefined;
	/** how fast the requests of its rows went */
	readonly pace?: Pace | undefined;
	/** changes of its rate, and pauses */
	readonly adjusted?: readonly Adjustment[] | undefined;
	/** seconds for which the Redis of a shared cap did not answer; undefined where the cap was not shared */
	readonly limiterAway?: number | undefined;
	/** what `--rate auto` found */
	readonly foundRate?: FoundRate | undefined;
	/** seconds from the oldest reading of a document to its use */
	readonly oldestReading?: number | undefined;
	/** whether updates were seen to arrive at this address: false where nothing could be read back */
	readonly verified?: boolean | undefined;
	/**
	 * the result of reading back, and the next command if something is missing. `unexplained` counts rows with other values
	 * than were sent, directly after the run: the service itself may have changed them
	 */
	readonly verify?:
		| { readonly counts: VerifyCounts; readonly unexplained?: number; readonly again: string }
		| undefined;
	readonly dry?: DryResult | undefined;
	/** of the failed rows, those that a newer run had touched: all of them, and those of earlier executions */
	readonly superseded?: { readonly all: number; readonly before: number } | undefined;
	/** updated rows whose documents already had those values */
	readonly same?: number | undefined;
	readonly undo?: Undo | undefined;
	/** the result of an undo, and its name in messages */
	readonly undone?: { readonly name: string; readonly counts: Undone } | undefined;
	/** the part of a manifest whose rows are counted */
	readonly shard?: ShardCounts | undefined;
	/** the file of the failed rows, or the reason why it could not be written; and their codes, each once */
	readonly failed?: { readonly path: string; readonly failure: string | undefined } | undefined;
	readonly failedCodes?: readonly string[] | undefined;
	/** pending rows that may have been written */
	readonly inDoubt?: number | undefined;
	/** the words that are printed instead of the counts of rows */
	readonly counted?: string | undefined;
	/** the command that resumes the run, and the next command where the general one does not fit */
	readonly resume?: string | undefined;
	readonly next?: string | undefined;
};

/** The summary object of a run. All counts are always there. Seconds are rounded to milliseconds. */
export function summaryOf(ended: Ended, exit: ExitCode) {
	const { totals, seconds, stop, pace, verify, dry, undo, shard, limiterAway, foundRate, oldestReading } = ended;
	const { duplicateSkipped, attempts, ...counts } = totals;
	return {
		type: "summary",
		run: ended.run ?? null,
		...counts,
		duplicate_skipped: duplicateSkipped,
		attempts,
		/** of the failed rows, those that were not sent as a newer run had touched their documents */
		superseded: ended.superseded?.all ?? 0,
		seconds: Math.round(seconds * 1000) / 1000,
		/** whether updates were seen to arrive, and none that was read back is lost */
		verified: isVerified(ended),
		/** null where nothing was read back */
		verify: verify?.counts ?? null,
		/** the counts of an undo; null for other commands */
		undone: ended.undone?.counts ?? null,
		/** documents that were changed, created or removed; in a dry run those that would be */
		changes: countWritten(totals) - (ended.same ?? 0) + (dry?.changes ?? 0),
		/** documents that no row names; null where they were not looked for */
		undeclared: dry?.undeclared?.documents ?? null,
		/** whether every write can be undone */
		undoable: undo?.command !== undefined && undo.blind + undo.removed === 0,
		/** the command that undoes it */
		undo: undo?.command ?? null,
		exit_code: exit,
		resume: ended.resume ?? null,
		/** why it ended before its last row, with its exit code; null where it came to its end */
		stop: stop === undefined ? null : { code: stop.exit, text: stop.text },
		/** the causes that made it slower than its rate, with their seconds: `429`, `503`, `outage`, `slowed`, `concurrency`, `paused` */
		slow: pace === undefined ? [] : slowCauses(pace),
		/** changes of its rate, and pauses, while it went on */
		adjusted: (ended.adjusted ?? []).map(adjustedLine),
		/** the part of the manifest whose rows are counted, and the rows that are not; null for a whole one */
		shard: shard === undefined ? null : { index: shard.index, count: shard.count, other_rows: shard.otherRows },
		/** whether other runs shared its cap, and for how long they could not, as Redis was away; null without `--limiter` */
		limiter: limiterAway === undefined ? null : { shared: true, away_seconds: limiterAway },
		/** what `--rate auto` found; null where the rate was not looked for */
		found_rate: foundRate ?? null,
		/** the age of the oldest reading of a document when it was used; null where no reading decided what was sent */
		oldest_reading_seconds: oldestReading === undefined ? null : Math.round(oldestReading * 1000) / 1000,
	} as const;
}

function isVerified({ totals: { updated, uploaded, replaced }, verified = false, verify }: Ended): boolean {
	if (verify === undefined) return verified && updated + uploaded + replaced > 0;
	const { equal, normalised, lost, unknown, pending } = verify.counts;
	return lost + unknown + pending === 0 && equal + normalised > 0;
}

/**
 * The counts of a run with their names. Counts of zero are left out.
 *
 * @param wouldChange how many of the pending rows a dry run would change
 */
export function countsOf(totals: Totals, wouldChange = 0): readonly (readonly [name: string, count: number])[] {
	const all: readonly (readonly [string, number])[] = [
		...OUTCOMES.map((outcome) => [outcome, totals[outcome]] as const),
		["invalid", totals.invalid],
		[totals.duplicateSkipped === 1 ? "duplicate skipped" : "duplicates skipped", totals.duplicateSkipped],
		["would change", wouldChange],
		["pending", totals.pending - wouldChange],
	];
	return all.filter(([, count]) => count > 0);
}

/**
 * The same in words: `2,000 rows: 1,998 updated, 2 failed`.
 *
 * @param inDoubt how many rows may have been written
 */
export function countsText(totals: Totals, wouldChange = 0, inDoubt = 0): string {
	const parts = countsOf(totals, wouldChange).map(([word, count]) => `${numberText(count)} ${word}`);
	const doubt = inDoubt === 0 ? "" : `, of which ${numberText(inDoubt)} may have been written`;
	return `${rowsText(totals.rows)}: ${parts.length === 0 ? "none was sent" : parts.join(", ")}${doubt}`;
}

/** Seconds from which the age of a reading is named: a chunk is used within them. */
const TOLD_FROM = 5;

/** A sentence about the oldest reading of a document; undefined where none is worth it. */
export function oldestReadingText(seconds: number | undefined): string | undefined {
	if (seconds === undefined || seconds <= TOLD_FROM) return undefined;
	return `The oldest reading of a document was ${durationText(seconds)} old when it was used: what others wrote meanwhile is overwritten.`;
}

/** The summary for people: the part of the manifest, counts, time, rate. */
export function summaryText({ counted, totals, seconds, dry, shard, inDoubt }: Ended): string {
	if (counted !== undefined) return counted;
	const done = countSettled(totals) + (dry?.changes ?? 0);
	const rate = seconds > 0 && done > 0 ? `, ${numberText(Math.round((done / seconds) * 10) / 10)} a second` : "";
	const part = shard === undefined ? "" : `shard ${shardText(shard)}, `;
	return `${part}${countsText(totals, dry?.changes, inDoubt)} in ${durationText(seconds)}${rate}`;
}

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

type Undone = Readonly<ReturnType<typeof undoneOf>>;

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
