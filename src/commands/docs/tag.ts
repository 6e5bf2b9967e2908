import type { Command } from "commander";
import type { App } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import type { UpdateItem } from "../../run/operations/prepare-update.ts";
import { planMetadata, replaceMetadata } from "../../run/operations/update.ts";
import { BeforeImages } from "../../run/documents/before-images.ts";
import { changePrinter } from "../../workflows/preview/change-columns.ts";
import {
	addChangeOptions,
	checkChangeFlags,
	type ChangeFlags,
	updatePlanOf,
	addDryRunOptions,
	checkDryRunFlags,
	type DryRunFlags,
	changeFormat,
} from "../../flags/change-flags.ts";
import { previewUpdate } from "../../workflows/preview/preview-update.ts";
import type { Done } from "../../flags/declare.ts";
import { dryRun } from "../../workflows/preview/preview.ts";
import {
	addManifestOptions,
	addRunOptions,
	addToleranceOptions,
	addUndoOption,
	addWriteOptions,
	verifies,
} from "../../flags/flags.ts";
import { type CheckedRun, type ManifestRunFlags, runManifest } from "../../workflows/run/manifest-run.ts";
import { policyPrescan } from "../../workflows/policy/prescan.ts";
import { unreadable } from "../../workflows/readable.ts";
import { type RunItem, updateItemOf } from "../../workflows/rows/row-source.ts";
import { addFilterOptions, filterText, type FilterFlags } from "../../workflows/rows/document-filter.ts";
import { checkFilterFlags, READING_FLAGS, runFound } from "../../workflows/run/tag-found.ts";

export type TagOptions = ManifestRunFlags &
	ChangeFlags &
	DryRunFlags &
	FilterFlags & {
		/** exactly one of it and a filter */
		readonly manifest: string | undefined;
		/** flags about how a manifest is read that were typed, whatever their values */
		readonly readingFlags?: readonly string[];
	};

/** Declares the interface of `docs tag`. What it does is in `tag`. */
export function tagCommand(docs: Command, app: App, done: Done, run = tag): void {
	const command = docs
		.command("tag")
		.summary("write metadata to documents: from a manifest, or by a filter")
		.description(
			"Writes the metadata of each manifest row to its document, or with --mode merge the values of --set to every document " +
				"that a filter finds. If the filter finds no document, nothing is sent and the exit code is 0.",
		)
		.argument("[manifest]", "CSV, JSON array or JSON lines, gzipped or not; - reads standard input");
	addChangeOptions(command)
		.option("--only-changed", "skips documents that already have these values")
		.addHelpText(
			"before",
			"Examples:\n  ragtag docs tag tags.csv -d DATASET\n  ragtag docs tag tags.csv --dry-run\n  ragtag docs tag tags.csv --mode merge --failed failed.csv\n  ragtag docs tag ids.csv --mode merge --set draft='!delete' --set 'topics:list=+travel|-news'\n  zcat tags.jsonl.gz | ragtag docs tag - --set reviewed:boolean=true\n  ragtag docs tag -d DATASET --where category=news --set reviewed:boolean=true --mode merge --dry-run\n",
		);
	addFilterOptions(addDryRunOptions(command));
	addToleranceOptions(addUndoOption(addWriteOptions(addManifestOptions(addRunOptions(command))))).action(
		async (manifest: string | undefined) => {
			const options = command.optsWithGlobals<Omit<TagOptions, "manifest">>();
			const readingFlags = Object.entries(READING_FLAGS)
				.filter(([name]) => command.getOptionValueSource(name) === "cli")
				.map(([, flag]) => flag);
			done(await run({ ...options, manifest, readingFlags }, app));
		},
	);
}

export async function tag(options: TagOptions, app: App): Promise<ExitCode> {
	checkFlags(options);
	const { manifest, mode, onlyChanged = false, dryRun: isDry = false } = options;
	const plan = updatePlanOf(options);
	const see = previewUpdate(plan, onlyChanged);
	const compares = isDry ? "--dry-run" : onlyChanged ? "--only-changed" : verifies(options) ? "--verify" : undefined;
	const run: CheckedRun<RunItem & UpdateItem> = {
		purpose: "tag",
		tell: "failed",
		itemOf: updateItemOf,
		operation: ({ service }, log, present, { policy }) => {
			// A row whose document can't be seen was not judged by the policy either: it fails, and is not sent.
			const looks = mode === "merge" || onlyChanged || policy !== undefined;
			if (looks) return planMetadata(service, { ...plan, present, onlyChanged }, log);
			return replaceMetadata(service, options.undo === false ? undefined : new BeforeImages(present, service), log);
		},
		policyPass: policyPrescan({ itemOf: updateItemOf, see }),
		excuse: compares === undefined ? undefined : plan,
		refuse: async (source, session) =>
			compares === undefined ? undefined : unreadable(compares, source, session, options, app),
		instead: isDry
			? (source, session, settings) =>
					dryRun(
						{
							source,
							itemOf: updateItemOf,
							see,
							tell: "failed",
							sink: changePrinter(changeFormat(options), app),
						},
						options,
						session,
						settings,
						app,
					)
			: undefined,
		before: async () => {
			if (mode === "replace") {
				app.io.note("Keys that a row does not have are removed from its document; --mode merge keeps them.");
			}
		},
	};
	return manifest === undefined ? runFound(run, options, app) : runManifest({ ...run, manifest }, options, app);
}

/** @throws CliError exit 2 for flags that mean nothing without others */
function checkFlags(options: TagOptions): void {
	checkChangeFlags(options);
	const { manifest } = options;
	if ((manifest === undefined) === (filterText(options) === "")) {
		throw new CliError("docs tag takes either a MANIFEST or a filter; nothing was sent", {
			exit: Exit.usage,
			hint: "Name a manifest, or select documents with --where KEY=VALUE, --where-json CONDITION, --missing KEY or --name NAME.",
		});
	}
	if (manifest === undefined) checkFilterFlags(options);
	checkDryRunFlags(options);
}
