import type { App } from "../app.ts";
import { CliError, EarlyEnd, Exit, type ExitCode } from "../errors.ts";
import { adjustedTexts, foundRateText, paceText } from "../report/pace.ts";
import { noOutcomes } from "../outcomes.ts";
import { exitOf } from "../report/exit.ts";
import { failedAdvice } from "../report/failed-advice.ts";
import {
	type Ended,
	type Summary,
	oldestReadingText,
	summaryOf,
	summaryText,
	undoneText,
	undoText,
} from "../report/summary.ts";
import { verifyText } from "../report/verify.ts";
import type { GlobalFlags } from "../flags/flags.ts";
import type { ParseFlags } from "../flags/parse-flags.ts";
import { withFlags } from "../flags/next-command.ts";
import { type ManifestCounts, type Stop, type Totals, totalsOf } from "../run/types.ts";
import { numberText } from "../text/words.ts";
import { VERSION } from "../version.ts";
import { writeOutputs } from "./outputs/outputs.ts";
import { stopOrSignal } from "../run/stop/shutdown.ts";

/** The context of `report`; a `Run` is one. */
export type ReportContext = {
	readonly flags: GlobalFlags & Pick<ParseFlags, "wait"> & { readonly json?: boolean | undefined };
	readonly app: App;
};

/** What to type after a command that sent nothing. */
export const UNSENT = "Nothing was sent: run the same command again.";

type UnsentRows = ManifestCounts & Pick<Ended, "shard">;

export const NO_ROWS: UnsentRows = { rows: 0, invalid: 0, duplicateSkipped: 0 };

/**
 * Ends a command that sends nothing of its rows.
 *
 * @param stop says why; undefined where there is nothing to send
 * @throws EarlyEnd
 */
export function endBefore(
	context: ReportContext,
	rows: UnsentRows,
	stop: Stop | undefined,
	begun: Partial<Ended> = {},
): never {
	const ended = { totals: totalsOf(rows, noOutcomes(), 0), seconds: 0, stop, shard: rows.shard, ...begun };
	throw new EarlyEnd(() => report(context, ended));
}

/**
 * Ends a command whose run could not begin, or not go on.
 *
 * @param begun what is known of the run that was to go on
 * @throws EarlyEnd, or a fault of the program as it is
 */
export function endUnbegun(context: ReportContext, rows: UnsentRows, error: unknown, begun?: Partial<Ended>): never {
	const { signal } = context.app;
	if (!(error instanceof CliError) && !signal.aborted) throw error;
	return endBefore(context, rows, stopOrSignal(error, signal), begun);
}

/**
 * The exit code and the JSON summary of an end, once all earlier output and the requested files are written. A file that can't
 * be written changes the code.
 */
export async function resultOf(
	{ app }: ReportContext,
	ended: Ended,
): Promise<{ readonly exit: ExitCode; readonly summary: Summary }> {
	await app.io.flush();
	const lines = [ended.stop?.text, summaryText(ended), hintOf(ended)].filter((line) => line !== undefined);
	app.runEnd.report(lines.join("\n"), ended);
	const exit = await writeOutputs(app, exitOf(ended, app.io.outputFailure !== undefined));
	return { exit, summary: summaryOf(ended, exit) };
}

/** Prints the end of a run, or of one that never began: the summary, and on failure what to do next. */
export async function report(context: ReportContext, ended: Ended): Promise<ExitCode> {
	const { flags } = context;
	const { io } = context.app;
	const { totals, stop, failed, verify } = ended;
	const { exit, summary } = await resultOf(context, ended);
	if (flags.json === true) await io.out(`${JSON.stringify(summary)}\n`);
	const superseded = ended.superseded?.all ?? 0;
	if (failed !== undefined && totals.failed > superseded && failed.failure === undefined) {
		io.note(`The ${totals.failed === 1 ? "row" : "rows"} that failed: ${failed.path}`);
	}
	if (ended.undone !== undefined) io.note(undoneText(ended.undone.name, ended.undone.counts));
	const counted = summaryText(ended);
	if (verify !== undefined && ended.counted === undefined) {
		const text = verifyText(verify.counts);
		if (isChanged(verify)) io.err(CHANGED);
		// The last line says what to type, unless it must say something else.
		if (verify.counts.lost > 0) io.err(exit === Exit.differences ? `${text}.` : `${text}. ${verify.again}`);
		else io.note(`${text}.`);
	}
	const isFound = ended.undone !== undefined || flags.wait === true;
	const notes = [
		oldestReadingText(ended.oldestReading),
		isFound ? undefined : unparsedText(totals),
		ended.pace && paceText(ended.pace),
		ended.foundRate && `rate auto: ${foundRateText(ended.foundRate)}`,
		...adjustedTexts(ended.adjusted ?? []),
		exit === Exit.ok ? counted : undefined,
		ended.undo && undoText(ended.undo),
	];
	for (const note of notes) if (note !== undefined) io.note(note);
	if (exit === Exit.ok) return exit;
	if (stop !== undefined) io.err(`ragtag: ${stop.text}`);
	if (io.outputFailure !== undefined) io.err(`ragtag: ${io.outputFailure}`);
	if (failed?.failure !== undefined) io.err(`ragtag: ${failed.path}: ${failed.failure}`);
	// The last line of every failure: what happened, the counts, and what to type next.
	io.err(`${counted}. ${hintOf(ended) ?? nextStep(ended, flags)}`);
	return exit;
}

/** Questions find the chunks of a document, and a new document has none before it is parsed. */
function unparsedText({ replaced }: Totals): string | undefined {
	if (replaced === 0) return undefined;
	if (replaced === 1) return "Questions do not find the new document until it is parsed.";
	return `Questions do not find the ${numberText(replaced)} new documents until they are parsed.`;
}

const CHANGED =
	"Documents were changed directly after the run: by another client, or by the service, which does not keep what it is sent.";

function isChanged({ unexplained = 0 }: NonNullable<Ended["verify"]>): boolean {
	return unexplained > 0;
}

/** What to type next, where the stop or the run says it. */
function hintOf({ stop, resume }: Ended): string | undefined {
	if (resume === undefined) return stop?.hint;
	const hint = stop?.hint === undefined ? "" : `${stop.hint} `;
	if (stop?.exit === Exit.usage) return `${hint}Then run the right command: ${resume} sends the same rows again.`;
	if (stop?.areRowsWrong !== true) return `${hint}Resume it with: ${resume}`;
	return `${hint}Correct the rows and run the command again: ${resume} sends the same rows.`;
}

function nextStep(
	{ totals, failed, run, dry, next, verify, superseded, failedCodes, stop }: Ended,
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
	if (stop !== undefined && run === undefined) return UNSENT;
	return "Fix the output, and run the same command again.";
}

/** Prints the first line of `--json`, before anything can fail. */
export async function printVersionLine({ io }: App): Promise<void> {
	await io.out(`${JSON.stringify({ type: "version", schema: 1, ragtag: VERSION })}\n`);
}
