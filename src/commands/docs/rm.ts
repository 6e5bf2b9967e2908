import type { DryRunFlags } from "../../flags/change-flags.ts";
import type { App } from "../../app.ts";
import { type ExitCode, usageError } from "../../errors.ts";
import { PURPOSES } from "../../manifest/purposes.ts";
import { existingDocument } from "../../run/operations/prepare-update.ts";
import { NO_REMOVAL } from "../../run/operations/removal-lists.ts";
import { removeDocuments } from "../../run/operations/remove.ts";
import { declare, Flag, toggle } from "../../flags/declare.ts";
import type { Given, RunFlags } from "../../flags/flags.ts";
import { checkCanAsk, refused } from "../../flags/refuse.ts";
import { askAbout } from "../../workflows/question.ts";
import type { PreviewRow } from "../../workflows/effect.ts";
import { requireDataset } from "../../workflows/dataset.ts";
import { documentOfName } from "../../workflows/named-document.ts";
import { openRun, type Run } from "../../workflows/open-run.ts";
import { prescanRemovals } from "../../workflows/policy/prescan.ts";
import { preview } from "../../workflows/preview/preview.ts";
import { CHOSEN } from "../../workflows/rows/found-rows.ts";
import { idRows, type ManifestReadFlags, manifestRows } from "../../workflows/rows/manifest-rows.ts";
import { rowsToSend } from "../../workflows/run/earlier-runs.ts";
import { runRows } from "../../workflows/run/run-rows.ts";

type RmOptions = ManifestReadFlags &
	RunFlags &
	DryRunFlags &
	Given<{ id: readonly string[]; name: readonly string[] }> & { readonly manifest: string | undefined };

export const rmCommand = declare({
	summary: "remove documents",
	description: "Removes the documents that a manifest, --id or --name names, and no others. Asks first.",
	examples:
		"ragtag docs rm old.csv -d DATASET\nragtag docs rm --id 0a1b 2c3d -d DATASET --yes\nragtag docs rm --name report.pdf -d DATASET\nragtag docs rm old.csv -d DATASET --dry-run",
	arguments: { "[manifest]": "CSV, JSON array, JSON lines or .xlsx; - reads standard input" },
	options: {
		...CHOSEN,
		name: new Flag<readonly string[]>(
			"--name <name...>",
			"exact names instead of a manifest (repeatable); refused where several documents have one",
		),
		yes: toggle("-y, --yes", "removes without asking"),
	},
	run: remove,
	// It asks again: its documents may have been tagged since.
	resume: (file, flags, app) => remove({ ...flags, manifest: file.manifest.path }, app),
});

async function remove(options: RmOptions, app: App): Promise<ExitCode> {
	const { manifest, id, name, yes = false, dryRun = false } = options;
	const { command } = PURPOSES.rm;
	if ((manifest ?? id ?? name) === undefined) throw usageError("docs rm takes either a MANIFEST, or --id and --name");
	if (name?.includes("") === true) throw refused("--name has an empty name", "Was a variable not set?");
	checkCanAsk(command, options, manifest !== "-" && app.io.stdinIsTerminal);
	await using run = await openRun(command, options, app);
	await using rows = await (manifest === undefined
		? idRows(run, await idsOf(run), { purpose: "rm" })
		: manifestRows(run, manifest, { purpose: "rm" }));
	if (dryRun) return await preview(run, rows, previewRow);
	const allowed = await prescanRemovals(run, rows);
	if (!yes && rows.rows > 0) {
		const open = await rowsToSend(run, rows);
		await askAbout(run, open, (counted, lines) => `Remove ${counted}?\n${lines}This cannot be undone.`);
	}
	const { service } = run.session;
	return await runRows(run, allowed, (log) => removeDocuments(service, { log }));
}

/** The ids of `--id` and `--name`. @throws CliError exit 2 where a name is unknown or ambiguous */
async function idsOf({ flags, session }: Run<RmOptions>): Promise<readonly string[]> {
	const { id = [], name = [] } = flags;
	const dataset = requireDataset("docs rm", flags.dataset);
	const ids = [...id];
	for (const each of name) ids.push((await documentOfName(session, dataset, each)).id);
	return ids;
}

const previewRow: PreviewRow = async (row, { service, request }, documents) => {
	const document = await existingDocument({ service, request }, row, documents, NO_REMOVAL);
	const { name, metadata: present = new Map(), inexact } = document;
	return { action: "remove", documentId: row.documentId, name, present, inexact, metadata: new Map() };
};
