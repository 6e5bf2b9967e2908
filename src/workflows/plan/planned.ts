import { isAsPlanned, isKeptWhenForced, keysChangedSince, forcedMetadata } from "../../plan/plan-file/planned.ts";
import type { Mode } from "../../plan/change.ts";
import { DocumentSource } from "../../run/documents/document-source.ts";
import type { Doubts } from "../../run/documents/searches.ts";
import {
	CONFLICT,
	applyPlanned,
	preparePlannedUpdate,
	preparePlannedRemoval,
	type PlannedRules,
} from "../../run/operations/planned.ts";
import { withFlags } from "../../flags/next-command.ts";
import type { PreviewRow } from "../effect.ts";
import type { Run } from "../open-run.ts";
import { changePrinter } from "../preview/change-printer.ts";
import type { ChangeSink, PreviewFlags } from "../preview/preview.ts";
import type { RunRecord } from "../run/open-record.ts";
import { type Sent, sendRows } from "../run/run-rows.ts";
import type { PlannedRow } from "./plan-rows.ts";

/** The handling of a planned change, by the present metadata of its document. */
export type PlanRules = {
	/** how the plan was made */
	readonly mode: Mode;
	/** `the plan was made`: since when a change by another client is a conflict */
	readonly since: string;
	/** whether a document counts as unchanged only if it has exactly what is planned, not what the service normalises that to */
	readonly isExact: boolean;
	/** what is done about documents that show no metadata, where a list may hide it */
	readonly doubts: Doubts;
	/** until then, by the program's clock, a list may not show earlier writes; undefined where these are long ago */
	readonly listsLagUntil?: number;
};

/** Computes the present effect of a planned change. Each dry run needs its own. */
export function previewPlanned(run: Run, rules: PlanRules): PreviewRow<PlannedRow> {
	const reread = rereadOnce(run, rules);
	return async (row, { service, request }, documents) => {
		const { documentId, planned } = row;
		const judged = judgedBy(run, rules, documents, reread(documents));
		if (planned.action === "remove") {
			const present = await preparePlannedRemoval(service, request, row, judged);
			if (present === undefined) return { action: "none", documentId };
			return { action: "remove", documentId, present, metadata: new Map() };
		}
		const found = await preparePlannedUpdate(service, request, { ...row, planned }, judged);
		if (found.isSame) return { action: "none", documentId };
		const { present, document, metadata } = found;
		return { action: "update", documentId, name: document.name, present, inexact: document.inexact, metadata };
	};
}

/**
 * Sends the changes of a plan. Each document is read right before it is written, even if one list would cost fewer requests:
 * a list is as old as the run, and a later change of another client would be overwritten.
 */
export async function sendPlanned(record: RunRecord<PlannedRow>, rules: PlanRules): Promise<Sent> {
	const { run } = record;
	const { app, settings, session } = run;
	const folder = (): Promise<string> => app.temporaryFolder(settings);
	const documents = new DocumentSource({ rows: undefined, folder, service: session.service, doubts: rules.doubts });
	try {
		const judged = judgedBy(run, rules, documents, () => waitForLaggingLists(run, rules));
		return await sendRows(record, (log) => applyPlanned(session.service, judged, log));
	} finally {
		await documents.close();
	}
}

/** The command that changes documents which were left alone because another client had changed them. */
export function forceHint({ run, name, journal }: RunRecord<PlannedRow>): string | undefined {
	if (journal.failedWith(CONFLICT) === 0) return undefined;
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
): PlannedRules {
	const forced: PlannedRules["forced"] = {
		metadata: (planned, now) => forcedMetadata(mode, planned, now),
		keepsValue: (planned, key) => isKeptWhenForced(mode, planned, key),
	};
	return {
		isExact,
		waitForLists,
		documents,
		since,
		isAsPlanned,
		keysChangedSince,
		forced: force ? forced : undefined,
	};
}

/** Waits until lists show the writes from before the plan. Resolves with whether it waited. */
async function waitForLaggingLists(
	{ app: { clock, signal } }: Run,
	{ listsLagUntil = 0 }: PlanRules,
): Promise<boolean> {
	const wait = listsLagUntil - clock.now();
	if (wait <= 0 || signal.aborted) return false;
	await clock.sleep(wait, signal);
	return true;
}

/** A list that was read too early may lack earlier writes. Then documents are read once more, for all rows. */
function rereadOnce(run: Run, rules: PlanRules): (documents: DocumentSource) => PlannedRules["waitForLists"] {
	const { clock, signal } = run.app;
	let isRead = clock.now() >= (rules.listsLagUntil ?? 0);
	return (documents) => {
		let isFresh = isRead;
		return async () => {
			if (isFresh || signal.aborted) return false;
			await waitForLaggingLists(run, rules);
			if (!isRead) documents.renew();
			isRead = true;
			isFresh = true;
			return true;
		};
	};
}
