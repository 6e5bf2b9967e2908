import type { App } from "../../app.ts";
import type { ExitCode } from "../../errors.ts";
import { PURPOSES } from "../../manifest/purposes.ts";
import { changeOf } from "../../plan/change.ts";
import { addChangeOptions, type ChangeFlags, addUnaskedOptions, addTypeOption } from "../../flags/change-flags.ts";
import { declare, typedOptions } from "../../flags/declare.ts";
import {
	addManifestOptions,
	addRunOptions,
	addToleranceOptions,
	addWriteOptions,
	type RunFlags,
	verifies,
} from "../../flags/flags.ts";
import { addRule, refused } from "../../flags/refuse.ts";
import { openRun } from "../../workflows/open-run.ts";
import { policyPrescan, prescanCreations } from "../../workflows/policy/prescan.ts";
import { preview } from "../../workflows/preview/preview.ts";
import { endIfMetadataHidden } from "../../workflows/readable.ts";
import { addFilterOptions, FILTER, filterText } from "../../workflows/rows/document-filter.ts";
import { type FoundFlags, givenRows } from "../../workflows/rows/found-rows.ts";
import { runRows } from "../../workflows/run/run-rows.ts";
import { previewUpdate, updateDocuments } from "../../workflows/update.ts";
import { addShardOption } from "../../flags/input-flags.ts";

type TagOptions = FoundFlags &
	RunFlags &
	ChangeFlags & {
		/** the first typed flag about how a manifest is read */
		readonly readingFlag?: string | undefined;
	};

/** Flags that say how a manifest is read, by the names of their values. */
const READING = new Set(
	"map ignore empty onDuplicate sheet encoding decimalComma dateFormat listSeparator true false".split(" "),
);

export const tagCommand = declare({
	summary: "write metadata to documents: from a manifest, or by a filter",
	description:
		"Writes the metadata of each manifest row to its document, or with --mode merge the values of --set to every document " +
		"that a filter finds. If the filter finds no document, nothing is sent and the exit code is 0.",
	examples:
		"ragtag docs tag tags.csv -d DATASET\nragtag docs tag tags.csv --dry-run\nragtag docs tag tags.csv --mode merge --failed failed.csv\nragtag docs tag ids.csv --mode merge --set draft='!delete' --set 'topics:list=+travel|-news'\nzcat tags.jsonl.gz | ragtag docs tag - --set reviewed:boolean=true\nragtag docs tag -d DATASET --where category=news --set reviewed:boolean=true --mode merge --dry-run",
	declare: (command, app) => {
		command.argument("[manifest]", "CSV, JSON array, JSON lines or .xlsx, gzipped or not; - reads standard input");
		addRule(command, FILTER, "needs", "--set", "It gives the values: add --set KEY=VALUE, once for each key.");
		addRule(command, FILTER, "needs", "--mode merge", "--mode replace would remove all keys that --set does not name.");
		const hint = "A filter may find others by now. Resume the run with the documents that it found: ragtag runs resume";
		addRule(command, "--resume", "excludes", FILTER, hint);
		addChangeOptions(command).option("--only-changed", "skips documents that already have these values");
		addFilterOptions(addUnaskedOptions(addShardOption(command, app)));
		addTypeOption(addWriteOptions(addManifestOptions(addRunOptions(command)))).option(
			"--no-undo",
			"does not save what documents had before, so the run can't be undone",
		);
		addToleranceOptions(command);
	},
	run: (options: TagOptions, app, command) => {
		const reading = typedOptions(command).find((option) => READING.has(option.attributeName()));
		return tag({ ...options, readingFlag: reading?.long }, app);
	},
	resume: (file, flags, app) => tag({ ...flags, manifest: file.manifest.path, mode: flags.mode ?? "replace" }, app),
});

async function tag(options: TagOptions, app: App): Promise<ExitCode> {
	checkFlags(options);
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

/** @throws CliError exit 2 for flags that mean nothing without others */
function checkFlags({ manifest, readingFlag: reading, ...options }: TagOptions): void {
	if (manifest !== undefined) return;
	if (filterText(options) === "") {
		throw refused(
			"docs tag takes either a MANIFEST or a filter",
			"Name a manifest, or select documents with --where KEY=VALUE, --where-json CONDITION, --missing KEY or --name NAME.",
		);
	}
	if (reading !== undefined)
		throw refused(`${reading} says how a manifest is read, and a filter reads none`, `Leave ${reading} out.`);
}
