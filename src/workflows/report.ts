import type { App } from "../app.ts";
import { Exit, type ExitCode } from "../errors.ts";
import { adjustedTexts } from "../report/adjusted.ts";
import { type DryResult, exitOf } from "../report/exit.ts";
import { failedAdvice } from "../report/failed-advice.ts";
import { foundRateText } from "../report/found-rate.ts";
import { paceText, slowCauses } from "../report/pace.ts";
import {
	ofShard,
	oldestReadingText,
	type ShardCounts,
	type Summary,
	summaryOf,
	summaryText,
	type Undo,
} from "../report/summary.ts";
import { undoneText, undoText, type Undone } from "../report/undo.ts";
import { verifyText, type VerifyCounts } from "../report/verify.ts";
import type { GlobalFlags } from "../flags/flags.ts";
import { withFlags } from "../flags/next-command.ts";
import { type ManifestCounts, unsentTotals } from "../run/journal/memory-journal.ts";
import type { Pace } from "../run/rate/pace.ts";
import type { FoundRate } from "../run/rate/rate-search.ts";
import type { Adjustment } from "../run/rate/rate-control.ts";
import type { Stop, Totals } from "../run/types.ts";
import { writeOutputs } from "./outputs/write-outputs.ts";
import { stopFromError } from "./stop-from-error.ts";

export type Ended = {
	readonly totals: Totals;
	readonly seconds: number;
	readonly stop: Stop | undefined;
	/** how fast the requests of its rows went, and the requests a second that were allowed */
	readonly pace?: Pace | undefined;
	readonly cap?: number | undefined;
	/** changes of its rate, and pauses */
	readonly adjusted?: readonly Adjustment[] | undefined;
	/** seconds for which the Redis of a shared cap did not answer */
	readonly limiterAway?: number | undefined;
	/** seconds from the oldest reading of a document to its use */
	readonly oldestReading?: number | undefined;
	/** what `--rate auto` found */
	readonly foundRate?: FoundRate | undefined;
	/** whether updates were seen to arrive */
	readonly verified?: boolean;
	/** the result of a dry run */
	readonly dry?: DryResult;
	/** the result of reading back, and the next command if something is missing */
	readonly verify?: VerifyFindings | undefined;
	/** the words that are printed instead of the counts of rows */
	readonly counted?: string;
	readonly run?: string;
	/** of the failed rows, those that a newer run had touched: all of them, and those of earlier executions */
	readonly superseded?: { readonly all: number; readonly before: number };
	/** the folder of the recorded run */
	readonly folder?: string;
	/** rows whose documents already had the written metadata */
	readonly same?: number;
	readonly undo?: Undo | undefined;
	/** the result of an undo, and its name in messages */
	readonly undone?: { readonly name: string; readonly counts: Undone } | undefined;
	/** the command that resumes the run */
	readonly resume?: string | undefined;
	/** the file of the failed rows, or the reason why it could not be written */
	readonly failed?: { readonly path: string; readonly failure: string | undefined };
	/** the codes of the rows that failed, each once */
	readonly failedCodes?: readonly string[];
	/** pending rows that may have been written */
	readonly inDoubt?: number;
	/** the part of a manifest whose rows are counted */
	readonly shard?: ShardCounts | undefined;
	/** the next command, if the general one does not fit */
	readonly next?: string | undefined;
};

type VerifyFindings = {
	readonly counts: VerifyCounts;
	/**
	 * rows with other values than were sent, directly after the run: the service itself may have changed them. Undefined
	 * if the run may have ended long ago
	 */
	readonly unexplained?: number;
	readonly again: string;
};

/** The context of `report`; a `Run` is one. */
export type ReportContext = { readonly flags: GlobalFlags & { readonly json?: boolean }; readonly app: App };

/** The end of a command that sends nothing of its rows: `stop` says why, undefined where there is nothing to send. */
export function endedBefore(rows: ManifestCounts & Pick<Ended, "shard">, stop: Stop | undefined, seconds = 0): Ended {
	return { totals: unsentTotals(rows), seconds, stop, shard: rows.shard };
}

/**
 * Ends a command whose run could not begin, or not go on. A script reads the summary last, also then.
 *
 * @param begun what is known of the run that was to go on
 * @throws the error
 */
export async function endUnbegun(
	context: ReportContext,
	rows: ManifestCounts & Pick<Ended, "shard">,
	error: unknown,
	begun: Partial<Pick<Ended, "totals" | "run" | "resume">> = {},
): Promise<never> {
	if (context.flags.json === true) {
		const ended = { ...endedBefore(rows, stopFromError(error)), ...begun };
		await context.app.io.out(`${(await resultOf(context, ended)).summary}\n`);
	}
	throw error;
}

/**
 * The exit code and the JSON summary of an end, once all earlier output and the requested files are written. A file that can't
 * be written changes the code.
 */
export async function resultOf(
	{ app }: ReportContext,
	ended: Ended,
): Promise<{ readonly exit: ExitCode; readonly summary: string }> {
	await app.io.flush();
	const { totals, seconds, stop, failed, dry, verify, pace, cap, folder } = ended;
	const isOutputLost = app.io.outputFailure !== undefined || failed?.failure !== undefined;
	const before = exitOf(totals, stop, {
		outputFailed: isOutputLost,
		dry,
		verify: verify && { ...verify.counts, ...verify },
		settledBefore: ended.superseded?.before,
	});
	const slow = pace && slowCauses(pace, cap);
	const facts = {
		...ended,
		slow,
		verify: verify?.counts,
		undone: ended.undone?.counts,
		superseded: ended.superseded?.all,
		wouldChange: dry?.changes,
		undeclared: dry?.undeclared?.documents,
	};
	const summaryFor = (exit: ExitCode): Summary => summaryOf(totals, seconds, exit, facts);
	const isOutOfTime = stop?.isOutOfTime === true;
	app.runEnd.report({ text: endText(ended), summary: summaryFor(before), pace, cap, folder, isOutOfTime });
	const exit = await writeOutputs(app, before);
	return { exit, summary: JSON.stringify(summaryFor(exit)) };
}

/** The result, the counts, and the next command. */
function endText(ended: Ended): string {
	const { stop, resume } = ended;
	const next = resume === undefined ? stop?.hint : resumeText(stop, resume);
	return [stop?.text, countedText(ended), next].filter((line) => line !== undefined).join("\n");
}

function countedText({ counted, totals, seconds, dry, shard, inDoubt }: Ended): string {
	return counted ?? ofShard(summaryText(totals, seconds, dry?.changes, inDoubt), shard);
}

/** Prints the end of a run, or of one that never began: the summary, and on failure what to do next. */
export async function report(context: ReportContext, ended: Ended): Promise<ExitCode> {
	const { flags } = context;
	const { io } = context.app;
	const { totals, stop, failed, verify } = ended;
	const { exit, summary } = await resultOf(context, ended);
	if (flags.json === true) await io.out(`${summary}\n`);
	const superseded = ended.superseded?.all ?? 0;
	if (failed !== undefined && totals.failed > superseded && failed.failure === undefined) {
		io.note(`The ${totals.failed === 1 ? "row" : "rows"} that failed: ${failed.path}`);
	}
	if (ended.undone !== undefined) io.note(undoneText(ended.undone.name, ended.undone.counts));
	const undo = ended.undo === undefined ? undefined : undoText(ended.undo);
	const counted = countedText(ended);
	if (verify !== undefined && ended.counted === undefined) {
		const text = verifyText(verify.counts);
		if (isChanged(verify)) io.err(CHANGED);
		// The last line says what to type, unless it must say something else.
		if (verify.counts.lost > 0) io.err(exit === Exit.differences ? `${text}.` : `${text}. ${verify.again}`);
		else io.note(`${text}.`);
	}
	const age = oldestReadingText(ended.oldestReading);
	if (age !== undefined) io.note(age);
	const why = ended.pace && paceText(ended.pace, ended.cap);
	if (why !== undefined) io.note(why);
	if (ended.foundRate !== undefined) io.note(`rate auto: ${foundRateText(ended.foundRate)}`);
	for (const text of adjustedTexts(ended.adjusted ?? [])) io.note(text);
	if (exit === Exit.ok) {
		io.note(counted);
		if (undo !== undefined) io.note(undo);
		return exit;
	}
	if (undo !== undefined) io.note(undo);
	if (stop !== undefined) io.err(`ragtag: ${stop.text}`);
	if (io.outputFailure !== undefined) io.err(`ragtag: ${io.outputFailure}`);
	if (failed?.failure !== undefined) io.err(`ragtag: ${failed.path}: ${failed.failure}`);
	// The last line of every failure: what happened, the counts, and what to type next.
	const next = ended.resume === undefined ? (stop?.hint ?? nextStep(ended, flags)) : resumeText(stop, ended.resume);
	io.err(`${counted}. ${next}`);
	return exit;
}

const CHANGED =
	"Documents were changed directly after the run: by another client, or by the service, which does not keep what it is sent.";

function isChanged({ unexplained = 0 }: VerifyFindings): boolean {
	return unexplained > 0;
}

function resumeText(stop: Stop | undefined, resume: string): string {
	const hint = stop?.hint === undefined ? "" : `${stop.hint} `;
	if (stop?.exit === Exit.usage) return `${hint}Then run the right command: ${resume} sends the same rows again.`;
	if (stop?.areRowsWrong !== true) return `${hint}Resume it with: ${resume}`;
	return `${hint}Correct the rows and run the command again: ${resume} sends the same rows.`;
}

function nextStep(
	{ totals, failed, run, dry, next, verify, superseded, failedCodes }: Ended,
	flags: GlobalFlags,
): string {
	if (failed?.failure !== undefined && run !== undefined) {
		return `Write the failed rows to another file: ${withFlags(`ragtag runs report ${run} --failed FILE`, flags)}`;
	}
	if (next !== undefined) return next;
	if (dry !== undefined) {
		if (totals.failed > 0) return "Fix the failed rows or their ids: ragtag docs list shows the documents.";
		return "The same command without --dry-run and --detailed-exitcode makes these changes.";
	}
	if (totals.failed > 0 && failed !== undefined && run !== undefined) {
		const retry = withFlags(`ragtag runs retry ${run}`, flags);
		if (totals.failed === superseded?.all) {
			return `Newer runs have touched these documents since, so they were left alone. To write them as well: ${retry} --force`;
		}
		return failedAdvice(failedCodes ?? [], failed.path, retry);
	}
	const isMissing = verify !== undefined && (verify.counts.lost + verify.counts.unknown > 0 || isChanged(verify));
	if (isMissing) return verify.again;
	if (totals.invalid > 0) return "Fix the invalid rows, listed above, and send only those.";
	return "Fix the output, and run the same command again.";
}
