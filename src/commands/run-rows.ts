import type { App, Session } from "../app.ts";
import { CliError, Exit, type ExitCode, reason } from "../errors.ts";
import type { CheckedManifest, Row, SourceRecord } from "../manifest/types.ts";
import { exitOf } from "../report/exit.ts";
import { rowLine } from "../report/row-line.ts";
import { summaryOf, summaryText } from "../report/summary.ts";
import { chunked } from "../run/chunks.ts";
import { MemoryJournal } from "../run/journal.ts";
import type { Operation } from "../run/operations/operation.ts";
import { runRows } from "../run/rows.ts";
import type { Outcome, Stop, Totals, Work } from "../run/types.ts";
import { VERSION } from "../version.ts";
import { FailedFile } from "./failed-file.ts";
import type { RunFlags } from "./flags.ts";

/** Failed rows that are told one by one: a million of them would bury what matters. */
const TOLD = 20;

/** Where rows come from: a checked manifest, or arguments that stand for one. */
export type RowSource = Pick<
	CheckedManifest,
	"name" | "rows" | "invalid" | "duplicateSkipped" | "problems" | "fatal" | "read" | "failedRows" | "close"
>;

/** A row as the engine and the failed-rows file need it. */
export type RunItem = Work & { readonly source: SourceRecord };

export type RowRun<Item extends RunItem> = {
	readonly source: RowSource;
	readonly itemOf: (row: Row) => Item;
	readonly operation: (session: Session) => Operation<Item>;
	/** sees each outcome once, before its slot is free */
	readonly onOutcome?: (outcome: Outcome<Item>) => Promise<void> | void;
	/** rows that are told with `--json`: those that failed, or all */
	readonly tell: "failed" | "all";
};

/** First line of `--json`, before anything can go wrong. */
export async function printVersionLine({ io }: App): Promise<void> {
	await io.out(`${JSON.stringify({ type: "version", schema: 1, ragtag: VERSION })}\n`);
}

/** Runs every row of a source, then reports: summary, failed rows, exit code. */
export async function runSource<Item extends RunItem>(
	run: RowRun<Item>,
	flags: RunFlags,
	session: Session,
	app: App,
): Promise<ExitCode> {
	const { io, clock } = app;
	const { source } = run;
	const failedFile = flags.failed === undefined ? undefined : new FailedFile(flags.failed, source.failedRows);
	let told = 0;
	const journal = new MemoryJournal<Item>(source, async (outcome) => {
		const failed = outcome.status === "failed";
		if (flags.json === true && (failed || run.tell === "all")) await io.out(`${rowLine(outcome)}\n`);
		if (failed) {
			told += 1;
			if (told <= TOLD) io.err(`${source.name}:${outcome.item.line}: ${outcome.error?.code}: ${outcome.error?.text}`);
			if (told === TOLD + 1) io.err("... more rows failed; --failed FILE or --json has all of them");
			await failedFile?.add(outcome);
		}
		await run.onOutcome?.(outcome);
	});
	const progress = io.progress(flags.progress);
	const started = clock.now();
	const stop = await runRows(chunked(source.read(), flags.chunk, run.itemOf), {
		operation: run.operation(session),
		journal,
		limiter: session.limiter,
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
	}).catch(faultStop);
	progress.stop();
	await failedFile?.close();
	const seconds = (clock.now() - started) / 1000;
	const verified = session.service.proof.echo !== undefined;
	return report({ totals: journal.totals(), seconds, stop, failedFile, verified }, flags, app);
}

type Ended = {
	readonly totals: Totals;
	readonly seconds: number;
	readonly stop: Stop | undefined;
	readonly failedFile?: FailedFile | undefined;
	/** whether updates were seen to arrive */
	readonly verified?: boolean;
};

/** Prints the end of a run, or of one that never began: the summary, and on failure what to do next. */
export async function report(ended: Ended, flags: RunFlags, { io }: App): Promise<ExitCode> {
	const { totals, seconds, stop, failedFile, verified } = ended;
	await io.flush();
	const exit = exitOf(totals, stop, io.outputFailed || failedFile?.failure !== undefined);
	if (flags.json === true) await io.out(`${JSON.stringify(summaryOf(totals, seconds, exit, verified))}\n`);
	if (failedFile !== undefined && failedFile.rows > 0) {
		io.note(`The ${failedFile.rows === 1 ? "row" : "rows"} that failed: ${flags.failed}`);
	}
	if (exit === Exit.ok) {
		io.note(summaryText(totals, seconds));
		return exit;
	}
	if (stop !== undefined) io.err(`ragtag: ${stop.text}`);
	if (io.outputFailed) io.err(`ragtag: standard output could not be written: ${reason(io.outputError)}`);
	if (failedFile?.failure !== undefined) io.err(`ragtag: --failed ${flags.failed}: ${failedFile.failure}`);
	// The last line of every failure: what happened, the counts, and what to type next.
	io.err(`${summaryText(totals, seconds)}. ${stop?.hint ?? nextStep(totals, flags)}`);
	return exit;
}

function nextStep(totals: Totals, flags: RunFlags): string {
	if (totals.pending > 0) return "Rows that are pending were not changed or are unknown: run the same command again.";
	if (totals.failed > 0 && flags.failed !== undefined) return `Mend ${flags.failed} and feed it back.`;
	if (totals.failed > 0) return "Run it again with --failed FILE to have the failed rows written down.";
	if (totals.invalid > 0) return "Mend the invalid rows, named above, and send those alone.";
	return "Mend the output and run the same command again.";
}

function faultStop(error: unknown): Stop {
	if (error instanceof CliError) {
		return { exit: error.exit, text: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) };
	}
	return {
		exit: Exit.internal,
		text: `a fault of the program itself: ${reason(error)}`,
		hint: "Please report it; the rows that are pending may be sent again safely.",
	};
}
