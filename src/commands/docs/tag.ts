import { type Command, Option } from "commander";
import type { App } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import { look } from "../../run/operations/look.ts";
import { planMetadata, replaceMetadata } from "../../run/operations/update.ts";
import { BeforeImages } from "../../run/present/before-images.ts";
import { addManifestOptions, addRunOptions, addToleranceOptions, addUndoOption, addWriteOptions } from "../flags.ts";
import { addChangeOptions, checkChangeFlags, type ChangeFlags, updateItemOf, updatePlanOf } from "../change-flags.ts";
import { type ChangeFormat, changePrinter } from "../change-faces.ts";
import type { Done } from "../declare.ts";
import { dryRun } from "../dry-run.ts";
import { type ManifestRunFlags, runManifest } from "../manifest-run.ts";
import { unreadable } from "../readable.ts";

export type TagOptions = ManifestRunFlags &
	ChangeFlags & {
		readonly manifest: string;
		readonly dryRun?: boolean;
		readonly detailedExitcode?: boolean;
		/** how a dry run shows changes */
		readonly format?: ChangeFormat;
	};

/** Declares the interface of `docs tag`. What it does is in `tag`. */
export function tagCommand(docs: Command, app: App, done: Done, run = tag): void {
	const command = docs
		.command("tag")
		.summary("write metadata from a manifest onto documents")
		.description("Writes the metadata of each manifest row onto its document.")
		.argument("<manifest>", "CSV, JSON array or JSON lines, gzipped or not; - reads standard input");
	addChangeOptions(command)
		.option("--only-changed", "leaves documents alone that already have these values")
		.option("--dry-run", "shows what would change, row by row, and sends nothing that writes")
		.option("--detailed-exitcode", "with --dry-run: exit 10 when something would change")
		.addOption(
			new Option("--format <format>", "with --dry-run: for people, for a spreadsheet, or a Markdown table").choices([
				"text",
				"csv",
				"md",
			]),
		)
		.addHelpText(
			"before",
			"Examples:\n  ragtag docs tag tags.csv -d DATASET\n  ragtag docs tag tags.csv --dry-run\n  ragtag docs tag tags.csv --mode merge --failed failed.csv\n  ragtag docs tag ids.csv --mode merge --set draft='!delete' --set 'topics:list=+travel|-news'\n  zcat tags.jsonl.gz | ragtag docs tag - --set reviewed:boolean=true\n",
		);
	addToleranceOptions(addUndoOption(addWriteOptions(addManifestOptions(addRunOptions(command))))).action(
		async (manifest: string) => {
			done(await run({ ...command.optsWithGlobals<Omit<TagOptions, "manifest">>(), manifest }, app));
		},
	);
}

export async function tag(options: TagOptions, app: App): Promise<ExitCode> {
	checkFlags(options);
	const { manifest, mode, onlyChanged = false, dryRun: isDry = false, format = "text" } = options;
	const plan = updatePlanOf(options);
	const compares = isDry ? "--dry-run" : onlyChanged ? "--only-changed" : undefined;
	return runManifest(
		{
			purpose: "tag",
			manifest,
			tell: "failed",
			itemOf: updateItemOf,
			operation: ({ service }, log, present) => {
				if (mode === "merge" || onlyChanged) return planMetadata(service, { ...plan, present, onlyChanged }, log);
				return replaceMetadata(service, options.undo === false ? undefined : new BeforeImages(present, service), log);
			},
			refuse: async (source, session) =>
				compares === undefined ? undefined : unreadable(compares, source, session, options, app),
			instead: isDry
				? (source, session, settings) =>
						dryRun(
							{
								source,
								itemOf: updateItemOf,
								look: (item, present) => look(session.service, session.request, item, { ...plan, present }),
								sink: changePrinter(options.json === true ? "json" : format, app),
							},
							options,
							session,
							settings,
							app,
						)
				: undefined,
			before: async () => {
				if (mode === "replace") {
					app.io.note("Keys that a row does not carry are removed from its document; --mode merge keeps them.");
				}
			},
		},
		options,
		app,
	);
}

/** @throws CliError exit 2 for flags that mean nothing without others */
function checkFlags(options: TagOptions): void {
	const { dryRun: isDry, detailedExitcode, format, json } = options;
	checkChangeFlags(options);
	const wrong = (text: string, hint: string): CliError =>
		new CliError(`${text}; nothing was sent`, { exit: Exit.usage, hint });
	if (isDry !== true && (detailedExitcode === true || format !== undefined)) {
		const flag = format === undefined ? "--detailed-exitcode" : "--format";
		throw wrong(`${flag} is about what --dry-run shows`, `Add --dry-run, or leave ${flag} out.`);
	}
	if (format !== undefined && json === true) throw wrong("--format and --json exclude each other", "Say one of them.");
}
