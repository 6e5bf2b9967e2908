import { rename, writeFile } from "node:fs/promises";
import type { App, Session, Settings } from "../../app.ts";
import { CliError, Exit, type ExitCode, reason } from "../../errors.ts";
import type { JsonObject } from "../../json/values.ts";
import type { Row } from "../../manifest/types.ts";
import { numberText } from "../../text/words.ts";
import { chunked, runRows } from "../../run/rows.ts";
import { RowBytes } from "../../run/journal/row-states.ts";
import { onlyPrescanned, type SentLog } from "../../run/operations/sent-log.ts";
import type { Operation } from "../../run/operations/operation.ts";
import { rowsByDataset } from "../../run/documents/listed-datasets.ts";
import { DocumentSource } from "../../run/documents/document-source.ts";
import { openRecording } from "../../run/recorded/recording.ts";
import type { RunSpec } from "../../run/recorded/unfinished.ts";
import { Recorder } from "../../run/recorded/recorder.ts";
import { SUMMARY_FILE } from "../../run/recorded/runs.ts";
import type { Outcome, Totals } from "../../run/types.ts";
import { show } from "../../text/show.ts";
import { VERSION } from "../../version.ts";
import { writeFailed } from "./failed-file.ts";
import { globalFlags, resumeCommand, withFlags } from "../../flags/next-command.ts";
import type { RunFlags } from "../../flags/flags.ts";
import { type Undone, undoOf } from "../../report/undo.ts";
import type { PolicyPass } from "../policy/policy-pass.ts";
import { stoppedByPolicy } from "./enforce-policy.ts";
import { stopFromError } from "../stop-from-error.ts";
import type { RowSource, RunItem } from "../rows/row-source.ts";
import { type Ended, report } from "./run-report.ts";
import { beginningNotes, foreignExplained } from "./resumed.ts";
import { rowTeller } from "./rows-reporter.ts";
import { unsettled } from "../rows/unsettled-rows.ts";
import { verifyAfter } from "../verify/verify-after.ts";

/** Documents of a dataset whose list takes two seconds to read, at a hundred a page and a hundred pages a second. */
const LONG_LIST = 20_000;

export type RowRun<Item extends RunItem, SourceRow extends Row = Row> = {
	readonly source: RowSource<SourceRow>;
	readonly itemOf: (row: SourceRow) => Item;
	/** whether `present` asks for each document when its row comes, even where one list would cost fewer requests */
	readonly asksForEach?: boolean;
	/** how the profile's policy judges the rows; undefined for a run that undoes another */
	readonly policyPass: PolicyPass<SourceRow> | undefined;
	/** called before the first write: prints notes, and may ask the user; a no throws a usage error */
	readonly before?: (source: RowSource<SourceRow>) => Promise<void>;
	/** `present` is what documents have, for operations that read it */
	readonly operation: (session: Session, log: SentLog, present: DocumentSource, settings: Settings) => Operation<Item>;
	/** called once for each outcome, before its slot is free */
	readonly onOutcome?: (outcome: Outcome<Item>) => Promise<void> | void;
	/** rows that `--json` prints: those that failed, or all */
	readonly tell: "failed" | "all";
	/** what an undo did; `failedWith` says how many of its rows failed with a code */
	readonly undone?: ((totals: Totals, failedWith: (code: string) => number) => Undone) | undefined;
	/** what to type next after a run with failed rows, where that is neither to mend them nor to retry them */
	readonly next?: (run: string, failedWith: (code: string) => number, totals: Totals) => string | undefined;
};

/** What a command needs to know of the run as a whole. */
export type RunContext = {
	/** `docs tag` */
	readonly command: string;
	readonly settings: Settings;
	/** what changes what is sent */
	readonly options: JsonObject;
	/** the run that this one undoes */
	readonly takesBack?: string | undefined;
};

/** Runs every row of a source, recorded, then reports: summary, failed rows, exit code. */
export async function runSource<Item extends RunItem, SourceRow extends Row = Row>(
	run: RowRun<Item, SourceRow>,
	context: RunContext,
	flags: RunFlags,
	session: Session,
	app: App,
): Promise<ExitCode> {
	const { io, clock } = app;
	const { source } = run;
	const wanted = wantedOf(source, context, flags, session);
	const unseen = new RowBytes();
	const stopped = await stoppedByPolicy(run.policyPass, source, wanted, flags, session, context.settings, app, unseen);
	if (stopped !== undefined) return stopped;
	await run.before?.(source);
	const runs = app.runs(context.settings);
	const recording = await openRecording(wanted, {
		runs,
		processes: app.processes,
		now: () => new Date(),
		resume: flags.run ?? flags.resume ?? false,
		reopen: flags.reopen === true,
		force: flags.force === true,
	}).catch((error: unknown) => {
		throw foreignExplained(error, wanted, flags);
	});
	const { opened, inDoubt, resumed } = recording;
	const tell = rowTeller(source.linesOf ?? source.name, { json: flags.json === true, all: run.tell === "all" }, app);
	const journal = new Recorder<Item>(opened, inDoubt, Date.now, async (outcome) => {
		await tell(outcome);
		await run.onOutcome?.(outcome);
	});
	const present = new DocumentSource({
		rows: run.asksForEach === true ? undefined : () => rowsByDataset(unsettled(source.read(), journal)),
		folder: () => app.temporaryFolder(context.settings),
		clock,
		onListing: (datasetId, documents) => {
			if (documents < LONG_LIST) return;
			io.note(`Reading what the ${numberText(documents)} documents of dataset ${show(datasetId)} have now.`);
		},
	});
	const progress = io.progress(flags.progress);
	const started = clock.now();
	try {
		if (flags.reopen === true) await journal.reopen(new Date());
		for (const note of beginningNotes(recording, flags.resume === true, journal.totals(), flags)) io.note(note);
		const stop = await runRows(chunked(unsettled(source.read(), journal), flags.chunk, run.itemOf), {
			operation: run.operation(session, onlyPrescanned(journal, unseen), present, context.settings),
			journal,
			limiter: session.limiter,
			cooldown: session.cooldown,
			clock,
			rate: session.rate,
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
				const totals = journal.totals();
				const total = totals.rows - totals.invalid - totals.duplicateSkipped;
				progress.update({ done: total - totals.pending, total, failed: totals.failed });
			},
		}).catch(stopFromError);
		progress.stop();
		const seconds = (clock.now() - started) / 1000 + (resumed?.seconds ?? 0);
		const verification = await verifyAfter(
			{ run: recording.run, runs, name: source.linesOf ?? source.name, started, stop },
			flags,
			session,
			context.settings,
			app,
		);
		// No request follows, but files must be written: connections may hold the last file descriptors.
		await session.service.api.close().catch(() => undefined);
		const totals = journal.totals();
		const folder = runs.path(recording.run);
		const failedPath = flags.failed ?? runs.path(recording.run, "failed.csv");
		const failure = await writeFailed(failedPath, folder, source, totals);
		const failedWith = (code: string): number => journal.failedWith(code);
		const verified = session.service.canary.echo !== undefined;
		const ended: Ended = {
			totals,
			seconds,
			stop: stop ?? verification.stop,
			verified,
			verify: verification.found,
			run: recording.run,
			same: journal.noOpUpdates,
			undo: undoOf(
				totals,
				journal.withoutBeforeImage,
				journal.noOpUpdates,
				journal.storedButFailed,
				withFlags(`ragtag runs undo ${recording.run}`, flags),
			),
			undone: run.undone && { name: source.name, counts: run.undone(totals, failedWith) },
			resume: totals.pending > 0 ? resumeCommand(recording.run, flags) : undefined,
			failed: { path: failedPath, failure },
			next: run.next?.(recording.run, failedWith, totals),
		};
		return await report(ended, flags, app, async (exit, summary) => {
			await journal.end(exit, new Date());
			await writeSummary(runs.path(recording.run, SUMMARY_FILE), summary);
		});
	} finally {
		progress.stop();
		await present.close();
		await journal.close();
		await recording.release();
	}
}

/** @throws CliError exit 7: a full disk is no fault of the program */
async function writeSummary(path: string, summary: string): Promise<void> {
	try {
		// The file must be complete or absent: it says that the run ended in order.
		await writeFile(`${path}.new`, `${summary}\n`, { mode: 0o600 });
		await rename(`${path}.new`, path);
	} catch (error) {
		throw new CliError(`${path}: ${reason(error)}`, {
			exit: Exit.storage,
			hint: "Every row is recorded: ragtag runs show has the counts.",
			cause: error,
		});
	}
}

function wantedOf(source: RowSource, context: RunContext, flags: RunFlags, { baseUrl }: Session): RunSpec {
	const { name, rows, invalid, duplicateSkipped, kept } = source;
	const path = "path" in kept.source ? kept.source.path : null;
	return {
		command: context.command,
		version: VERSION,
		baseUrl,
		manifest: { name, path, sha256: kept.sha256, bytes: kept.bytes, rows, invalid, duplicateSkipped },
		...(source.linesOf === undefined ? {} : { madeFrom: { source: source.linesOf } }),
		source: kept.source,
		options: context.options,
		flags: globalFlags(flags),
		undoes: context.takesBack,
	};
}
