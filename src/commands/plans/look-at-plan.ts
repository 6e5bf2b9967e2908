import type { Session } from "../../app.ts";
import { isAsPlanned, keptWhenOverruled, keysChangedSince, overruled } from "../../plan/plan-file/rules.ts";
import { lookPlanned, lookPlannedRemoval, type PlannedItem, type PlannedRules } from "../../run/operations/planned.ts";
import type { Present } from "../../run/present/present.ts";
import type { Seen } from "../looks/seen.ts";
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
	{ plan: { header }, kind: { since, isExact, lagsUntil = 0 }, flags, app: { clock, signal } }: PlanRun,
	present: Present,
): PlannedRules {
	return {
		isExact,
		catchUp: async () => {
			const wait = lagsUntil - clock.now();
			if (wait <= 0 || signal.aborted) return false;
			await clock.sleep(wait, signal);
			return true;
		},
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

/** Looks at what a change of the plan would do now. */
export function seeOf(run: PlanRun) {
	return async (item: PlanItem, { service, request }: Session, present: Present): Promise<Seen> => {
		const { documentId, planned } = item;
		const rules = rulesOf(run, present);
		if (planned.action === "remove") {
			const has = await lookPlannedRemoval(service, request, item, rules);
			if (has === undefined) return { action: "none", documentId };
			return { action: "remove", documentId, present: has, metadata: new Map() };
		}
		const looked = await lookPlanned(service, request, { ...item, planned }, rules);
		if (looked.isSame) return { action: "none", documentId };
		const { present: has, document, metadata } = looked;
		return { action: "update", documentId, present: has, inexact: document.inexact, metadata };
	};
}
