import { warnOfInexact } from "../../run/documents/before-images.ts";
import type { DryRunFlags, UNDECLARED } from "../../flags/change-flags.ts";
import type { ValuesOf } from "../../flags/declare.ts";
import { ChangeTally, type ShownChange, type UndeclaredDocument } from "../../report/change-tally.ts";
import { differenceOf } from "../../plan/change.ts";
import { CliError, Exit, type ExitCode, usageError } from "../../errors.ts";
import { noOutcomes } from "../../outcomes.ts";
import type { Row } from "../../manifest/types.ts";
import { DocumentSource } from "../../run/documents/document-source.ts";
import { WARN } from "../../run/documents/searches.ts";
import { errorLimit } from "../../run/stop/limits.ts";
import { timeIsUp } from "../../run/stop/reasons.ts";
import { stopOf, stopOrSignal } from "../../run/stop/shutdown.ts";
import { type Stop, type Totals, totalsOf } from "../../run/types.ts";
import type { ParseFlags } from "../../flags/parse-flags.ts";
import type { RowFlags } from "../../flags/flags.ts";
import { type PreviewRow, type Previewed, effectsOf } from "../effect.ts";
import type { Run } from "../open-run.ts";
import { policyChecker, typeChecker } from "../policy/checkers.ts";
import type { DryResult, Ended } from "../../report/summary.ts";
import { report } from "../report.ts";
import { failedRowReporter, failedWriter } from "../rows/failed-rows.ts";
import type { RowSource } from "../rows/row-source.ts";
import { changePrinter, type ChangeSink } from "./change-printer.ts";
import type { Session } from "../../app.ts";
import { SeenIds } from "../../run/documents/id-table.ts";
import { rowErrorOf } from "../../run/operations/prepare-update.ts";

/** Flags of a command that shows what rows would do. */
export type PreviewFlags = RowFlags &
	DryRunFlags &
	ValuesOf<typeof UNDECLARED> &
	Pick<ParseFlags, "wait"> & { readonly dataset?: string | undefined };

/**
 * Shows the changes of a run, document by document in the order of the rows. It reads as the run would, sends nothing
 * that writes, and records nothing.
 */
export async function preview<SourceRow extends Row>(
	run: Run<PreviewFlags>,
	rows: RowSource<SourceRow>,
	previewRow: PreviewRow<SourceRow>,
	sink: ChangeSink = changePrinter(run.flags, run.app),
): Promise<ExitCode> {
	const { flags, session, settings, app } = run;
	const { io, clock } = app;
	const counts = noOutcomes();
	const totalsNow = (): Totals => totalsOf(rows, counts, counts.failed + counts.unchanged);
	const reportFailed = failedRowReporter(run, rows);
	const failed = failedWriter(flags.failed, rows.failedRows);
	const tally = new ChangeTally(flags.wait);
	const checker = policyChecker(run, rows);
	const types = await typeChecker(run, rows);
	session.monitor.enter("reading", "what the documents have");
	const progress = io.progress();
	const started = clock.now();
	const finder = flags.undeclared === undefined ? undefined : undeclaredFinder(flags.dataset);
	const documents = new DocumentSource({
		listsAll: finder !== undefined,
		rows: rows.rowsByDataset,
		folder: () => app.temporaryFolder(settings),
		onPresent: rows.onPresent,
		service: session.service,
		doubts: sink.doubts ?? WARN,
	});
	const settle = async ({ row, effect, error }: Previewed<SourceRow>): Promise<void> => {
		finder?.row(row);
		const { line, datasetId, documentId } = row;
		if (error !== undefined) {
			counts.failed += 1;
			await reportFailed({ item: row, documentId, attempts: 1, status: "failed", error });
			await failed.add(row.source, { ...error, line, attempts: 1 });
			return;
		}
		await checker?.effect(line, effect);
		await types?.effect(row, effect, documents);
		if (effect.action === "none") {
			const outcome = { item: row, documentId: effect.documentId, attempts: 1, status: "unchanged" } as const;
			counts.unchanged += 1;
			await sink.unchanged?.(outcome);
			return;
		}
		const { action, present, metadata, inexact, from } = effect;
		if (inexact !== undefined) warnOfInexact(session.service, effect.documentId, inexact);
		const difference = differenceOf(present, metadata, session.api.dialect.flavour.normalise, inexact);
		const file = action === "update" || action === "remove" || action === "rename" ? undefined : row.file?.path;
		const name = effect.name ?? row.name;
		const change: ShownChange = {
			action,
			line,
			datasetId,
			documentId: effect.documentId,
			name,
			from,
			file,
			difference,
		};
		tally.add(change);
		await sink.change(change, effect);
	};
	let isEnded = false;
	let next: string | undefined;
	let undeclared: DryResult["undeclared"];
	const work = async (): Promise<Stop | undefined> => {
		const { maxDuration = Number.POSITIVE_INFINITY, maxErrors } = flags;
		for await (const result of effectsOf(run, rows.read(), previewRow, documents)) {
			// Once a whole list was read, no further request is sent that a signal would end.
			if (app.signal.aborted) return stopOf(app.signal.reason);
			await settle(result);
			const totals = totalsNow();
			const total = totals.rows - totals.invalid - totals.duplicateSkipped;
			progress.update({ done: total - totals.pending + tally.documents, total, failed: totals.failed });
			const stop = errorLimit(maxErrors, totals);
			if (stop !== undefined) return stop;
			if (clock.now() - started > maxDuration) return timeIsUp(maxDuration);
		}
		progress.stop();
		const forbidden = (await checker?.end()) ?? types?.end();
		// Forbidden changes are shown, and never written into a plan.
		for await (const document of finder?.find(session, documents) ?? []) {
			tally.undeclared += 1;
			await sink.undeclared?.(document);
		}
		if (finder !== undefined) undeclared = { documents: tally.undeclared, fails: flags.undeclared === "fail" };
		isEnded = forbidden === undefined || sink.stopped === undefined;
		if (isEnded) next = await sink.end(tally, totalsNow());
		return forbidden;
	};
	try {
		const stop = await work().catch((error: unknown) => stopOrSignal(error, app.signal));
		progress.stop();
		if (!isEnded) await sink.cut?.(tally);
		const dry = { changes: tally.documents, isDetailed: flags.detailedExitcode === true, undeclared };
		const seconds = (clock.now() - started) / 1000;
		const file = await failed.close();
		const ended: Ended = {
			totals: totalsNow(),
			seconds,
			stop:
				stop === undefined || sink.stopped === undefined
					? stop
					: { ...stop, text: `${stop.text}; ${sink.stopped.text}` },
			dry,
			shard: rows.shard,
			next: stop === undefined ? next : sink.stopped?.next,
			failed: file,
		};
		return await report(run, ended);
	} finally {
		progress.stop();
		await documents.close();
	}
}

/**
 * Finds the documents that no row names, in the datasets that rows name. Memory holds a hash of each id.
 *
 * @param otherwise the dataset that is compared where there is no row
 */
function undeclaredFinder(otherwise: string | undefined) {
	const named = new SeenIds();
	const datasets = new Set<string>();
	return {
		row({ datasetId, documentId }: Pick<Row, "datasetId" | "documentId">): void {
			datasets.add(datasetId);
			named.add(keyOf(datasetId, documentId));
		},
		/**
		 * The documents, once all rows were given.
		 *
		 * @throws CliError exit 1 where a list can't be read as a whole: then it is not known what is undeclared
		 */
		async *find({ service, request }: Session, documents: DocumentSource): AsyncGenerator<UndeclaredDocument> {
			if (datasets.size === 0 && otherwise !== undefined) datasets.add(otherwise);
			if (datasets.size === 0) {
				throw usageError(
					"--undeclared needs a dataset, and there is no row that names one; nothing was sent",
					"Name it with --dataset.",
				);
			}
			for (const datasetId of datasets) {
				const api = await service.known(request);
				try {
					for await (const { id, name } of documents.wholeList(api, request, datasetId)) {
						if (named.add(keyOf(datasetId, id)) === "new") yield { datasetId, documentId: id, name };
					}
				} catch (error) {
					const why = rowErrorOf(error);
					if (why === undefined) throw error;
					throw new CliError(`--undeclared: ${why.text}`, {
						exit: Exit.failedRows,
						hint: "Run the command again, or leave --undeclared out.",
						cause: error,
					});
				}
			}
		},
	};
}

/** No id holds a NUL character. */
function keyOf(datasetId: string, documentId: string): string {
	return `${datasetId}\0${documentId}`;
}
