import type { App, Session, Settings } from "../../app.ts";
import type { PlannedChange } from "../../plan/plan-file/planned.ts";
import type { Undone } from "../../report/undo.ts";
import type { Totals } from "../../run/types.ts";
import type { DryRunFlags } from "../../flags/change-flags.ts";
import type { RunFlags } from "../../flags/flags.ts";
import type { OpenedPlan } from "./open-plan.ts";
import type { PlanSource } from "./plan-rows.ts";

/** How the changes of a plan are sent: as somebody approved them, or to take a run back. */
export type PlanKind = {
	/** how its run is recorded */
	readonly command: string;
	/** what may be planned */
	readonly actions: readonly PlannedChange["action"][];
	/** what messages call the plan; its path where it is undefined */
	readonly name?: string;
	/** each document is looked at right before it is written, whatever a list would cost; a dry run may list */
	readonly asksForEach: boolean;
	/** whether the profile's policy is not asked: it would keep a run that broke it from being taken back */
	readonly isExempt: boolean;
	/** `the plan was made`: since when a change of somebody else's is a conflict */
	readonly since: string;
	/** whether a document is done only when it has what is planned as it stands */
	readonly isExact: boolean;
	/** until when, by the program's clock, a list may not show yet what was written before the plan; undefined where that is long ago */
	readonly lagsUntil?: number;
	/** rows that could not be planned are counted beside those that are done */
	readonly countsUnplanned: boolean;
	/** last word before the first request that writes: notes, and the question that may decline (a usage error) */
	readonly before: (plan: OpenedPlan, source: PlanSource) => Promise<void>;
	/** the run that it takes back */
	readonly takesBack?: string | undefined;
	/** what it came to, told at its end */
	readonly undone?: (totals: Totals, conflicts: number) => Undone;
};

export type PlanFlags = RunFlags & DryRunFlags;

/** A plan that is good, and all that it takes to do what it says. */
export type PlanRun = {
	readonly plan: OpenedPlan;
	readonly source: PlanSource;
	readonly kind: PlanKind;
	readonly flags: PlanFlags;
	readonly session: Session;
	readonly settings: Settings;
	readonly app: App;
};
