import type { App } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import { unaskedOptions } from "../../flags/change-flags.ts";
import { declare, type Resume, valued, type ValuesOf } from "../../flags/declare.ts";
import { CONFIG, datasetOption, RUN, type RunFlags, WRITE } from "../../flags/flags.ts";
import { PARSE } from "../../flags/parse-flags.ts";
import { payloadFlags } from "../../flags/payload-options.ts";
import { parseOut } from "../../flags/values.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { SYNC_COMMAND } from "../../run/recorded/unfinished.ts";
import { requireCall } from "../../run/service/detect-flavour.ts";
import { show } from "../../text/show.ts";
import { documentsText } from "../../text/words.ts";
import { SOURCES } from "../../workflows/rows/file-values.ts";
import { requireDataset } from "../../workflows/dataset.ts";
import { connectRun, openRun, type Run } from "../../workflows/open-run.ts";
import { type PlanKind, planRows } from "../../workflows/plan/plan-rows.ts";
import { newPlanPrinter, previewPlanned } from "../../workflows/plan/planned.ts";
import { openPlanWriter, pathOfPlan } from "../../workflows/plan/write-plan.ts";
import { checkOut } from "../../workflows/outputs/out-file.ts";
import { preview } from "../../workflows/preview/preview.ts";
import { endBefore, NO_ROWS, printVersionLine } from "../../workflows/report.ts";
import { openPair, planFolder, SYNC, type SyncPair, type SyncPlan } from "../../workflows/sync/plan-sync.ts";
import { lockSync, sendSync, syncRules } from "../../workflows/sync/send-sync.ts";
import { writeState } from "../../workflows/sync/state-file.ts";
import { unfinishedSync } from "../../workflows/sync/unfinished-sync.ts";
import { FILES, sidecarsOption } from "../../flags/input-flags.ts";

const OPTIONS = {
	...SYNC,
	...RUN,
	...unaskedOptions("--dry-run or --out"),
	...FILES,
	sidecars: sidecarsOption("syncs"),
	...SOURCES,
	...PARSE,
	...WRITE,
	...CONFIG,
	dataset: datasetOption(),
	out: valued("-o, --out <file>", "writes the steps into a plan for docs apply, and sends nothing", parseOut),
};

type SyncOptions = RunFlags & ValuesOf<typeof OPTIONS> & { readonly folder: string };

export const syncCommand = declare({
	summary: "make a dataset hold what a folder holds",
	description:
		"Makes a dataset hold what a folder holds: uploads new files, replaces changed ones, renames moved ones, and writes the metadata that they give. " +
		"A document that no sync of the folder has stored is left alone. Removes nothing without --remove.",
	examples:
		"ragtag docs sync papers -d DATASET --dry-run\nragtag docs sync papers -d DATASET --remove\nragtag docs sync papers -d DATASET --pattern '{category}/{title}.pdf'",
	arguments: { "<folder>": "the folder" },
	options: OPTIONS,
	run: sync,
	resume: resumeSync,
});

async function sync(options: SyncOptions, app: App): Promise<ExitCode> {
	const { folder, dryRun = false, out, force = false } = options;
	if (out !== undefined) await checkOut(out, force);
	await using run = await openRun(SYNC_COMMAND, options, app);
	const dataset = requireDataset(SYNC_COMMAND, run.flags.dataset);
	const pair = await openPair(run, folder, dataset, options.state);
	const isPreview = dryRun || out !== undefined;
	await using _lock = isPreview ? undefined : await lockSync(run, pair.target);
	const unfinished = isPreview ? undefined : await unfinishedSync(run, pair);
	if (unfinished !== undefined) {
		const { file, reopen } = unfinished;
		const since = app.clock.now();
		const why = reopen ? "has files that may be stored" : "did not end";
		app.io.note(`Run ${file.run} of this folder ${why}: it goes on first.`);
		const exit = await goOn(file, { ...options, dataset, run: file.run, reopen }, app);
		if (exit !== Exit.ok && exit !== Exit.failedRows) return exit;
		return await syncNow({ ...run, since }, folder, await openPair(run, folder, dataset, options.state));
	}
	return await syncNow(run, folder, pair);
}

async function resumeSync(...[file, flags, app]: Parameters<Resume>): Promise<ExitCode> {
	if (flags.json === true) await printVersionLine(app);
	const settings = await app.settings(flags);
	const { sync: state, dataset: datasetId } = file.options;
	if (typeof state !== "string" || typeof datasetId !== "string") throw noFolder(file);
	await using _lock = await lockSync({ flags, settings, app }, { state, datasetId });
	return await goOn(file, flags, app);
}

function noFolder({ run }: RunFile): CliError {
	return new CliError(`run ${run} has no folder; nothing was sent`, { exit: Exit.foreign });
}

/** The flags of a sync that a resumed run needs as well stand in its record. */
function planKind({ parse, wait, trash, allowTypeChange }: Partial<SyncOptions>): PlanKind {
	const given = Object.entries({ parse, wait, trash }).flatMap(([name, is]) =>
		is === true ? [[name, is] as const] : [],
	);
	return { actions: [], countsUnplanned: false, allowTypeChange, options: Object.fromEntries(given) };
}

/** Goes on with a run, by the plan that it keeps. */
async function goOn(file: RunFile, given: RunFlags, app: App): Promise<ExitCode> {
	const { parse, wait, allowTypeChange } = payloadFlags(file.options);
	const flags = { ...given, parse, wait, allowTypeChange, trash: file.options["trash"] === true };
	await using run = await connectRun(SYNC_COMMAND, flags, app);
	await using rows = await planRows(run, file.manifest.path, { ...planKind(flags), name: file.manifest.name });
	const { sync: target } = rows.header;
	if (target === undefined) throw noFolder(file);
	return await sendSync(run, rows, target);
}

async function syncNow(run: Run<SyncOptions>, folder: string, pair: SyncPair): Promise<ExitCode> {
	const { flags, app } = run;
	const { out, dryRun = false, force = false } = flags;
	const plan = await planFolder(run, folder, pair);
	if (flags.parse === true) await requireCall(run.session, "parse", "--parse");
	if (plan.changes.some(({ action }) => action === "replace")) {
		for (const call of ["download", "rename"] as const) await requireCall(run.session, call, SYNC_COMMAND);
	}
	const lost = plan.changes.filter(({ action }) => action === "remove" || action === "replace").length;
	if (lost > 0 && flags.trash !== true) {
		app.io.note(
			`${documentsText(lost)} that ${lost === 1 ? "is" : "are"} removed or replaced can't be brought back: --trash keeps them.`,
		);
	}
	if (plan.unchanged > 0) app.io.note(`Unchanged: ${documentsText(plan.unchanged)}.`);
	const isPreview = dryRun || out !== undefined;
	const { target, state } = plan;
	if (!isPreview && state !== undefined) await writeState(target.state, state);
	if (plan.changes.length === 0 && out === undefined) {
		return endBefore(run, NO_ROWS, undefined);
	}
	const path = await pathOfPlan(run, out);
	await writePlan(path, force, { run, folder, plan });
	await using rows = await planRows(run, path, { ...planKind(flags), name: folder });
	if (!isPreview) return await sendSync(run, rows, target);
	return await preview(run, rows, previewPlanned(syncRules(run, target)), newPlanPrinter(run));
}

async function writePlan(
	path: string,
	force: boolean,
	{ run, folder, plan }: { readonly run: Run<SyncOptions>; readonly folder: string; readonly plan: SyncPlan },
): Promise<void> {
	const manifest = { name: show(folder), sha256: plan.sha256, rows: plan.files };
	const header = { baseUrl: run.session.baseUrl, mode: "merge", manifest, sync: plan.target } as const;
	await using writer = await openPlanWriter(path, force, header);
	for (const change of plan.changes) await writer.change(change);
	await writer.end({ unchanged: plan.unchanged, failed: 0 });
}
