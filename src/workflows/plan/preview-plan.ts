import type { Session } from "../../app.ts";
import { isAsPlanned, keptWhenOverruled, keysChangedSince, overruled } from "../../plan/plan-file/planned.ts";
import {
	preparePlannedUpdate,
	preparePlannedRemoval,
	type PlannedItem,
	type PlannedRules,
} from "../../run/operations/planned.ts";
import type { DocumentSource } from "../../run/documents/document-source.ts";
import type { Effect } from "../effect.ts";
import type { RunItem } from "../rows/row-source.ts";
import type { PlanRun } from "./plan-kind.ts";
import type { PlannedRow } from "./plan-rows.ts";

/** A change of a plan, as the engine and the failed-rows file need it. */
export type PlanItem = RunItem & PlannedItem;

export function itemOf({ index, line, datasetId, documentId, source, planned }: PlannedRow): PlanItem {
	return { index, line, datasetId, documentId, source, planned };
}

/** How a change is judged by what its document has now. */
export function rulesOf(
	run: PlanRun,
	present: DocumentSource,
	catchUp: PlannedRules["catchUp"] = () => untilLagsAreOver(run),
): PlannedRules {
	const { header } = run.plan;
	const { since, isExact } = run.kind;
	const { flags } = run;
	return {
		isExact,
		catchUp,
		present,
		since,
		isAsPlanned,
		keysChangedSince,
		overruled:
			flags.force === true
				? {
						metadata: (planned, now) => overruled(header.mode, planned, now),
						keepsValue: (planned, key) => keptWhenOverruled(header.mode, planned, key),
					}
				: undefined,
	};
}

/** Waits until lists show what was written before the plan. Resolves with whether it had to. */
async function untilLagsAreOver({ kind: { lagsUntil = 0 }, app: { clock, signal } }: PlanRun): Promise<boolean> {
	const wait = lagsUntil - clock.now();
	if (wait <= 0 || signal.aborted) return false;
	await clock.sleep(wait, signal);
	return true;
}

/** What is seen of documents may have been read before lists could show all: then it is read once more, for all rows. */
function rereading(run: PlanRun): (present: DocumentSource) => PlannedRules["catchUp"] {
	const { lagsUntil = 0 } = run.kind;
	const begun = run.app.clock.now();
	let isRead = begun >= lagsUntil;
	return (present) => {
		let isFresh = isRead;
		return async () => {
			if (isFresh || run.app.signal.aborted) return false;
			await untilLagsAreOver(run);
			if (!isRead) present.renew();
			isRead = true;
			isFresh = true;
			return true;
		};
	};
}

/** Looks at what a change of the plan would do now. */
export function seeOf(run: PlanRun) {
	const catchUp = rereading(run);
	return async (item: PlanItem, { service, request }: Session, present: DocumentSource): Promise<Effect> => {
		const { documentId, planned } = item;
		const rules = rulesOf(run, present, catchUp(present));
		if (planned.action === "remove") {
			const has = await preparePlannedRemoval(service, request, item, rules);
			if (has === undefined) return { action: "none", documentId };
			return { action: "remove", documentId, present: has, metadata: new Map() };
		}
		const looked = await preparePlannedUpdate(service, request, { ...item, planned }, rules);
		if (looked.isSame) return { action: "none", documentId };
		const { present: has, document, metadata } = looked;
		return { action: "update", documentId, present: has, inexact: document.inexact, metadata };
	};
}
