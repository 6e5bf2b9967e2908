import type { Row } from "../../manifest/types.ts";
import { openRecording } from "../../run/recorded/recording.ts";
import { type Recorder, recorderOf } from "../../run/recorded/recorder.ts";
import { recordSeries, SERIES_FILE } from "../../run/series/series-file.ts";
import { countsText } from "../../report/summary.ts";
import type { Outcome } from "../../run/types.ts";
import type { Run } from "../open-run.ts";
import { resumeCommand, withFlags } from "../../flags/next-command.ts";
import { endUnbegun, UNSENT } from "../report.ts";
import { failedRowReporter } from "../rows/failed-rows.ts";
import type { AllowedRows } from "../rows/row-source.ts";
import { beginningNotes, foreignExplained, resumeOptions, runSpecOf } from "./earlier-runs.ts";
import { followAdjustments } from "./follow-adjustments.ts";
import { type NewerRows, newerRowsOf, writtenAgainText } from "./newer-rows.ts";
import { runsOnDataset } from "../recorded/run-state.ts";

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
		processes: app.processes,
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
		for (const note of await runsOnDataset(rows.options, name, recording.all, { runs, processes: app.processes })) {
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
