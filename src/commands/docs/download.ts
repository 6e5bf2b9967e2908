import { resolve } from "node:path";
import type { App } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import { declare, Flag, toggle } from "../../flags/declare.ts";
import { forceOption, type RunFlags } from "../../flags/flags.ts";
import { quoted, withFlags } from "../../flags/next-command.ts";
import { parseNonEmpty } from "../../flags/values.ts";
import { PURPOSES } from "../../manifest/purposes.ts";
import { rowLine } from "../../report/summary.ts";
import { downloadDocument } from "../../run/operations/download.ts";
import { notInDataset } from "../../run/operations/operation.ts";
import { requireCall } from "../../run/service/detect-flavour.ts";
import { type DownloadPlan, lockFolder, planDownload } from "../../workflows/download/download-plan.ts";
import type { PreviewRow } from "../../workflows/effect.ts";
import { openRun } from "../../workflows/open-run.ts";
import { prescanRemovals, unchecked } from "../../workflows/policy/prescan.ts";
import { preview } from "../../workflows/preview/preview.ts";
import { FILTERS } from "../../workflows/rows/document-filter.ts";
import { CHOSEN, type FoundFlags, givenRows } from "../../workflows/rows/found-rows.ts";
import { unfinishedRun } from "../../workflows/run/earlier-runs.ts";
import type { RunRecord } from "../../workflows/run/open-record.ts";
import { runRows } from "../../workflows/run/run-rows.ts";
import { stopOrSignal } from "../../run/stop/shutdown.ts";

export const downloadCommand = declare({
	summary: "write documents into a folder, with a manifest that uploads them again",
	description:
		"Writes the documents of a dataset into a folder: all of them, or those that a manifest, --id or a filter names. A manifest.csv beside them uploads them again with their metadata.",
	examples:
		"ragtag docs download -d DATASET --out backup\nragtag docs download -d DATASET --out backup --only-changed --force\nragtag docs download -d DATASET --where category=news --out news --dry-run\nragtag docs upload backup/manifest.csv -d OTHER",
	arguments: { "[manifest]": "CSV, JSON array or JSON lines; - reads standard input" },
	options: {
		...CHOSEN,
		...FILTERS,
		out: new Flag<string, true>("-o, --out <folder>", "the folder; it is made where it is missing")
			.argParser(parseNonEmpty)
			.makeOptionMandatory(),
		onlyChanged: toggle(
			"--only-changed",
			"leaves a file as it is if an earlier download wrote it, it has not changed, and the document has its size",
		),
		force: forceOption("writes over files that are there; "),
	},
	run: (options, app) => download({ ...options, folder: options.out }, app),
	resume: (file, flags, app) => {
		const { folder } = flags;
		if (folder === undefined)
			throw new CliError(`run ${file.run} names no folder; nothing was sent`, { exit: Exit.foreign });
		return download({ ...flags, folder, manifest: file.manifest.path }, app);
	},
});

async function download(options: FoundFlags & RunFlags & { readonly folder: string }, app: App): Promise<ExitCode> {
	const { onlyChanged = false, dryRun = false, force = false } = options;
	const overwrites = options.overwrites === true || force;
	const folder = resolve(options.folder);
	const { command } = PURPOSES.download;
	await using run = await openRun(command, { ...options, folder, overwrites }, app);
	await requireCall(run.session, "download", command);
	await using named = await givenRows(run, { purpose: "download" });
	await using plan = await planDownload(run, named, { folder, overwrites, onlyChanged, dryRun });
	const { rows } = plan;
	if (dryRun) return await preview(unchecked(run), rows, previewRow(plan, overwrites, onlyChanged));
	const allowed = await prescanRemovals(unchecked(run), rows);
	await using _lock = await lockFolder(folder, app.processes);
	await plan.folder.removeDrafts();
	const { service } = run.session;
	const isResumed = (await unfinishedRun(run, rows)) !== undefined;
	// Files that are left as they are would move no byte of theirs.
	if (!isResumed && !onlyChanged) run.session.monitor.live.total = plan.bytes;
	const operation = downloadDocument({ service, ...plan, overwrites, onlyChanged, isResumed });
	return await runRows(run, allowed, () => operation, {
		onOutcome: async (outcome) => {
			if (options.json === true && outcome.status !== "failed") await app.io.out(`${rowLine(outcome)}\n`);
		},
		ending: (record) => endWithManifest(record, plan),
	});
}

function previewRow({ folder, wanted }: DownloadPlan, overwrites: boolean, onlyChanged: boolean): PreviewRow {
	return async (row, { service }) => {
		const { documentId, name } = row;
		const document = wanted(row);
		if (document === undefined) throw notInDataset(service, row, "; nothing was written");
		const { path, size } = document;
		if (onlyChanged && (await folder.isKept({ id: documentId, path }, size))) return { action: "none", documentId };
		await folder.check(path, overwrites);
		return { action: "download", documentId, name, present: new Map(), metadata: new Map() };
	};
}

/** Writes the manifest after the last row. A run that was stopped writes it when it is resumed. */
async function endWithManifest(
	{ journal, run: { flags, app } }: RunRecord,
	plan: DownloadPlan,
): Promise<{ readonly stop?: ReturnType<typeof stopOrSignal> }> {
	const { pending, downloaded, unchanged } = journal.totals();
	if (pending > 0) app.io.note("The manifest of the files is written when the run is resumed and comes to its end.");
	if (pending > 0 || downloaded + unchanged === 0) return {};
	try {
		const manifest = await plan.writeManifest();
		if (manifest === undefined) return {};
		const upload = withFlags(`ragtag docs upload ${quoted(manifest)} -d DATASET`, flags);
		app.io.note(`To upload the files again, with their metadata: ${upload}`);
		return {};
	} catch (error) {
		return { stop: stopOrSignal(error, app.signal) };
	}
}
