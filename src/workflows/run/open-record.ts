import { CliError, Exit, type ExitCode, reason } from "../../errors.ts";
import { resumeCommand, withFlags } from "../../flags/next-command.ts";
import type { Row } from "../../manifest/types.ts";
import { countsText, type Ended } from "../../report/summary.ts";
import { packFile } from "../../run/journal/files.ts";
import { JOURNAL_FILE } from "../../run/journal/reader.ts";
import { type Recorder, recorderOf } from "../../run/recorded/recorder.ts";
import { openRecording } from "../../run/recorded/recording.ts";
import { SUMMARY_FILE } from "../../run/recorded/run-store.ts";
import { writeRunSummary } from "../../run/recorded/run-summary.ts";
import { recordSeries, SERIES_FILE } from "../../run/series/series-file.ts";
import { stopFromError } from "../../run/stop/shutdown.ts";
import type { Outcome } from "../../run/types.ts";
import type { Run } from "../open-run.ts";
import { runsOnDataset } from "../recorded/run-state.ts";
import { endUnbegun, report, type ReportContext, resultOf, UNSENT } from "../report.ts";
import { failedRowReporter } from "../rows/failed-rows.ts";
import type { AllowedRows } from "../rows/row-source.ts";
import { beginningNotes, foreignExplained, resumeOptions, runSpecOf } from "./earlier-runs.ts";
import { followAdjustments } from "./follow-adjustments.ts";
import { type NewerRows, newerRowsOf, writtenAgainText } from "./newer-rows.ts";

/** A run whose record is open and whose lock is held, until it is disposed of. */
export type RunRecord<SourceRow extends Row = Row> = Awaited<ReturnType<typeof openRecord<SourceRow>>>;

/** The run that an undo takes back, and what newer runs have written since. */
export type TakesBack = { readonly run: string; readonly newer: NewerRows | undefined };

export type RecordOptions<SourceRow extends Row> = {
	readonly takesBack?: TakesBack | undefined;
	/** called once for each outcome, before its slot is free */
	readonly onOutcome?: (outcome: Outcome<SourceRow>) => Promise<void>;
};

/** Opens the record of a run: a new one, or that of the run which is resumed. With `--json` a failure prints the summary. */
export async function openRecord<SourceRow extends Row>(
	run: Run,
	rows: AllowedRows<SourceRow>,
	{ takesBack, onOutcome }: RecordOptions<SourceRow> = {},
) {
	const { flags, app } = run;
	const wanted = runSpecOf(run, rows, takesBack?.run);
	const runs = app.runs(run.settings);
	const recording = await openRecording(wanted, {
		...resumeOptions(run, rows),
		reopen: flags.reopen === true,
		force: flags.force === true,
	}).catch((error: unknown) => endUnbegun(run, rows, foreignExplained(error, wanted, flags)));
	const reportFailed = failedRowReporter(run, rows);
	const tell = (outcome: Outcome<SourceRow>): Promise<void> | undefined =>
		outcome.status === "failed" ? reportFailed(outcome).then(() => onOutcome?.(outcome)) : onOutcome?.(outcome);
	const { writer, inDoubt, run: name } = recording;
	const journal = recorderOf<SourceRow>(writer, inDoubt, Date.now, tell);
	const { session } = run;
	const sampled = { rates: session.rates, journal };
	const closeSeries = recordSeries(runs.path(name, SERIES_FILE), sampled, (text) => app.io.note(text), app.timers);
	const stopFollowing = await followAdjustments({ runs, name, session, app });
	const isNew = recording.resumed === undefined;
	app.io.beforeQuitting(() => (isNew && !journal.hasBegun ? UNSENT : quitText(run, name, journal)));
	const close = async (): Promise<void> => {
		app.io.beforeQuitting(undefined);
		await stopFollowing();
		closeSeries();
		await journal.close();
		await recording.release();
	};
	let newer = takesBack?.newer;
	try {
		const own = recording.all.find((file) => file.run === name);
		const isForced = flags.force === true;
		// A run that may not go on is not announced, and its failed rows stay as they are.
		if (own !== undefined) newer = await newerRowsOf(runs, own, recording.all, { isForced });
		if (flags.reopen === true) await journal.reopen(new Date(), isForced);
		for (const note of beginningNotes(recording, flags.resume === true, journal.totals(), flags)) app.io.note(note);
		for (const note of await runsOnDataset(rows.options, name, recording.all, runs)) {
			app.io.note(note);
		}
		const again = takesBack === undefined && newer !== undefined ? writtenAgainText(newer) : undefined;
		if (again !== undefined) app.io.note(again);
	} catch (error) {
		const isResumed = recording.resumed !== undefined;
		const begun = isResumed ? { totals: journal.totals(), run: name, resume: resumeCommand(name, flags) } : {};
		await close();
		return endUnbegun(run, rows, error, begun);
	}
	return {
		run,
		rows,
		name,
		journal,
		/** ends the record of its figures, second by second */
		closeSeries,
		/** removes the record where no row was sent; undefined for a resumed run */
		discard: recording.discard,
		/** seconds that earlier executions of a resumed run took */
		secondsBefore: recording.resumed?.seconds ?? 0,
		/** what newer runs have touched; undefined for a new run that undoes none */
		newer,
		/** rows that earlier executions had left to newer runs */
		supersededBefore: journal.superseded,
		[Symbol.asyncDispose]: close,
	};
}

/** The counts of a run so far, and what to type next, for a user who does not wait for its end. */
function quitText({ flags, session }: Run, name: string, journal: Pick<Recorder<Row>, "state" | "totals">): string {
	const totals = journal.totals();
	// Rows are recorded ahead of their requests.
	const inDoubt = Math.min(journal.state.countInDoubt(), session.monitor.inFlight);
	const next = totals.pending > 0 ? `Resume it with: ${resumeCommand(name, flags)}` : undefined;
	return `${countsText(totals, 0, inDoubt)}. ${next ?? `See it with: ${withFlags(`ragtag runs show ${name}`, flags)}`}`;
}

/** The parts that the end of a run's record needs. */
type OpenRecord = {
	readonly run: ReportContext & Pick<Run, "settings">;
	readonly name: string;
	readonly journal: Pick<Recorder<Row>, "end" | "state" | "totals">;
};

/**
 * Records how an execution ended: its last record in the journal, then the summary. The journal of a finished run is compressed.
 *
 * @returns the end, with what could not be written as its stop. Where another program moved or removed the record, it names
 * no command that would not find it
 */
export async function recordEnd(record: OpenRecord, ended: Ended, at = new Date()): Promise<Ended> {
	const { run, name } = record;
	const runs = run.app.runs(run.settings);
	const unrecorded = await writeEnd(record, ended, at).catch(stopFromError);
	const stop = ended.stop ?? unrecorded;
	// A record that can't be read is still there.
	const file = await runs.read(name).catch(() => "unreadable" as const);
	if (file !== undefined) return { ...ended, stop };
	const hint = `If ${runs.path(name)} was moved, move it back: then the run can be resumed, verified and undone. If it was removed, send the rows again; what was written can't be undone.`;
	return { ...ended, stop: stop && { ...stop, hint }, undo: undefined, resume: undefined };
}

/** @throws CliError exit 7 */
async function writeEnd({ run, name, journal }: OpenRecord, ended: Ended, time: Date): Promise<undefined> {
	const runs = run.app.runs(run.settings);
	const { exit, summary } = await resultOf(run, ended);
	const bytes = await journal.end(exit, time);
	const file = await runs.read(name);
	if (file === undefined) {
		throw new CliError(`another program moved or removed ${runs.path(name, "run.json")}`, { exit: Exit.storage });
	}
	try {
		await writeRunSummary(runs, file, summary, { ended: time, wrote: journal.state.wrote, journal: bytes });
	} catch (error) {
		// A full disk is no fault of the program.
		throw new CliError(`${runs.path(name, SUMMARY_FILE)}: ${reason(error)}`, {
			exit: Exit.storage,
			hint: "Every row is recorded: ragtag runs show has the counts.",
			cause: error,
		});
	}
	if (bytes === undefined || bytes < LEAST_PACKED || journal.totals().pending > 0) return;
	// A plain journal is as good.
	await packFile(runs.path(name, JOURNAL_FILE)).catch(() => undefined);
}

/** Bytes below which a journal stays as it is: compressing it would save little, and any tool can read it. */
const LEAST_PACKED = 64 * 1024;

/**
 * Ends a new run that stopped before its first row was sent, as with a wrong key: it leaves no record, since there is
 * nothing to resume, to undo or to retry.
 *
 * @returns undefined for every other run
 */
export async function endIfUnsent<SourceRow extends Row>(
	{ run, journal, closeSeries, discard }: RunRecord<SourceRow>,
	ended: Pick<Ended, "seconds" | "stop" | "pace" | "shard">,
): Promise<ExitCode | undefined> {
	const totals = journal.totals();
	if (ended.stop === undefined || discard === undefined || journal.hasBegun || totals.pending === 0) return undefined;
	// It would be missing its file.
	closeSeries();
	const isRemoved = await discard().then(
		() => true,
		() => false,
	);
	if (!isRemoved) return undefined;
	return report(run, { ...ended, totals, stop: { ...ended.stop, hint: unsentHint(ended.stop.hint) } });
}

function unsentHint(hint: string | undefined): string {
	if (hint === undefined) return UNSENT;
	return /same command again/i.test(hint) ? `Nothing was sent. ${hint}` : `${hint} Then run the same command again.`;
}
