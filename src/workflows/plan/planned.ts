import { changeFormat } from "../../flags/change-flags.ts";
import { isAsPlanned, keptWhenOverruled, keysChangedSince, overruled } from "../../plan/plan-file/planned.ts";
import type { Mode } from "../../plan/change.ts";
import { DocumentSource } from "../../run/documents/document-source.ts";
import {
	CONFLICT,
	doPlanned,
	preparePlannedUpdate,
	preparePlannedRemoval,
	type PlannedRules,
} from "../../run/operations/planned.ts";
import { withFlags } from "../../flags/next-command.ts";
import type { PreviewRow } from "../effect.ts";
import type { Run } from "../open-run.ts";
import { changePrinter, type ChangeSink, type PreviewFlags } from "../preview/preview.ts";
import { type RunRecord, type Sent, sendRows } from "../run/run-rows.ts";
import type { PlannedRow } from "./plan-rows.ts";

/** How the changes of a plan are judged by what their documents have now. */
export type PlanRules = {
	/** how the plan was made */
	readonly mode: Mode;
	/** `the plan was made`: since when a change by another client is a conflict */
	readonly since: string;
	/** whether a document is done only when it has exactly what is planned, whatever the service treats as equal */
	readonly isExact: boolean;
	/** until when, by the program's clock, a list may not show what was written before; undefined where that is long ago */
	readonly lagsUntil?: number;
};

/** What a change of the plan would do now. Each dry run needs one of its own. */
export function previewPlanned(run: Run, rules: PlanRules): PreviewRow<PlannedRow> {
	const catchUp = rereading(run, rules);
	return async (row, { service, request }, documents) => {
		const { documentId, planned } = row;
		const judged = judgedBy(run, rules, documents, catchUp(documents));
		if (planned.action === "remove") {
			const present = await preparePlannedRemoval(service, request, row, judged);
			if (present === undefined) return { action: "none", documentId };
			return { action: "remove", documentId, present, metadata: new Map() };
		}
		const found = await preparePlannedUpdate(service, request, { ...row, planned }, judged);
		if (found.isSame) return { action: "none", documentId };
		const { present, document, metadata } = found;
		return { action: "update", documentId, present, inexact: document.inexact, metadata };
	};
}

/**
 * Sends the changes of a plan. Each document is read right before it is written, whatever a list would cost: a list is as
 * old as the run, and what another client changed meanwhile would be overwritten.
 */
export async function sendPlanned(record: RunRecord<PlannedRow>, rules: PlanRules): Promise<Sent> {
	const { run } = record;
	const { app, settings, session } = run;
	const folder = (): Promise<string> => app.temporaryFolder(settings);
	const documents = new DocumentSource({ rows: undefined, folder, clock: app.clock });
	try {
		const judged = judgedBy(run, rules, documents, () => untilLagsAreOver(run, rules));
		return await sendRows(record, (log) => doPlanned(session.service, judged, log));
	} finally {
		await documents.close();
	}
}

/** What to type where documents were left alone because another client changed them. */
export function overruleHint({ run, name, journal }: RunRecord<PlannedRow>): string | undefined {
	if (journal.failedWith(CONFLICT) === 0) return undefined;
	const force = withFlags(`ragtag runs retry ${name} --force`, run.flags);
	return `Documents that were changed since were left alone. To change them as well: ${force}`;
}

/** Prints the changes of a plan, and says how to make them. */
export function planPrinter({ flags, app }: Run<PreviewFlags>): ChangeSink {
	const printer = changePrinter(changeFormat(flags), app);
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
	catchUp: PlannedRules["catchUp"],
): PlannedRules {
	const forced: PlannedRules["overruled"] = {
		metadata: (planned, now) => overruled(mode, planned, now),
		keepsValue: (planned, key) => keptWhenOverruled(mode, planned, key),
	};
	return {
		isExact,
		catchUp,
		present: documents,
		since,
		isAsPlanned,
		keysChangedSince,
		overruled: force ? forced : undefined,
	};
}

/** Waits until lists show what was written before the plan. Resolves with whether it had to. */
async function untilLagsAreOver({ app: { clock, signal } }: Run, { lagsUntil = 0 }: PlanRules): Promise<boolean> {
	const wait = lagsUntil - clock.now();
	if (wait <= 0 || signal.aborted) return false;
	await clock.sleep(wait, signal);
	return true;
}

/** What was read of documents may be from before lists showed all. Then they are read once more, for all rows. */
function rereading(run: Run, rules: PlanRules): (documents: DocumentSource) => PlannedRules["catchUp"] {
	const { clock, signal } = run.app;
	let isRead = clock.now() >= (rules.lagsUntil ?? 0);
	return (documents) => {
		let isFresh = isRead;
		return async () => {
			if (isFresh || signal.aborted) return false;
			await untilLagsAreOver(run, rules);
			if (!isRead) documents.renew();
			isRead = true;
			isFresh = true;
			return true;
		};
	};
}
