import type { ExitCode } from "../../errors.ts";
import type { DryRunFlags } from "../../flags/change-flags.ts";
import type { RunFlags } from "../../flags/flags.ts";
import { quoted, withFlags } from "../../flags/next-command.ts";
import type { Mode } from "../../plan/change.ts";
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
import type { PreviewRow } from "../effect.ts";
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
import { changePrinter, type ChangeSink } from "../preview/change-printer.ts";
import { type PreviewFlags, preview } from "../preview/preview.ts";
import type { RunRecord } from "../run/open-record.ts";
import { type RowOperation, runRows } from "../run/run-rows.ts";

/** The handling of a planned change, by the present metadata of its document. */
export type PlanRules = Omit<PlannedRules, "documents"> & {
	/** whether no document is written of which it is doubted that it has no metadata */
	readonly mustKnow: boolean;
	/** of a sync: its folder. A document is only removed while its file is missing there */
	readonly root?: string | undefined;
	/** of a sync: parses what it stores */
	readonly parsing?: Parsing | undefined;
	/** of a sync: keeps what it removes or replaces in the folder of the run */
	readonly hasTrash?: boolean | undefined;
};

/** The rules of a plan that was made by that mode. */
export function rulesOfPlan({ flags: { force } }: Run, mode: Mode): Omit<PlanRules, "mustKnow"> {
	return { forced: force === true ? mode : undefined, since: "the plan was made", isExact: false };
}

/** Computes the present effect of a planned change. */
export function previewPlanned(rules: PlanRules): PreviewRow<PlannedRow> {
	return async (row, { service, request }, documents) => {
		const { documentId } = row;
		const judged = { ...rules, documents };
		if (isFileRow(row)) {
			const { action, name, from } = row.planned;
			await refuseChangedSince(row, { service, request }, judged);
			if (action === "keep") return { action: "none", documentId };
			return { action, documentId, name, from, ...(await previewFile(service, request, row, documents)) };
		}
		refuseFailing(row);
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
	return (log, documents, name) => {
		const source = rules.mustKnow ? documents : documents.marksDoubts();
		const judged = { ...rules, documents: source };
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

/** The command that changes documents which were left alone because another client had changed them. */
export function forceHint({ run, name, journal }: RunRecord<PlannedRow>): string | undefined {
	if (journal.state.failedWith(CONFLICT) === 0) return undefined;
	const force = withFlags(`ragtag runs retry ${name} --force`, run.flags);
	return `Documents that were changed since were left alone. To change them as well: ${force}`;
}

/** Prints the changes of a plan, and says how to make them. */
export function planPrinter({ flags, app }: Run<PreviewFlags>): ChangeSink {
	const force = "--force also changes documents that were changed since.";
	const all = `The same command without --dry-run makes these changes; ${force}`;
	return changePrinter(flags, app, (documents) => (documents === 0 ? force : all));
}

/** The same of a plan that was made now. A note says how to send one that is kept. */
export function newPlanPrinter({ flags, app }: Run<PreviewFlags & { readonly out?: string | undefined }>): ChangeSink {
	const { out } = flags;
	const again = "The same command without --dry-run makes these changes.";
	if (out === undefined) return changePrinter(flags, app, () => again);
	const apply = `Send it with: ${withFlags(`ragtag docs apply ${quoted(out)}`, flags)}`;
	const printer = changePrinter(flags, app, () => apply);
	return {
		...printer,
		end: async (tally) => {
			const next = await printer.end(tally);
			app.io.note(`The plan: ${out}. ${apply}`);
			return next;
		},
	};
}

/** A plan that changes metadata. A row of it may say why its document can't be changed. */
export const CHANGES: PlanKind = { actions: ["update", "fail"], countsUnplanned: false };

/** The code of a document that has another value under the new name of a key. */
export const KEY_TAKEN = "KEY_TAKEN";

/** Shows the changes of a plan of metadata. */
export function previewChanges(
	run: Run<RunFlags & DryRunFlags>,
	rows: PlanSource,
	sink: ChangeSink,
): Promise<ExitCode> {
	return preview(run, rows, previewPlanned(rulesOfChanges(run, rows)), sink);
}

/**
 * Sends the changes of a plan of metadata. A document that was changed after the plan was made is left alone.
 *
 * @param about is said before the first document is changed
 */
export async function sendChanges(run: Run, rows: PlanSource, about: string): Promise<ExitCode> {
	const rules = rulesOfChanges(run, rows);
	const allowed = await policyPrescan(run, rows, previewPlanned(rules));
	run.app.io.note(about);
	return await runRows(run, allowed, sendPlanned(run, rules), {
		ending: (record) => ({ next: forceHint(record) ?? takenHint(record) }),
	});
}

function rulesOfChanges(run: Run, { header: { mode } }: PlanSource): PlanRules {
	// A replacement of all metadata is written whatever a document has.
	return { ...rulesOfPlan(run, mode), mustKnow: mode !== "replace" };
}

function takenHint({ journal }: RunRecord<PlannedRow>): string | undefined {
	if (journal.state.failedWith(KEY_TAKEN) === 0) return undefined;
	return "Remove one of the two keys from these documents, then run the same command again.";
}
