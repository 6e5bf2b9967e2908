import type { ExitCode } from "../../errors.ts";
import type { Row, RowFailure } from "../../manifest/types.ts";
import { undoOf } from "../../report/undo.ts";
import type { DocumentSource } from "../../run/documents/document-source.ts";
import type { Operation } from "../../run/operations/operation.ts";
import { type SentLog, onlyPrescanned } from "../../run/operations/sent-log.ts";
import { Recorder } from "../../run/recorded/recorder.ts";
import type { Pace } from "../../run/rate/pace.ts";
import { openRecording } from "../../run/recorded/recording.ts";
import { SERIES_FILE } from "../../run/series/series-file.ts";
import { runChunks } from "../../run/rows.ts";
import type { Outcome, Stop } from "../../run/types.ts";
import { resumeCommand, withFlags } from "../../flags/next-command.ts";
import type { Run } from "../open-run.ts";
import { type Ended, endedBefore, report, resultOf } from "../report.ts";
import { failedRowReporter, writeFailed } from "../rows/failed-rows.ts";
import { type AllowedRows, fileOfLines, unsettledChunks } from "../rows/row-source.ts";
import { pruneOldRuns } from "../recorded/prune-old.ts";
import { stopFromError } from "../stop-from-error.ts";
import { verifyAfter } from "../verify/verify-after.ts";
import { quitText } from "./quit-text.ts";
import { recordSeries, type Series } from "./record-series.ts";
import { rowDocuments } from "./row-documents.ts";
import { followAdjustments } from "./follow-adjustments.ts";
import { followKeys } from "./follow-keys.ts";
import { beginningNotes, foreignExplained, resumes, runSpecOf } from "./earlier-runs.ts";
import { endIfUnsent, recordEnd } from "./record-end.ts";

/** Creates the operation for each row. `log` records a write before it is sent; `documents` has the present metadata. */
export type RowOperation<SourceRow extends Row = Row> = (
	log: SentLog,
	documents: DocumentSource,
) => Operation<SourceRow>;

/** Runs all rows, recorded, then reports: summary, failed rows, exit code. */
export async function runRows<SourceRow extends Row>(
	run: Run,
	rows: AllowedRows<SourceRow>,
	operation: RowOperation<SourceRow>,
): Promise<ExitCode> {
	await using record = await openRecord(run, rows).catch(async (error: unknown) => {
		// A script reads the summary last, also where another run holds the lock.
		if (run.flags.json === true) {
			await run.app.io.out(`${(await resultOf(run, endedBefore(rows, stopFromError(error)))).summary}\n`);
		}
		throw error;
	});
	const sent = await sendRows(record, operation);
	return await endRun(record, sent);
}

/** A run whose record is open and whose lock is held, until it is disposed of. */
export type RunRecord<SourceRow extends Row = Row> = AsyncDisposable & {
	readonly run: Run;
	readonly rows: AllowedRows<SourceRow>;
	/** the run's name */
	readonly name: string;
	readonly journal: Recorder<SourceRow>;
	/** its figures, second by second */
	readonly series: Series;
	/** removes the record where no row was sent; undefined for a resumed run */
	readonly discard: (() => Promise<void>) | undefined;
	/** seconds that earlier executions of a resumed run took */
	readonly secondsBefore: number;
};

type RecordOptions<SourceRow extends Row> = {
	/** the run that this one undoes */
	readonly takesBack?: string;
	/** called once for each outcome, before its slot is free */
	readonly onOutcome?: (outcome: Outcome<SourceRow>) => Promise<void>;
};

/** Opens the record of a run: a new one, or that of the run which is resumed. */
export async function openRecord<SourceRow extends Row>(
	run: Run,
	rows: AllowedRows<SourceRow>,
	{ takesBack, onOutcome }: RecordOptions<SourceRow> = {},
): Promise<RunRecord<SourceRow>> {
	const { flags, app } = run;
	const wanted = runSpecOf(run, rows, takesBack);
	const recording = await openRecording(wanted, {
		runs: app.runs(run.settings),
		processes: app.processes,
		now: () => new Date(),
		resume: resumes(flags),
		reopen: flags.reopen === true,
		force: flags.force === true,
	}).catch((error: unknown) => {
		throw foreignExplained(error, wanted, flags);
	});
	const reportFailed = failedRowReporter(run, rows);
	const tell = async (outcome: Outcome<SourceRow>): Promise<void> => {
		if (outcome.error !== undefined) series.failed(outcome.error.code);
		await reportFailed(outcome);
		await onOutcome?.(outcome);
	};
	const { opened, inDoubt, run: name } = recording;
	const isTold = ({ status }: Outcome): boolean => status === "failed" || onOutcome !== undefined;
	const journal = new Recorder<SourceRow>(opened, inDoubt, Date.now, (one) => (isTold(one) ? tell(one) : undefined));
	const { session } = run;
	const figures = { monitor: session.monitor, journal, cap: () => session.rates.rate };
	const series = recordSeries(app.runs(run.settings).path(name, SERIES_FILE), figures, (text) => app.io.note(text));
	const stopFollowing = await followAdjustments({ runs: app.runs(run.settings), name, session, app });
	const stopKeys = followKeys(run);
	app.io.beforeQuitting(() => quitText(journal.totals(), name, flags));
	const close = async (): Promise<void> => {
		app.io.beforeQuitting(undefined);
		stopKeys();
		await stopFollowing();
		await series.close();
		await journal.close();
		await recording.release();
	};
	try {
		if (flags.reopen === true) await journal.reopen(new Date());
		for (const note of beginningNotes(recording, flags.resume === true, journal.totals(), flags)) app.io.note(note);
	} catch (error) {
		await close();
		throw error;
	}
	const secondsBefore = recording.resumed?.seconds ?? 0;
	const { discard } = recording;
	return { run, rows, name, journal, series, discard, secondsBefore, [Symbol.asyncDispose]: close };
}

/** The result of the rows that were sent. */
export type Sent = {
	/** when the first row started, on the clock */
	readonly started: number;
	/** earlier executions of the run included */
	readonly seconds: number;
	readonly pace: Pace;
	/** the mean of the requests a second that were allowed; undefined if there was no cap */
	readonly cap: number | undefined;
	/** the reason why rows are pending; undefined if none is */
	readonly stop: Stop | undefined;
};

/** Sends all rows that are not settled. Each ends in one outcome in the journal, or stays pending. */
export async function sendRows<SourceRow extends Row>(
	{ run, rows, journal, secondsBefore }: RunRecord<SourceRow>,
	operation: RowOperation<SourceRow>,
): Promise<Sent> {
	const { flags, session, app } = run;
	const { io, clock } = app;
	const documents = rowDocuments(run, { rows, journal });
	const { monitor } = session;
	monitor.enter("reading", "what the documents have");
	const progress = io.progress();
	const started = clock.now();
	try {
		const stop = await runChunks(unsettledChunks(rows, journal, flags.chunk), {
			operation: operation(onlyPrescanned(journal, rows.unjudged), documents),
			journal,
			limiter: session.limiter,
			cooldown: session.cooldown,
			monitor,
			clock,
			...session.rates.forRows,
			concurrency: flags.concurrency,
			attempts: flags.attempts,
			maxErrors: flags.maxErrors,
			maxWait: flags.maxWait,
			maxOutage: flags.maxOutage,
			maxDuration: flags.maxDuration,
			onNote: (text) => io.note(text),
			signal: app.signal,
			abandon: () => void session.service.api.close().catch(() => undefined),
			onSettled: () => {
				monitor.enter("running");
				const totals = journal.totals();
				const total = totals.rows - totals.invalid - totals.duplicateSkipped;
				progress.update({ done: total - totals.pending, total, failed: totals.failed });
			},
		}).catch(stopFromError);
		const seconds = (clock.now() - started) / 1000 + secondsBefore;
		return { started, seconds, stop, pace: monitor.pace(), cap: session.rates.meanSince(started) };
	} finally {
		progress.stop();
		await documents.close();
	}
}

/** Reads back what was written if `--verify` is given, writes the failed rows, records the end, and reports. */
export async function endRun<SourceRow extends Row>(
	record: RunRecord<SourceRow>,
	{ started, seconds, stop, pace, cap, ...more }: Sent & Pick<Ended, "undone" | "next">,
): Promise<ExitCode> {
	const { run, rows, name, journal, series } = record;
	const { flags, session, settings, app } = run;
	const runs = app.runs(settings);
	const { shard } = rows;
	const unsent = await endIfUnsent(record, { seconds, stop, pace, cap, shard });
	if (unsent !== undefined) return unsent;
	const verification = await verifyAfter({ run: name, runs, name: fileOfLines(rows), started, stop }, run);
	await series.close();
	// No request follows, but files must be written: connections may hold the last file descriptors.
	await session.service.api.close().catch(() => undefined);
	const totals = journal.totals();
	const failedPath = flags.failed ?? runs.path(name, "failed.csv");
	// Rows that failed in an earlier execution of a resumed run are reported to the outputs only here.
	const onFailed = (item: Row, { errorCode, error, attempts }: RowFailure): void => {
		const { documentId } = item;
		app.runEnd.failedRow(fileOfLines(rows), { item, documentId, error: { code: errorCode, text: error }, attempts });
	};
	const source = { read: () => rows.read(), failedRows: rows.failedRows, onFailed, otherRows: shard?.otherRows };
	const failure = await writeFailed(failedPath, runs.path(name), source, totals);
	const undo = withFlags(`ragtag runs undo ${name}`, flags);
	const ended: Ended = {
		totals,
		seconds,
		stop: stop ?? verification.stop,
		pace,
		cap,
		adjusted: session.rates.adjusted,
		limiterAway: session.sharedCap?.awaySeconds,
		foundRate: session.rates.found,
		verified: session.service.canary.echo !== undefined,
		verify: verification.found,
		run: name,
		folder: runs.path(name),
		same: journal.noOpUpdates,
		undo: undoOf(
			totals,
			{ blind: journal.withoutBeforeImage, same: journal.noOpUpdates, stored: journal.storedButFailed },
			undo,
		),
		resume: totals.pending > 0 ? resumeCommand(name, flags) : undefined,
		failed: { path: failedPath, failure },
		shard,
		...more,
	};
	const unrecorded = await recordEnd(record, ended).catch(stopFromError);
	await pruneOldRuns(run, runs, name);
	return report(run, { ...ended, stop: ended.stop ?? unrecorded });
}
