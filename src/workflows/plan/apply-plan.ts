import type { ExitCode } from "../../errors.ts";
import type { DryRunFlags } from "../../flags/change-flags.ts";
import type { RunFlags } from "../../flags/flags.ts";
import type { Run } from "../open-run.ts";
import { policyPrescan } from "../policy/prescan.ts";
import { type ChangeSink, preview } from "../preview/preview.ts";
import { report } from "../report.ts";
import type { RunRecord } from "../run/open-record.ts";
import { runRows } from "../run/run-rows.ts";
import type { PlanKind, PlannedRow, PlanSource } from "./plan-rows.ts";
import { forceHint, previewPlanned, sendPlanned } from "./planned.ts";

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
	// What replaces all metadata is written whatever a document has.
	const rules = { mode, since: "the plan was made", isExact: false, mustKnow: mode !== "replace" };
	if (sink !== undefined) return await preview(run, rows, previewPlanned(run, rules), sink);
	const allowed = await policyPrescan(run, rows, previewPlanned(run, rules));
	if (allowed.stop !== undefined) return await report(run, allowed.stop);
	run.app.io.note(about);
	return await runRows(run, allowed, sendPlanned(run, rules), {
		ending: (record) => ({ next: forceHint(record) ?? takenHint(record) }),
	});
}

function takenHint({ journal }: RunRecord<PlannedRow>): string | undefined {
	if (journal.failedWith(KEY_TAKEN) === 0) return undefined;
	return "Remove one of the two keys from these documents, then run the same command again.";
}
