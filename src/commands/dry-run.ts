import type { App, Session, Settings } from "../app.ts";
import type { ExitCode } from "../errors.ts";
import type { Row } from "../manifest/types.ts";
import { differenceOf } from "../plan/diff.ts";
import { ChangeTally } from "../report/changes/tally.ts";
import { stopOf } from "../run/ending.ts";
import { MemoryJournal } from "../run/journal.ts";
import { errorLimit } from "../run/limits.ts";
import { type Looked, whyFailed } from "../run/operations/look.ts";
import { inOrder } from "../run/ordered.ts";
import { rowsByDataset } from "../run/present/cost.ts";
import { Present } from "../run/present/present.ts";
import { timeIsUp } from "../run/stops.ts";
import type { RowError, Stop, Totals } from "../run/types.ts";
import type { ShownChange } from "../report/changes/shown-change.ts";
import { FailedWriter } from "./failed-writer.ts";
import type { LookFlags } from "./flags.ts";
import { type Ended, faultStop, report } from "./run-report.ts";
import type { RowSource, RunItem } from "./run-rows.ts";
import { rowTeller } from "./tell-rows.ts";

/** Looks in flight, where nothing else is said: enough for the rate at the latency of a far service. */
const LOOKS = 32;

/** Where the changes that a dry run finds go: they are shown, or written down. */
export type ChangeSink = {
	/** in the order of the rows */
	change(change: ShownChange, looked: Looked): Promise<void>;
	/** when all were seen; not where the run was stopped */
	end(tally: ChangeTally, totals: Totals): Promise<void>;
	/** what to type next, where it is not the same command without `--dry-run` */
	readonly next?: string;
	/** what is said beside the reason of one that was stopped, and what to type then */
	readonly stopped?: { readonly text: string; readonly next: string };
};

export type DryRun<Item extends RunItem, SourceRow extends Row = Row> = {
	readonly source: RowSource<SourceRow>;
	readonly itemOf: (row: SourceRow) => Item;
	/** looks as the run would, and sends nothing that writes */
	readonly look: (item: Item, present: Present) => Promise<Looked>;
	/** as in a run */
	readonly asksForEach?: boolean;
	readonly sink: ChangeSink;
};

export type DryRunFlags = LookFlags & { readonly detailedExitcode?: boolean };

type Seen<Item> = { readonly item: Item } & ({ readonly looked: Looked } | { readonly error: RowError });

/**
 * Shows what a run would change, document by document in the order of the manifest. It looks as the run would, and sends
 * nothing that writes; nothing is recorded.
 */
export async function dryRun<Item extends RunItem, SourceRow extends Row = Row>(
	{ source, itemOf, look, asksForEach = false, sink }: DryRun<Item, SourceRow>,
	flags: DryRunFlags,
	session: Session,
	settings: Settings,
	app: App,
): Promise<ExitCode> {
	const { io, clock } = app;
	const json = flags.json === true;
	const journal = new MemoryJournal<Item>(source, rowTeller(source.linesOf ?? source.name, { json, all: false }, app));
	const failed = new FailedWriter(flags.failed, source.failedRows);
	const tally = new ChangeTally();
	const progress = io.progress(flags.progress);
	const started = clock.now();
	const present = new Present({
		rows: asksForEach ? undefined : () => rowsByDataset(source.read()),
		folder: () => app.temporaryFolder(settings),
		clock,
	});
	const see = async (row: SourceRow): Promise<Seen<Item>> => {
		const item = itemOf(row);
		try {
			return { item, looked: await look(item, present) };
		} catch (error) {
			const why = whyFailed(error);
			if (why === undefined) throw error;
			return { item, error: why };
		}
	};
	const settle = async (seen: Seen<Item>): Promise<void> => {
		const { item } = seen;
		const outcome = { item, documentId: item.documentId, attempts: 1 };
		if ("error" in seen) {
			const { code, text } = seen.error;
			await journal.record({ ...outcome, status: "failed", error: seen.error });
			await failed.add(item.source, { line: item.line, errorCode: code, error: text, attempts: 1 });
		} else if (seen.looked.isSame) await journal.record({ ...outcome, status: "unchanged" });
		else {
			const { keeps } = session.service.api.dialect.flavour;
			const difference = differenceOf(seen.looked.present, seen.looked.metadata, keeps);
			tally.see(difference);
			const { line, datasetId, documentId } = item;
			await sink.change({ line, datasetId, documentId, difference }, seen.looked);
		}
	};
	const work = async (): Promise<Stop | undefined> => {
		const { maxDuration = Number.POSITIVE_INFINITY, concurrency, maxErrors } = flags;
		for await (const seen of inOrder(source.read(), see, concurrency === "auto" ? LOOKS : concurrency)) {
			await settle(seen);
			const totals = journal.totals();
			const total = totals.rows - totals.invalid - totals.duplicateSkipped;
			progress.update({ done: total - totals.pending + tally.documents, total, failed: totals.failed });
			const stop = errorLimit(maxErrors, totals);
			if (stop !== undefined) return stop;
			if (clock.now() - started > maxDuration) return timeIsUp(maxDuration);
		}
		progress.stop();
		await sink.end(tally, journal.totals());
		return undefined;
	};
	try {
		const broken = (error: unknown): Stop => (app.signal.aborted ? stopOf(app.signal.reason) : faultStop(error));
		const stop = await work().catch(broken);
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
