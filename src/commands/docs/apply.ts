import { type DryRunFlags, unaskedOptions } from "../../flags/change-flags.ts";
import { documentsText } from "../../text/words.ts";
import type { App } from "../../app.ts";
import type { ExitCode } from "../../errors.ts";
import { declare } from "../../flags/declare.ts";
import { BODY, forceOption, resumeOption, RUN, type RunFlags, TYPE_CHANGE } from "../../flags/flags.ts";
import { connectRun } from "../../workflows/open-run.ts";
import { APPLY } from "../../workflows/plan/open-plan.ts";
import { CHANGES, planPrinter, previewChanges, previewPlanned, sendChanges } from "../../workflows/plan/planned.ts";
import { planRows } from "../../workflows/plan/plan-rows.ts";
import { preview } from "../../workflows/preview/preview.ts";
import { printVersionLine } from "../../workflows/report.ts";
import { fileOfLines } from "../../workflows/rows/row-source.ts";
import { lockSync, refuseOtherState, sendSync, syncRules } from "../../workflows/sync/send-sync.ts";
import { shardOption } from "../../flags/input-flags.ts";
import type { RecordedFlags } from "../../flags/payload-options.ts";

type ApplyOptions = RunFlags & DryRunFlags & Pick<RecordedFlags, "shard"> & { readonly file: string };

export const applyCommand = declare({
	summary: "send exactly what a plan says",
	description:
		"Sends exactly what a plan says, and nothing else. A document that was changed after the plan was made is left alone, and its row fails.",
	examples:
		"ragtag docs apply plan.jsonl\nragtag docs apply plan.jsonl --dry-run\nragtag docs apply plan.jsonl --failed failed.jsonl",
	arguments: { "<file>": "a plan that docs plan has written; - reads standard input" },
	options: {
		...RUN,
		...unaskedOptions(),
		...BODY,
		...TYPE_CHANGE,
		shard: shardOption(),
		resume: resumeOption("plan"),
		force: forceOption("also changes documents that were changed after the plan was made; "),
	},
	run: (options, app) => apply(options, app),
	resume: (file, flags, app) => apply({ ...flags, file: file.manifest.path }, app, file.command),
});

/** @param command of the record of the run */
async function apply(options: ApplyOptions, app: App, command = APPLY): Promise<ExitCode> {
	const { file, shard, allowTypeChange, dryRun = false } = options;
	if (options.json === true) await printVersionLine(app);
	await using run = await connectRun(command, options, app);
	await using rows = await planRows(run, file, { ...CHANGES, shard, allowTypeChange });
	const { created, sync } = rows.header;
	if (sync !== undefined) {
		if (dryRun) return await preview(run, rows, previewPlanned(syncRules(run, sync)), planPrinter(run));
		await using _lock = await lockSync(run, sync);
		if (options.run === undefined) await refuseOtherState(sync, run.session.baseUrl);
		return await sendSync(run, rows, sync);
	}
	const about = `To change: ${documentsText(rows.rows)}, as planned from ${fileOfLines(rows)} at ${created}.`;
	return await (dryRun ? previewChanges(run, rows, planPrinter(run)) : sendChanges(run, rows, about));
}
