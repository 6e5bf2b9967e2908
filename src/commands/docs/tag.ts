import { type Command, Option } from "commander";
import type { App } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import type { Metadata } from "../../json.ts";
import type { Row } from "../../manifest/types.ts";
import { changeOf, DELETE_TOKEN, metadataToSend, type Mode } from "../../plan/change.ts";
import type { UpdateItem } from "../../run/operations/look.ts";
import { planMetadata, replaceMetadata } from "../../run/operations/update.ts";
import { addManifestOptions, addRunOptions, addToleranceOptions, addWriteOptions } from "../flags.ts";
import type { Done } from "../declare.ts";
import { type ManifestRunFlags, runManifest } from "../manifest-run.ts";
import { unreadable } from "../readable.ts";
import type { RunItem } from "../run-rows.ts";
import { parseNonEmpty } from "../values.ts";

export type TagOptions = ManifestRunFlags & { readonly manifest: string; readonly mode: Mode };

/** Declares the interface of `docs tag`. What it does is in `tag`. */
export function tagCommand(docs: Command, app: App, done: Done, run = tag): void {
	const command = docs
		.command("tag")
		.summary("write metadata from a manifest onto documents")
		.description("Writes the metadata of each manifest row onto its document.")
		.argument("<manifest>", "CSV, JSON array or JSON lines, gzipped or not; - reads standard input")
		.addOption(
			new Option("--mode <mode>", "replace sends the row's metadata as it stands; merge lays it over what is there")
				.choices(["replace", "merge"])
				.default("replace"),
		)
		.option(
			"--delete-token <text>",
			`with --mode merge: a value of this text removes its key (default: ${DELETE_TOKEN})`,
			parseNonEmpty,
		)
		.option("--only-changed", "leaves documents alone that already have these values")
		.addHelpText(
			"before",
			"Examples:\n  ragtag docs tag tags.csv -d DATASET\n  ragtag docs tag tags.csv --mode merge --failed failed.csv\n  ragtag docs tag ids.csv --mode merge --set draft='!delete' --set 'topics:list=+travel|-news'\n  zcat tags.jsonl.gz | ragtag docs tag - --set reviewed:boolean=true\n",
		);
	addToleranceOptions(addWriteOptions(addManifestOptions(addRunOptions(command)))).action(async (manifest: string) => {
		done(await run({ ...command.optsWithGlobals<Omit<TagOptions, "manifest">>(), manifest }, app));
	});
}

type TagItem = RunItem & UpdateItem;

export async function tag(options: TagOptions, app: App): Promise<ExitCode> {
	const { manifest, mode, deleteToken, onlyChanged = false } = options;
	if (mode === "replace" && deleteToken !== undefined) {
		throw new CliError("--delete-token removes keys in a merge alone, and this is --mode replace; nothing was sent", {
			exit: Exit.usage,
			hint: "Add --mode merge, or leave --delete-token out: a replace run removes every key that a row does not carry.",
		});
	}
	const change = changeOf(mode, deleteToken);
	return runManifest<TagItem>(
		{
			purpose: "tag",
			manifest,
			tell: "failed",
			itemOf: ({ index, line, datasetId, documentId, metadata, source }: Row) => ({
				index,
				line,
				datasetId,
				documentId,
				metadata,
				source,
			}),
			operation: ({ service }, log, present) => {
				if (mode === "replace" && !onlyChanged) return replaceMetadata(service, log);
				const plan = {
					present,
					metadataToSend: (held: Metadata, wanted: Metadata) => metadataToSend(change, held, wanted),
					keepsPresent: mode === "merge",
				};
				return planMetadata(service, { ...plan, onlyChanged }, log);
			},
			refuse: async (source, session) =>
				onlyChanged ? unreadable("--only-changed", source, session, options, app) : undefined,
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
