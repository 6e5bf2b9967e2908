import type { FileHandle } from "node:fs/promises";
import { CliError, Exit, type ExitCode, reason } from "../../errors.ts";
import { PACKED_AT_END, packRun } from "../../run/journal/packed.ts";
import { SUMMARY_FILE } from "../../run/recorded/run-store.ts";
import { writeRunSummary } from "../../run/recorded/run-summary.ts";
import type { Ended } from "../../report/summary.ts";
import { report, type ReportContext, resultOf } from "../report.ts";
import type { Row } from "../../manifest/types.ts";
import type { Recorder } from "../../run/recorded/recorder.ts";
import type { Run } from "../open-run.ts";
import { stopFromError } from "../stop-from-error.ts";
import type { AppTimers } from "../../app.ts";
import type { Clock } from "../../run/types.ts";
import { openSeries, type Sampled, Sampler } from "../../run/series/series-file.ts";

/** The parts that the end of a run's record needs. */
type OpenRecord = {
	readonly run: ReportContext & Pick<Run, "settings">;
	readonly name: string;
	readonly journal: Pick<Recorder<Row>, "close" | "end" | "state" | "totals">;
};

/**
 * Records how an execution ended: its last record in the journal, then the summary. A finished run is compressed.
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
	if (bytes === undefined || journal.totals().pending > 0) return;
	await journal.close();
	// A plain journal is as good: runs prune compresses it later.
	await packRun(runs.path(name), PACKED_AT_END).catch(() => undefined);
}

/** A run that ended before it sent a row, where its record can be removed again. */
type UnsentRun = {
	readonly run: Run;
	readonly journal: Pick<Recorder<Row>, "hasBegun" | "totals">;
	/** closed before the record is removed: it would be missing its file */
	readonly series: Pick<Series, "close">;
	readonly discard: (() => Promise<void>) | undefined;
};

/**
 * Ends a new run that stopped before its first row was sent, as with a wrong key: it leaves no record, since there is
 * nothing to resume, to undo or to retry.
 *
 * @returns undefined for every other run
 */
export async function endIfUnsent(
	{ run, journal, series, discard }: UnsentRun,
	ended: Pick<Ended, "seconds" | "stop" | "pace" | "cap" | "shard">,
): Promise<ExitCode | undefined> {
	const totals = journal.totals();
	if (ended.stop === undefined || discard === undefined || journal.hasBegun || totals.pending === 0) return undefined;
	await series.close();
	const isRemoved = await discard().then(
		() => true,
		() => false,
	);
	if (!isRemoved) return undefined;
	return report(run, { ...ended, totals, stop: { ...ended.stop, hint: unsentHint(ended.stop.hint) } });
}

function unsentHint(hint: string | undefined): string {
	if (hint === undefined) return "Nothing was sent: run the same command again.";
	return /same command again/i.test(hint) ? `Nothing was sent. ${hint}` : `${hint} Then run the same command again.`;
}

/** The series of a run, which is recorded until it is closed. */
export type Series = {
	/** A row failed with that code. */
	failed(code: string): void;
	/** Writes the last point. Closing it twice does no harm. */
	close(): Promise<void>;
};

const SECOND_MS = 1000;

/** Seconds that the last point covers at least. */
const LEAST = 0.001;

/** Share of a second by which a timer may be early. */
const EARLY = 0.1;

/**
 * Appends a line a second to the series of a run. A failed write is reported once by `note`, and the run goes on
 * without a series.
 */
export function recordSeries(
	path: string,
	sampled: Sampled,
	note: (text: string) => void,
	{ clock, timers }: { readonly clock: Pick<Clock, "now">; readonly timers: AppTimers },
): Series {
	const sampler = new Sampler(sampled, clock.now());
	let isOver = false;
	const attempt = async (work: () => Promise<void>): Promise<void> => {
		try {
			if (!isOver) await work();
		} catch (error) {
			isOver = true;
			note(`The figures of this run are not recorded from here on: ${path}: ${reason(error)}`);
		}
	};
	let file: FileHandle | undefined;
	let isBusy = true;
	let work = attempt(async () => void (file = await openSeries(path))).finally(() => (isBusy = false));
	const take = (least: number): void => {
		const now = clock.now();
		const open = file;
		if (sampler.seconds(now) < least || isBusy || open === undefined) return;
		isBusy = true;
		work = attempt(() => open.appendFile(`${JSON.stringify(sampler.take(now, timers.date().getTime() / SECOND_MS))}\n`)).finally(
			() => (isBusy = false),
		);
	};
	const cancel = timers.every(SECOND_MS, () => take(1 - EARLY));
	return {
		failed: (code) => sampler.failed(code),
		close: async () => {
			cancel();
			await work;
			take(LEAST);
			await work;
			// Its failure was noted already where a line could not be written. The file is open then, too.
			if (isOver) await file?.close().catch(() => undefined);
			else await attempt(async () => file?.close());
			isOver = true;
		},
	};
}
