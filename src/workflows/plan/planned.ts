import type { ExitCode } from "../../errors.ts";
import type { DryRunFlags } from "../../flags/change-flags.ts";
import type { RunFlags } from "../../flags/flags.ts";
import { withFlags } from "../../flags/next-command.ts";
import type { Mode } from "../../plan/change.ts";
import type { DocumentSource } from "../../run/documents/document-source.ts";
import { FOREIGN } from "../../run/operations/namesakes.ts";
import type { OpenWork, Operation } from "../../run/operations/operation.ts";
import type { Parsing } from "../../run/operations/parsing.ts";
import { applyFile, previewFile, refuseReturned } from "../../run/operations/planned-files.ts";
import {
	CONFLICT,
	applyPlanned,
	preparePlannedUpdate,
	preparePlannedRemoval,
	type PlannedRules,
} from "../../run/operations/planned.ts";
import { Trash } from "../../run/operations/trash.ts";
import { KEYS_KEPT } from "../../run/service/arrival.ts";
import type { Effect, PreviewRow } from "../effect.ts";
import type { Run } from "../open-run.ts";
import {
	type DocumentRow,
	type FileRow,
	isDocumentRow,
	isFileRow,
	type PlannedRow,
	refuseFailing,
	type PlanKind,
	type PlanSource,
} from "./plan-rows.ts";
import { policyPrescan } from "../policy/prescan.ts";
import { changePrinter } from "../preview/change-printer.ts";
import { type ChangeSink, type PreviewFlags, preview } from "../preview/preview.ts";
import type { RunRecord } from "../run/open-record.ts";
import { type RowOperation, runRows } from "../run/run-rows.ts";

/** The handling of a planned change, by the present metadata of its document. */
export type PlanRules = {
	/** how the plan was made */
	readonly mode: Mode;
	/** `the plan was made`: since when a change by another client is a conflict */
	readonly since: string;
	/** whether a document counts as unchanged only if it has exactly what is planned, not what the service normalises that to */
	readonly isExact: boolean;
	/** whether no document is written of which it is doubted that it has no metadata */
	readonly mustKnow: boolean;
	/** until then, by the program's clock, a list may not show earlier writes; undefined where these are long ago */
	readonly listsLagUntil?: number | undefined;
	/** of a sync: its folder. A document is only removed while its file is missing there */
	readonly root?: string | undefined;
	/** of a sync: parses what it stores */
	readonly parsing?: Parsing | undefined;
	/** of a sync: keeps what it removes or replaces in the folder of the run */
	readonly hasTrash?: boolean | undefined;
};

/** Computes the present effect of a planned change. Each dry run needs its own. */
export function previewPlanned(run: Run, rules: PlanRules): PreviewRow<PlannedRow> {
	const reread = rereadOnce(run, rules);
	return async (row, { service, request }, documents) => {
		const { documentId } = row;
		if (isFileRow(row)) {
			await refuseChangedSince(row, { service, request }, judgedBy(run, rules, documents, reread(documents)));
			return previewFileRow(row, { service, request }, documents);
		}
		refuseFailing(row);
		const judged = judgedBy(run, rules, documents, reread(documents));
		if (row.planned.action === "remove") {
			const present = await preparePlannedRemoval(service, request, row, judged);
			if (present === undefined) return { action: "none", documentId };
			return { action: "remove", documentId, present, metadata: new Map() };
		}
		const found = await preparePlannedUpdate(service, request, { ...row, planned: row.planned }, judged);
		if (found.isSame) return { action: "none", documentId };
		const { present, document, metadata } = found;
		return { action: "update", documentId, name: document.name, present, inexact: document.inexact, metadata };
	};
}

/**
 * Sends the changes of a plan. A change of another client is overwritten if it falls between the reading of a document and
 * its write.
 */
export function sendPlanned(run: Run, rules: PlanRules): RowOperation<PlannedRow> {
	const reread = rereadOnce(run, rules);
	return (log, documents, name) => {
		const source = rules.mustKnow ? documents : documents.marksDoubts();
		const judged = judgedBy(run, rules, source, reread(source));
		const { service, timeout } = run.session;
		const trash = rules.hasTrash === true ? new Trash(trashOf(run, name), service) : undefined;
		const planned = applyPlanned<DocumentRow>(service, judged, {
			log,
			beforeRemoval: async (row, request) => {
				const { planned } = row;
				const path = planned.action === "remove" ? planned.path : undefined;
				if (rules.root !== undefined && path !== undefined) await refuseReturned(rules.root, path);
				await trash?.keep(row, request);
			},
		});
		const files = applyFile(service, source, { log, timeout, parsing: rules.parsing });
		const apply: Operation<PlannedRow> = async (row, request, memory) => {
			if (isFileRow(row)) {
				const isSent = memory.isLogged === true || log.earlier(row.index) !== undefined;
				if (row.planned.action === "replace" && !isSent) {
					await refuseChangedSince(row, { service, request }, judged);
					await trash?.keep(row, request);
				}
				return files(row, request, memory);
			}
			refuseFailing(row);
			return planned(row, request, memory);
		};
		const all = Object.assign(apply, {
			groupOf: ({ item, memory }: OpenWork<PlannedRow>) =>
				isDocumentRow(item) ? planned.groupOf?.({ item, memory }) : undefined,
		});
		const isParsed = (row: PlannedRow): boolean => ["upload", "replace"].includes(row.planned.action);
		const operation = rules.parsing?.after<PlannedRow>(all, isParsed) ?? all;
		return Object.assign(operation, {
			coming: (rows: readonly PlannedRow[]) => documents.expect(rows),
			expected: new Set([...(operation.expected ?? []), ...(rules.isExact ? [KEYS_KEPT] : []), FOREIGN]),
		});
	};
}

/** The folder of what a run removes or replaces. */
export function trashOf({ app, settings }: Pick<Run, "app" | "settings">, run: string): string {
	return app.runs(settings).path(run, "trash");
}

type Asking = Pick<Run["session"], "service" | "request">;

/** An undo leaves a document alone that was changed since its run. @throws RestError */
async function refuseChangedSince(row: FileRow, { service, request }: Asking, judged: PlannedRules): Promise<void> {
	const { was } = row.planned;
	if (was === undefined) return;
	await preparePlannedRemoval(service, request, { ...row, planned: { ...row.planned, action: "remove", was } }, judged);
}

async function previewFileRow(row: FileRow, { service, request }: Asking, documents: DocumentSource): Promise<Effect> {
	const { documentId, planned } = row;
	const { action, name } = planned;
	if (action === "keep") return { action: "none", documentId };
	const found = await previewFile(service, request, row, documents);
	return { action, documentId, name, from: planned.from, ...found };
}

/** The command that changes documents which were left alone because another client had changed them. */
export function forceHint({ run, name, journal }: RunRecord<PlannedRow>): string | undefined {
	if (journal.state.failedWith(CONFLICT) === 0) return undefined;
	const force = withFlags(`ragtag runs retry ${name} --force`, run.flags);
	return `Documents that were changed since were left alone. To change them as well: ${force}`;
}

/** Prints the changes of a plan, and says how to make them. */
export function planPrinter({ flags, app }: Run<PreviewFlags>): ChangeSink {
	const printer = changePrinter(flags, app);
	let documents = 0;
	return {
		...printer,
		end: async (tally) => {
			documents = tally.documents;
			await printer.end(tally);
		},
		get next() {
			const force = "--force also changes documents that were changed since.";
			return documents === 0 ? force : `The same command without --dry-run makes these changes; ${force}`;
		},
	};
}

function judgedBy(
	{ flags: { force = false } }: Run,
	{ mode, since, isExact }: PlanRules,
	documents: DocumentSource,
	waitForLists: PlannedRules["waitForLists"],
): PlannedRules & { readonly documents: DocumentSource } {
	return { isExact, waitForLists, documents, since, forced: force ? mode : undefined };
}

/** A list that was read too early may lack earlier writes. Then documents are read once more, for all rows. */
function rereadOnce(
	{ app }: Run,
	{ listsLagUntil = 0 }: PlanRules,
): (documents: DocumentSource) => PlannedRules["waitForLists"] {
	const { clock, signal } = app;
	let isRead = clock.now() >= listsLagUntil;
	return (documents) => {
		let isFresh = isRead;
		return async () => {
			if (isFresh || signal.aborted) return false;
			await clock.sleep(Math.max(0, listsLagUntil - clock.now()), signal);
			if (!isRead) documents.renew();
			isRead = true;
			isFresh = true;
			return true;
		};
	};
}

/** A plan that changes metadata. A row of it may say why its document can't be changed. */
export const CHANGES: PlanKind = { actions: ["update", "fail"], countsUnplanned: false };

/** The code of a document that has another value under the new name of a key. */
export const KEY_TAKEN = "KEY_TAKEN";

type Applying = {
	/** said before the first document is changed */
	readonly about: string;
	/** shows the changes, and sends nothing; undefined to send them */
	readonly sink: ChangeSink | undefined;
};

/** Sends the changes of a plan, or shows them. A document that was changed after the plan was made is left alone. */
export async function applyPlan(
	run: Run<RunFlags & DryRunFlags>,
	rows: PlanSource,
	{ about, sink }: Applying,
): Promise<ExitCode> {
	const { mode } = rows.header;
	// A replacement of all metadata is written whatever a document has.
	const rules = { mode, since: "the plan was made", isExact: false, mustKnow: mode !== "replace" };
	if (sink !== undefined) return await preview(run, rows, previewPlanned(run, rules), sink);
	const allowed = await policyPrescan(run, rows, previewPlanned(run, rules));
	run.app.io.note(about);
	return await runRows(run, allowed, sendPlanned(run, rules), {
		ending: (record) => ({ next: forceHint(record) ?? takenHint(record) }),
	});
}

function takenHint({ journal }: RunRecord<PlannedRow>): string | undefined {
	if (journal.state.failedWith(KEY_TAKEN) === 0) return undefined;
	return "Remove one of the two keys from these documents, then run the same command again.";
}
