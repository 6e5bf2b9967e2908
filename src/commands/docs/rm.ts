import type { Command } from "commander";
import type { App, Session, Settings } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import { PURPOSES } from "../../manifest/purposes.ts";
import { documentsText } from "../../text/words.ts";
import { previewRemoval, removeDocument } from "../../run/operations/remove.ts";
import type { DocumentSource } from "../../run/documents/document-source.ts";
import { addManifestOptions, addRunOptions, addToleranceOptions, withSession } from "../../flags/flags.ts";
import { askForYes } from "../../workflows/ask-for-yes.ts";
import type { Done } from "../../flags/declare.ts";
import { dryRun } from "../../workflows/preview/preview.ts";
import type { Effect } from "../../workflows/effect.ts";
import { changePrinter } from "../../workflows/preview/change-columns.ts";
import { addDryRunOptions, checkDryRunFlags, type DryRunFlags, changeFormat } from "../../flags/change-flags.ts";
import { type ManifestRunFlags, runManifest } from "../../workflows/run/manifest-run.ts";
import type { RowSource, RunItem } from "../../workflows/rows/row-source.ts";
import { type RowRun, runSource } from "../../workflows/run/run-rows.ts";
import { printVersionLine } from "../../workflows/version-line.ts";
import { removalPass } from "../../workflows/policy/prescan.ts";
import { checkFailedPath } from "../../workflows/run/failed-file.ts";
import { payloadOptions } from "../../flags/payload-options.ts";
import { idRows } from "../../workflows/rows/id-rows.ts";

export type RmOptions = ManifestRunFlags &
	DryRunFlags & {
		readonly manifest: string | undefined;
		readonly id?: readonly string[];
		readonly yes?: boolean;
	};

/** Declares the interface of `docs rm`. What it does is in `remove`. */
export function rmCommand(docs: Command, app: App, done: Done, run = remove): void {
	const command = docs
		.command("rm")
		.summary("remove documents")
		.description("Removes the documents that a manifest or --id names, and no others. Asks first.")
		.argument("[manifest]", "CSV, JSON array or JSON lines; - reads standard input")
		.option("--id <id...>", "ids instead of a manifest (repeatable)")
		.option("--yes", "removes without asking")
		.addHelpText(
			"before",
			"Examples:\n  ragtag docs rm old.csv -d DATASET\n  ragtag docs rm --id 0a1b 2c3d -d DATASET --yes\n  ragtag docs rm old.csv -d DATASET --dry-run\n",
		);
	addDryRunOptions(command);
	addToleranceOptions(addManifestOptions(addRunOptions(command))).action(async (manifest: string | undefined) => {
		done(await run({ ...command.optsWithGlobals<Omit<RmOptions, "manifest">>(), manifest }, app));
	});
}

export async function remove(options: RmOptions, app: App): Promise<ExitCode> {
	const { manifest, id, yes = false, dryRun: isDry = false } = options;
	if ((manifest === undefined) === (id === undefined)) {
		throw new CliError("docs rm takes either a MANIFEST or --id", { exit: Exit.usage });
	}
	checkDryRunFlags(options);
	// A dry run removes nothing, so there is nothing to ask.
	if (!yes && !isDry && (manifest === "-" || !app.io.stdinIsTerminal)) {
		throw new CliError("docs rm asks for confirmation, and standard input is no terminal; nothing was sent", {
			exit: Exit.usage,
			hint: "Add --yes if you are sure.",
		});
	}
	const ask = async ({ rows, invalid, duplicateSkipped }: RowSource): Promise<void> => {
		if (yes) return;
		const count = rows - invalid - duplicateSkipped;
		await askForYes(`Remove ${documentsText(count)}? This cannot be undone.`, app);
	};
	const run: Omit<RowRun<RunItem>, "source"> = {
		tell: "failed",
		itemOf: ({ index, line, datasetId, documentId, source }) => ({ index, line, datasetId, documentId, source }),
		policyPass: removalPass,
		before: ask,
		operation: ({ service }, log) => removeDocument(service, log),
	};
	const instead = isDry
		? (source: RowSource, session: Session, settings: Settings): Promise<ExitCode> =>
				dryRun(
					{ ...run, source, see: seeRemoval, sink: changePrinter(changeFormat(options), app) },
					options,
					session,
					settings,
					app,
				)
		: undefined;
	if (manifest !== undefined) {
		return runManifest({ ...run, purpose: "rm", manifest, instead }, options, app);
	}
	if (options.json === true) await printVersionLine(app);
	return withSession(options, app, async (session, settings) => {
		if (options.failed !== undefined) await checkFailedPath(options.failed, "-");
		const source = idRows(id ?? [], options.dataset ?? settings.dataset?.value);
		if (instead !== undefined) return instead(source, session, settings);
		const context = {
			command: PURPOSES.rm.command,
			settings,
			options: payloadOptions(options, undefined, settings, undefined),
		};
		return runSource({ ...run, source }, context, options, session, app);
	});
}

async function seeRemoval(item: RunItem, { service, request }: Session, present: DocumentSource): Promise<Effect> {
	const { metadata = new Map(), inexact } = await previewRemoval(service, request, item, present);
	return { action: "remove", documentId: item.documentId, present: metadata, inexact, metadata: new Map() };
}
