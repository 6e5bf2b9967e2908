import type { Row } from "../../manifest/types.ts";
import { needsPresent } from "../../plan/policy.ts";
import { DocumentSource } from "../../run/documents/document-source.ts";
import { MARK, REFUSE } from "../../run/documents/searches.ts";
import { RowNumbers } from "../../run/journal/row-states.ts";
import { timeIsUp } from "../../run/stop/reasons.ts";
import { stopOf, stopOrSignal } from "../../run/stop/shutdown.ts";
import type { Stop } from "../../run/types.ts";
import { resumeCommand } from "../../flags/next-command.ts";
import { effectsOf, type PreviewRow } from "../effect.ts";
import type { Run } from "../open-run.ts";
import { stopIfMetadataHidden } from "../readable.ts";
import { endBefore, endUnbegun } from "../report.ts";
import { type AllowedRows, type RowSource, unsettled } from "../rows/row-source.ts";
import { refuseWhileSending } from "../../run/recorded/run-lock.ts";
import { runSpecOf, unfinishedRun } from "../run/earlier-runs.ts";
import { type PolicyChecker, policyChecker, type TypeChecker, typeChecker } from "./checkers.ts";

type PrescanOptions = {
	/** whether rows are compared with what their documents have */
	readonly compares?: boolean | undefined;
	/** whether the run goes on with the lists that were read here: only names may be as old as that */
	readonly keepsLists?: boolean | undefined;
};

/**
 * If the profile has a policy, or keys have types at the service, checks all effects of a run before its first write. It sends
 * nothing that writes. Rows that an earlier execution settled are left out.
 *
 * @returns the rows
 * @throws EarlyEnd where the policy forbids the run, or where not all could be judged
 */
export async function policyPrescan<SourceRow extends Row>(
	run: Run,
	rows: RowSource<SourceRow>,
	previewRow: PreviewRow<SourceRow>,
	{ compares = true, keepsLists = false }: PrescanOptions = {},
): Promise<AllowedRows<SourceRow>> {
	let kept: DocumentSource | undefined;
	const allowed = await judge(run, rows, async (open, checkers, unjudged, left) => {
		const { flags, session, settings, app } = run;
		const { clock, io } = app;
		const { policy } = settings;
		const what = policy === undefined ? "the types of values" : `the policy of ${policy.origin}`;
		if (policy !== undefined && compares && needsPresent(policy.value)) {
			const hint = "The policy can't be checked without metadata: use a profile without such a policy.";
			const stop = await stopIfMetadataHidden(run, { read: open }, what, hint);
			if (stop !== undefined) return stop;
		}
		if (policy !== undefined)
			io.note(`The policy of ${policy.origin} is checked on all rows before the first is sent.`);
		const documents = new DocumentSource({
			rows: rows.rowsByDataset,
			rowsLeft: left,
			folder: () => app.temporaryFolder(settings),
			service: session.service,
			// A type that is not known is found out by the write.
			doubts: policy === undefined ? MARK : REFUSE,
			onPresent: rows.onPresent,
		});
		app.monitor.enter("checking", what);
		let judged = 0;
		const started = clock.now();
		const { maxDuration = Number.POSITIVE_INFINITY } = flags;
		try {
			for await (const { row, effect } of effectsOf(run, open(), previewRow, documents)) {
				app.monitor.count({ done: (judged += 1), unit: "rows" });
				if (effect === undefined) {
					// The run reports why, for instance that the document does not exist.
					if (policy !== undefined) unjudged.set(row.index, 1);
					continue;
				}
				await checkers.policy?.effect(row.line, effect);
				await checkers.types?.effect(row, effect, documents);
				if (clock.now() - started > maxDuration) return timeIsUp(maxDuration);
			}
			if (keepsLists) kept = documents;
			return undefined;
		} finally {
			if (kept === undefined) await documents.close();
		}
	});
	return { ...allowed, documents: kept };
}

/** The same for rows that make documents, or whose documents are not read: their metadata is all that can be judged. */
export async function prescanCreations(run: Run, rows: RowSource): Promise<AllowedRows> {
	await judge(withoutTypes(run), rows, async (open, { policy }) => {
		for await (const { line, metadata } of open()) await policy?.creation(line, metadata);
		return undefined;
	});
	// Only this needs a request.
	return judge({ ...run, settings: { ...run.settings, policy: undefined } }, rows, async (open, { types }) => {
		for await (const row of open()) await types?.values(row, row.metadata);
		return undefined;
	});
}

/** The same for rows whose documents are removed: only their number counts. */
export function prescanRemovals(run: Run, rows: RowSource): Promise<AllowedRows> {
	return judge(withoutTypes(run), rows, async (open, { policy }) => {
		for await (const { line } of open()) policy?.change(line);
		return undefined;
	});
}

/** A run whose rows are not checked: neither a policy that a run broke nor a type that it changed may block its undo. */
export function unchecked<Flags>(run: Run<Flags>): Run<Flags> {
	return { ...withoutTypes(run), settings: { ...run.settings, policy: undefined } };
}

function withoutTypes<Flags>(run: Run<Flags>): Run<Flags> {
	return { ...run, flags: { ...run.flags, allowTypeChange: true } };
}

type Checkers = { readonly policy: PolicyChecker | undefined; readonly types: TypeChecker | undefined };

/**
 * Passes every row that is still to be sent to the checkers. Resolves with the reason if that ended before the last row.
 *
 * @param open may be called more than once
 * @param unjudged is set for rows that could not be judged
 * @param left rows that are still to be sent, of a run that goes on
 */
type Pass<SourceRow extends Row> = (
	open: () => AsyncIterable<SourceRow>,
	checkers: Checkers,
	unjudged: RowNumbers,
	left: number | undefined,
) => Promise<Stop | undefined>;

async function judge<SourceRow extends Row>(
	run: Run,
	rows: RowSource<SourceRow>,
	pass: Pass<SourceRow>,
): Promise<AllowedRows<SourceRow>> {
	const { flags, settings, app } = run;
	const unjudged = new RowNumbers();
	const policy = policyChecker(run, rows);
	if (policy !== undefined || flags.allowTypeChange !== true) {
		// The command ends before its first request where another run of these rows is going on.
		const options = { runs: app.runs(settings), force: flags.force === true };
		await refuseWhileSending(runSpecOf(run, rows), options).catch((error: unknown) => endUnbegun(run, rows, error));
	}
	const types = rows.rows === 0 ? undefined : await typeChecker(run, rows);
	if (policy === undefined && types === undefined) return { ...rows, unjudged };
	const started = app.clock.now();
	const resumed = await unfinishedRun(run, rows);
	const open = (): AsyncIterable<SourceRow> =>
		untilStopped(resumed === undefined ? rows.read() : unsettled(rows, resumed), app.signal);
	const passed = async (): Promise<Stop | undefined> => {
		const cut = await pass(open, { policy, types }, unjudged, resumed?.totals.pending);
		// After its last request the pass does not notice a signal, and a run that was stopped must not begin.
		return app.signal.aborted ? stopOf(app.signal.reason) : cut;
	};
	const cut = await passed().catch((error: unknown) => stopOrSignal(error, app.signal));
	const forbidden = (await policy?.end()) ?? types?.end();
	// Where only types are checked, a run that meets the same says so in its own way.
	const isLeftToTheRun = policy === undefined && !app.signal.aborted;
	const stop = (isLeftToTheRun ? undefined : cut) ?? forbidden;
	if (stop === undefined) return { ...rows, unjudged };
	const seconds = (app.clock.now() - started) / 1000;
	if (resumed === undefined) return endBefore(run, rows, stop, { seconds });
	const { run: name, totals } = resumed;
	return endBefore(run, rows, stop, { seconds, totals, run: name, resume: resumeCommand(name, flags) });
}

async function* untilStopped<Item>(items: AsyncIterable<Item>, signal: AbortSignal): AsyncGenerator<Item> {
	for await (const item of items) {
		if (signal.aborted) return;
		yield item;
	}
}
