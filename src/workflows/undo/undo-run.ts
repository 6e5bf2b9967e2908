import type { App } from "../../app.ts";
import type { ExitCode } from "../../errors.ts";
import { undoneOf } from "../../report/undo.ts";
import { lockContent } from "../../run/recorded/run-lock.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { undoneRunOf, UNDO_COMMAND } from "../../run/recorded/superseded.ts";
import type { DryRunFlags } from "../../flags/change-flags.ts";
import { type RunFlags, withSession } from "../../flags/flags.ts";
import type { PlanKind } from "../plan/plan-kind.ts";
import { runPlan } from "../plan/run-plan.ts";
import { printVersionLine } from "../version-line.ts";

/**
 * How a run is taken back by a plan.
 *
 * @param name of the undo: what the run's manifest is for a run
 */
export function undoKind(
	name: string,
	{ before = async () => undefined, ...more }: Partial<Pick<PlanKind, "before" | "lagsUntil" | "takesBack">> = {},
): PlanKind {
	return {
		...more,
		command: UNDO_COMMAND,
		name,
		actions: ["update", "remove"],
		// As in a plan that is applied: what somebody changes while the undo is going is theirs, and a list would not know.
		asksForEach: true,
		isExempt: true,
		isExact: true,
		since: "the run",
		countsUnplanned: true,
		before,
		undone: undoneOf,
	};
}

/** Goes on with an undo. It was asked when it began. */
export async function goOnUndoing(file: RunFile, flags: RunFlags & DryRunFlags, app: App): Promise<ExitCode> {
	if (flags.json === true) await printVersionLine(app);
	const runs = app.runs(await app.settings(flags));
	// As when it began: the run that it takes back must not go on meanwhile. One that was pruned can't.
	const { manifest } = file;
	const takenBack = undoneRunOf(file);
	const undone = takenBack === undefined ? undefined : await runs.read(takenBack);
	const { processes } = app;
	const lock =
		undone === undefined ? undefined : await lockContent(undone, { runs, processes, force: flags.force === true });
	try {
		return await withSession(flags, app, (session, settings) =>
			runPlan(manifest.path, undoKind(manifest.name), flags, session, settings, app),
		);
	} finally {
		await lock?.release();
	}
}
