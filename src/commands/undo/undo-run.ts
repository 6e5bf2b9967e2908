import type { App } from "../../app.ts";
import type { ExitCode } from "../../errors.ts";
import { numberText } from "../../report/summary.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import type { Totals } from "../../run/types.ts";
import type { DryRunFlags } from "../dry-run-flags.ts";
import { type RunFlags, withSession } from "../flags.ts";
import { UNDO } from "../plans/names.ts";
import { type PlanKind, runPlan } from "../plans/run-plan.ts";
import { printVersionLine } from "../run-rows.ts";

/**
 * How a run is taken back by a plan.
 *
 * @param name of the undo: what the run's manifest is for a run
 */
export function undoKind(
	name: string,
	{ before = async () => undefined, ...more }: Partial<Pick<PlanKind, "before" | "lagsUntil">> = {},
): PlanKind {
	return {
		...more,
		command: UNDO,
		name,
		actions: ["update", "remove"],
		// As in a plan that is applied: what somebody changes while the undo is going is theirs, and a list would not know.
		asksForEach: true,
		isExempt: true,
		isExact: true,
		since: "the run",
		countsUnplanned: true,
		before,
		told: (totals, conflicts) => undoneText(name, totals, conflicts),
	};
}

/** `undo of RUN: 98 reversed, 2 kept because somebody changed them since, 0 failed`. */
function undoneText(name: string, { updated, removed, unchanged, failed, invalid }: Totals, conflicts: number): string {
	const parts = [
		`${numberText(updated + removed)} reversed`,
		`${numberText(conflicts)} kept because somebody changed them since`,
		`${numberText(failed - conflicts)} failed`,
	];
	if (unchanged > 0) parts.push(`${numberText(unchanged)} were already as before`);
	if (invalid > 0) parts.push(`${numberText(invalid)} can't be undone`);
	return `${name.charAt(0).toUpperCase()}${name.slice(1)}: ${parts.join(", ")}.`;
}

/** Goes on with an undo. It was asked when it began. */
export async function goOnUndoing({ manifest }: RunFile, flags: RunFlags & DryRunFlags, app: App): Promise<ExitCode> {
	if (flags.json === true) await printVersionLine(app);
	return withSession(flags, app, (session, settings) =>
		runPlan(manifest.path, undoKind(manifest.name), flags, session, settings, app),
	);
}
