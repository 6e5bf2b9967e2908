import type { ExitCode } from "../../errors.ts";
import type { Row, RowFailure } from "../../manifest/types.ts";
import { DocumentSource } from "../../run/documents/document-source.ts";
import { checkedLog, type Operation, type SentLog } from "../../run/operations/operation.ts";
import { runChunks, type RunOptions as ChunkOptions } from "../../run/rows.ts";
import type { Stop } from "../../run/types.ts";
import { show } from "../../text/show.ts";
import { numberText } from "../../text/words.ts";
import { resumeCommand } from "../../flags/next-command.ts";
import type { Run } from "../open-run.ts";
import type { Ended } from "../../report/summary.ts";
import { report } from "../report.ts";
import { writeFailed } from "../rows/failed-rows.ts";
import { type AllowedRows, fileOfLines, unsettledChunks } from "../rows/row-source.ts";
import { undoOfRun } from "../recorded/choose-run.ts";
import { pruneOldRuns } from "../recorded/remove-run.ts";
import { stopFromError } from "../../run/stop/shutdown.ts";
import { verifyAfter } from "../verify/verify-rows.ts";
import { failChanged } from "./changed-since.ts";
import { withoutNewer } from "./newer-rows.ts";
import { endIfUnsent, openRecord, recordEnd, type RecordOptions, type RunRecord } from "./open-record.ts";
import { refusalExplainer } from "../dataset.ts";

/** Creates the operation for each row. `log` records a write before it is sent; `documents` has the present metadata. */
export type RowOperation<SourceRow extends Row = Row> = (
	log: SentLog,
	documents: DocumentSource,
	/** the run's name */
	run: string,
) => Operation<SourceRow>;

/** What a command adds to the end of its run; a `stop` in place of none says what failed after the last row. */
type Ending = Partial<Pick<Ended, "next" | "undone" | "stop">>;

type RunOptions<SourceRow extends Row> = RecordOptions<SourceRow> & {
	/** what only this command says at the end */
	readonly ending?: (record: RunRecord<SourceRow>) => Ending | Promise<Ending>;
	/** whether something was sent that the journal does not record, as it changes no document */
	readonly hasSent?: () => boolean;
	/** rows that are sent after all others, and what is done before them */
	readonly last?: LastRows<SourceRow> | undefined;
};

type LastRows<SourceRow extends Row> = {
	readonly isLast: (row: SourceRow) => boolean;
	/** settles those that may not be sent */
	readonly before: (record: RunRecord<SourceRow>) => Promise<void>;
};

/** Runs all rows, recorded, then reports: summary, failed rows, exit code. */
export async function runRows<SourceRow extends Row>(
	run: Run,
	rows: AllowedRows<SourceRow>,
	operation: RowOperation<SourceRow>,
	options: RunOptions<SourceRow> = {},
): Promise<ExitCode> {
	await using record = await openRecord(run, rows, options);
	const sent = await sendRows(record, operation, options.last);
	const ending = await options.ending?.(record);
	return await endRun(record, { ...sent, ...ending }, options.hasSent?.() === true);
}

/** Documents of a dataset whose list takes two seconds to read, at a hundred a page and a hundred pages a second. */
const LONG_LIST = 20_000;

/** What the documents of the rows have that are still to be sent. */
function rowDocuments<SourceRow extends Row>({ run, rows, journal }: RunRecord<SourceRow>): DocumentSource {
	const { app, settings, session } = run;
	return new DocumentSource({
		rows: rows.rowsByDataset,
		rowsLeft: journal.totals().pending,
		folder: () => app.temporaryFolder(settings),
		service: session.service,
		onPresent: rows.onPresent,
		onListing: (datasetId, documents) => {
			if (documents < LONG_LIST) return;
			app.io.note(`Reading what the ${numberText(documents)} documents of dataset ${show(datasetId)} have now.`);
		},
	});
}

/** The result of the rows that were sent. `started` is when the first row began, on the clock. */
type Sent = Pick<Ended, "seconds" | "stop" | "pace" | "oldestReading"> & { readonly started: number };

/** Sends all rows that are not settled. Each ends in one outcome in the journal, or stays pending. */
async function sendRows<SourceRow extends Row>(
	record: RunRecord<SourceRow>,
	operation: RowOperation<SourceRow>,
	last: LastRows<SourceRow> | undefined,
): Promise<Sent> {
	const { run, rows, journal, secondsBefore, newer, discard } = record;
	const { flags, session, app } = run;
	const { io, clock } = app;
	const documents = rows.documents ?? rowDocuments(record);
	const { monitor } = session;
	monitor.enter("reading", "what the documents have");
	const progress = io.progress();
	const started = clock.now();
	let isRunning = false;
	const showRows = (): void => {
		// Once: it would end the state of a run that is stopping.
		if (!isRunning) monitor.enter("running");
		isRunning = true;
		const totals = journal.totals();
		const total = totals.rows - totals.invalid - totals.duplicateSkipped;
		progress.update({ done: total - totals.pending, total, failed: totals.failed });
	};
	monitor.live.onChange = showRows;
	session.service.firstWrites.pending = () => journal.totals().pending;
	try {
		const log = checkedLog(journal, rows.unjudged, (dataset, id) => newer?.errorOf(dataset, id));
		const options: ChunkOptions<SourceRow> = {
			...flags,
			operation: operation(log, documents, record.name),
			service: session.service,
			explain: refusalExplainer(run),
			journal,
			rates: session.rates,
			started: run.since ?? started,
			onNote: (text) => io.note(text),
			signal: app.signal,
			abandon: () => void session.service.api.close().catch(() => undefined),
			onSettled: showRows,
		};
		const chunksOf = (source: Pick<AllowedRows<SourceRow>, "read" | "readBatches">): AsyncIterable<SourceRow[]> => {
			const chunks = unsettledChunks(source, journal, flags.chunk);
			return newer === undefined ? chunks : withoutNewer(chunks, newer, journal);
		};
		const inPhases = async ({ isLast, before }: LastRows<SourceRow>): Promise<Stop | undefined> => {
			const stop = await runChunks(chunksOf({ read: () => without(rows.read(), isLast) }), options);
			if (stop !== undefined) return stop;
			await before(record);
			return runChunks(chunksOf(rows), options);
		};
		const stop = await (last === undefined ? runChunks(chunksOf(rows), options) : inPhases(last)).catch(stopFromError);
		// Only a run that goes on has rows that were done before.
		const fault =
			discard === undefined ? await failChanged(record, documents).then(() => undefined, stopFromError) : undefined;
		const seconds = (clock.now() - started) / 1000 + secondsBefore;
		const oldestReading = documents.oldestReading === undefined ? undefined : documents.oldestReading / 1000;
		return { started, seconds, stop: stop ?? fault, pace: monitor.pace(), oldestReading };
	} finally {
		progress.stop();
		await documents.close();
	}
}

async function* without<Item>(items: AsyncIterable<Item>, isLeftOut: (item: Item) => boolean): AsyncGenerator<Item> {
	for await (const item of items) if (!isLeftOut(item)) yield item;
}

/** Reads back what was written if `--verify` is given, writes the failed rows, records the end, and reports. */
async function endRun<SourceRow extends Row>(
	record: RunRecord<SourceRow>,
	{ started, seconds, stop, pace, ...more }: Sent & Pick<Ended, "undone" | "next">,
	hasSent: boolean,
): Promise<ExitCode> {
	const { run, rows, name, journal, closeSeries, supersededBefore } = record;
	const { flags, session, settings, app } = run;
	const runs = app.runs(settings);
	const { shard } = rows;
	const unsent = hasSent ? undefined : await endIfUnsent(record, { seconds, stop, pace, shard });
	if (unsent !== undefined) return unsent;
	const verification = await verifyAfter({ run: name, runs, name: fileOfLines(rows), started, stop }, run);
	closeSeries();
	// No request follows, but files must be written: connections may hold the last file descriptors.
	await session.service.api.close().catch(() => undefined);
	const totals = journal.totals();
	const failedPath = flags.failed ?? runs.path(name, `failed.${rows.failedRows.ending}`);
	// Rows that failed in an earlier execution of a resumed run are reported to the outputs only here.
	const onFailed = (item: Row, error: RowFailure): void => {
		const { documentId } = item;
		app.runEnd.failedRow(fileOfLines(rows), { item, documentId, error, attempts: error.attempts });
	};
	const source = { read: () => rows.read(), failedRows: rows.failedRows, onFailed, otherRows: shard?.otherRows };
	const { superseded } = journal;
	const failure = await writeFailed(failedPath, runs.path(name), source, { ...totals, superseded });
	const ended: Ended = {
		totals,
		seconds,
		stop: stop ?? verification.stop,
		pace,
		adjusted: session.rates.adjusted,
		limiterAway: session.sharedCap?.awaySeconds,
		foundRate: session.rates.found,
		verified: session.service.canary.echo !== undefined,
		verify: verification.verify,
		run: name,
		superseded: { all: superseded, before: supersededBefore },
		folder: runs.path(name),
		same: journal.state.noOpUpdates,
		undo: undoOfRun({ run: name, options: rows.options }, journal.state, flags),
		resume: totals.pending > 0 ? resumeCommand(name, flags) : undefined,
		failed: { path: failedPath, failure },
		failedCodes: journal.failedCodes(),
		shard,
		inDoubt: session.monitor.inDoubt,
		...more,
	};
	const recorded = await recordEnd(record, ended);
	await pruneOldRuns(run, runs, name);
	return report(run, recorded);
}
