import type { App } from "../../app.ts";
import type { ExitCode } from "../../errors.ts";
import { PURPOSES } from "../../manifest/purposes.ts";
import { changeOf } from "../../plan/change.ts";
import { CHANGE, unaskedOptions } from "../../flags/change-flags.ts";
import { declare, toggle, type ValuesOf } from "../../flags/declare.ts";
import { RUN_OF_MANIFEST, type RunFlags, verifies, WRITE } from "../../flags/flags.ts";
import { refused } from "../../flags/refuse.ts";
import { openRun } from "../../workflows/open-run.ts";
import { policyPrescan, prescanCreations } from "../../workflows/policy/prescan.ts";
import { preview } from "../../workflows/preview/preview.ts";
import { endIfMetadataHidden } from "../../workflows/readable.ts";
import { FILTER, FILTERS, filterText } from "../../workflows/rows/document-filter.ts";
import { type FoundFlags, givenRows } from "../../workflows/rows/found-rows.ts";
import { runRows } from "../../workflows/run/run-rows.ts";
import { previewUpdate, updateDocuments } from "../../workflows/update.ts";
import { SHARD } from "../../flags/input-flags.ts";

/** Options that say how a manifest is read. */
const READING =
	"--map or --ignore or --empty or --on-duplicate or --sheet or --encoding or --decimal-comma or --date-format or --list-separator or --true or --false";

export const tagCommand = declare({
	summary: "write metadata to documents: from a manifest, or by a filter",
	description:
		"Writes the metadata of each manifest row to its document, or with --mode merge the values of --set to every document " +
		"that a filter finds. If the filter finds no document, nothing is sent and the exit code is 0.",
	examples:
		"ragtag docs tag tags.csv -d DATASET\nragtag docs tag tags.csv --dry-run\nragtag docs tag tags.csv --mode merge --failed failed.csv\nragtag docs tag ids.csv --mode merge --set draft='!delete' --set 'topics:list=+travel|-news'\nzcat tags.jsonl.gz | ragtag docs tag - --set reviewed:boolean=true\nragtag docs tag -d DATASET --where category=news --set reviewed:boolean=true --mode merge --dry-run",
	arguments: { "[manifest]": "CSV, JSON array, JSON lines or .xlsx, gzipped or not; - reads standard input" },
	options: {
		...RUN_OF_MANIFEST,
		...CHANGE,
		...FILTERS,
		...unaskedOptions(),
		...SHARD,
		...WRITE,
		onlyChanged: toggle("--only-changed", "skips documents that already have these values"),
		undo: toggle("--no-undo", "does not save what documents had before, so the run can't be undone"),
	},
	rules: [
		[FILTER, "needs", "--set", "It gives the values: add --set KEY=VALUE, once for each key."],
		[FILTER, "needs", "--mode merge", "--mode replace would remove all keys that --set does not name."],
		[
			"--resume",
			"excludes",
			FILTER,
			"A filter may find others by now. Resume the run with the documents that it found: ragtag runs resume",
		],
		[READING, "needs", "MANIFEST", "It says how a manifest is read, and a filter reads none: leave it out."],
	],
	run: tag,
	resume: (file, flags, app) => tag({ ...flags, manifest: file.manifest.path, mode: flags.mode ?? "replace" }, app),
});

async function tag(options: FoundFlags & RunFlags & ValuesOf<typeof CHANGE>, app: App): Promise<ExitCode> {
	if (options.manifest === undefined && filterText(options) === "") {
		throw refused(
			"docs tag takes either a MANIFEST or a filter",
			"Name a manifest, or select documents with --where KEY=VALUE, --where-json CONDITION, --missing KEY or --name NAME.",
		);
	}
	const { mode, deleteToken, onlyChanged = false, dryRun = false } = options;
	const { command } = PURPOSES.tag;
	await using run = await openRun(command, options, app);
	const update = { change: changeOf(mode, deleteToken), onlyChanged };
	const compares = dryRun ? "--dry-run" : onlyChanged ? "--only-changed" : verifies(options) ? "--verify" : undefined;
	const reading = { purpose: "tag", alreadyPresent: compares === undefined ? undefined : update.change } as const;
	await using rows = await givenRows(run, reading);
	await endIfMetadataHidden(run, rows, compares);
	if (dryRun) return await preview(run, rows, previewUpdate(update));
	// Nothing else reads the documents then.
	const isBlind = options.undo === false && mode === "replace" && !onlyChanged && run.settings.policy === undefined;
	const allowed = await (isBlind ? prescanCreations(run, rows) : policyPrescan(run, rows, previewUpdate(update)));
	if (mode === "replace") {
		app.io.note("Keys that a row does not have are removed from its document; --mode merge keeps them.");
	}
	return await runRows(run, allowed, updateDocuments(run, update));
}
