import type { App, Session, Settings } from "../../app.ts";
import type { ExitCode } from "../../errors.ts";
import type { Row } from "../../manifest/types.ts";
import { differenceOf } from "../../plan/change.ts";
import { ChangeTally } from "../../report/change-tally.ts";
import { READS_IN_FLIGHT } from "../../run/rate/concurrency.ts";
import { stopOf } from "../../run/stop/shutdown.ts";
import { MemoryJournal } from "../../run/journal/memory-journal.ts";
import { errorLimit } from "../../run/stop/limits.ts";
import { rowErrorOf } from "../../run/operations/prepare-update.ts";
import { inOrder } from "../../run/ordered.ts";
import { rowsByDataset } from "../../run/documents/listed-datasets.ts";
import { warnOfInexact } from "../../run/documents/before-images.ts";
import { DocumentSource } from "../../run/documents/document-source.ts";
import { timeIsUp } from "../../run/stop/reasons.ts";
import type { RowError, Stop, Totals } from "../../run/types.ts";
import type { ShownChange } from "../../report/changes.ts";
import type { DryRunFlags } from "../../flags/change-flags.ts";
import { FailedWriter } from "../run/failed-writer.ts";
import type { RowFlags } from "../../flags/flags.ts";
import { PolicyChecker } from "../policy/policy-checker.ts";
import { stopOrSignal } from "../stop-from-error.ts";
import { type Ended, report } from "../run/run-report.ts";
import type { RowSource, RunItem } from "../rows/row-source.ts";
import type { Effect, EffectChange } from "../effect.ts";
import { rowTeller } from "../run/rows-reporter.ts";

/** Where the changes that a dry run finds go: they are shown, or written down. */
export type ChangeSink = {
	/** in the order of the rows */
	change(change: ShownChange, seen: EffectChange): Promise<void>;
	/** when all were seen; not where the run was stopped */
	end(tally: ChangeTally, totals: Totals): Promise<void>;
	/** what to type next, where it is not the same command without `--dry-run`; asked for behind the end */
	readonly next?: string | undefined;
	/** what is said beside the reason of one that was stopped, and what to type then */
	readonly stopped?: { readonly text: string; readonly next: string };
};

export type DryRun<Item extends RunItem, SourceRow extends Row = Row> = {
	readonly source: RowSource<SourceRow>;
	readonly itemOf: (row: SourceRow) => Item;
	/**
	 * Looks at what there is, as the run would, and sends nothing that writes. `present` is what documents have.
	 *
	 * @throws RestError where the run would fail the row
	 */
	readonly see: (item: Item, session: Session, present: DocumentSource) => Promise<Effect>;
	/** rows that are told with `--json`, beside those that would change: those that failed, or all */
	readonly tell: "failed" | "all";
	/** whether the profile's policy is not asked */
	readonly isExempt?: boolean;
	readonly sink: ChangeSink;
};

type Looked<Item> = { readonly item: Item } & ({ readonly seen: Effect } | { readonly error: RowError });

/**
 * Shows what a run would change, document by document in the order of the manifest. It looks as the run would, and sends
 * nothing that writes; nothing is recorded.
 */
export async function dryRun<Item extends RunItem, SourceRow extends Row = Row>(
	{ source, itemOf, see, tell, isExempt = false, sink }: DryRun<Item, SourceRow>,
	flags: RowFlags & Pick<DryRunFlags, "detailedExitcode">,
	session: Session,
	settings: Settings,
	app: App,
): Promise<ExitCode> {
	const { io, clock } = app;
	const json = flags.json === true;
	const journal = new MemoryJournal<Item>(
		source,
		rowTeller(source.linesOf ?? source.name, { json, all: tell === "all" }, app),
	);
	const failed = new FailedWriter(flags.failed, source.failedRows);
	const tally = new ChangeTally();
	const policy = isExempt ? undefined : settings.policy;
	const watch = policy === undefined ? undefined : new PolicyChecker(policy, source, flags, app);
	const progress = io.progress(flags.progress);
	const started = clock.now();
	const present = new DocumentSource({
		rows: () => rowsByDataset(source.read()),
		folder: () => app.temporaryFolder(settings),
		clock,
	});
	const look = async (row: SourceRow): Promise<Looked<Item>> => {
		const item = itemOf(row);
		try {
			return { item, seen: await see(item, session, present) };
		} catch (error) {
			const why = rowErrorOf(error);
			if (why === undefined) throw error;
			return { item, error: why };
		}
	};
	const settle = async (looked: Looked<Item>): Promise<void> => {
		const { item } = looked;
		const { line, datasetId, documentId, fileName } = item;
		if ("error" in looked) {
			const { code, text } = looked.error;
			await journal.record({ item, documentId, attempts: 1, status: "failed", error: looked.error });
			await failed.add(item.source, { line, errorCode: code, error: text, attempts: 1 });
			return;
		}
		const { seen } = looked;
		const { normalise } = session.service.api.dialect.flavour;
		await watch?.see(line, seen, normalise);
		if (seen.action === "none") {
			await journal.record({ item, documentId: seen.documentId, attempts: 1, status: "unchanged" });
			return;
		}
		const { present: has, metadata, inexact } = seen;
		if (inexact !== undefined) warnOfInexact(session.service, seen.documentId, inexact);
		const difference = differenceOf(has, metadata, normalise, inexact);
		const file = seen.action === "upload" ? fileName : undefined;
		const change: ShownChange = { action: seen.action, line, datasetId, documentId: seen.documentId, file, difference };
		tally.add(change);
		await sink.change(change, seen);
	};
	const work = async (): Promise<Stop | undefined> => {
		const { maxDuration = Number.POSITIVE_INFINITY, concurrency, maxErrors } = flags;
		for await (const looked of inOrder(source.read(), look, concurrency === "auto" ? READS_IN_FLIGHT : concurrency)) {
			// Behind a list of all nothing is asked any more that a signal would end.
			if (app.signal.aborted) return stopOf(app.signal.reason);
			await settle(looked);
			const totals = journal.totals();
			const total = totals.rows - totals.invalid - totals.duplicateSkipped;
			progress.update({ done: total - totals.pending + tally.documents, total, failed: totals.failed });
			const stop = errorLimit(maxErrors, totals);
			if (stop !== undefined) return stop;
			if (clock.now() - started > maxDuration) return timeIsUp(maxDuration);
		}
		progress.stop();
		const forbidden = await watch?.end();
		// What is forbidden is shown, and never written down to be sent.
		if (forbidden === undefined || sink.stopped === undefined) await sink.end(tally, journal.totals());
		return forbidden;
	};
	try {
		const stop = await work().catch((error: unknown) => stopOrSignal(error, app.signal));
		progress.stop();
		const dry = { changes: tally.documents, isDetailed: flags.detailedExitcode === true };
		const seconds = (clock.now() - started) / 1000;
		const file = await failed.close();
		const ended: Ended = {
			totals: journal.totals(),
			seconds,
			stop:
				stop === undefined || sink.stopped === undefined
					? stop
					: { ...stop, text: `${stop.text}; ${sink.stopped.text}` },
			dry,
			next: stop === undefined ? sink.next : sink.stopped?.next,
			...(file === undefined ? {} : { failed: file }),
		};
		return await report(ended, flags, app);
	} finally {
		progress.stop();
		await present.close();
	}
}
