import { CliError, Exit, type ExitCode, reason } from "../../errors.ts";
import { packFile } from "../../run/journal/files.ts";
import { JOURNAL_FILE } from "../../run/journal/reader.ts";
import { SUMMARY_FILE } from "../../run/recorded/run-store.ts";
import { writeRunSummary } from "../../run/recorded/run-summary.ts";
import type { Ended } from "../../report/summary.ts";
import { report, type ReportContext, resultOf, UNSENT } from "../report.ts";
import type { Row } from "../../manifest/types.ts";
import type { Recorder } from "../../run/recorded/recorder.ts";
import type { Run } from "../open-run.ts";
import { stopFromError } from "../../run/stop/shutdown.ts";
import type { RunRecord } from "./open-record.ts";

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
