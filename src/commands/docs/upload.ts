import { type Command, Option } from "commander";
import type { App, Session, Settings } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import type { Row } from "../../manifest/types.ts";
import { csvLine } from "../../manifest/index.ts";
import { PURPOSES } from "../../manifest/purposes.ts";
import { unsentTotals } from "../../run/journal/memory-journal.ts";
import { Settling } from "../../run/operations/store-file.ts";
import type { OnExisting } from "../../run/operations/namesakes.ts";
import type { DocumentSource } from "../../run/documents/document-source.ts";
import { previewUpload, uploadFile, type UploadItem } from "../../run/operations/upload.ts";
import type { Outcome, Stop } from "../../run/types.ts";
import { checkFailedPath } from "../../workflows/run/failed-file.ts";
import {
	addManifestOptions,
	addRunOptions,
	addToleranceOptions,
	addWriteOptions,
	verifies,
	withSession,
} from "../../flags/flags.ts";
import type { Done } from "../../flags/declare.ts";
import { dryRun } from "../../workflows/preview/preview.ts";
import type { Effect } from "../../workflows/effect.ts";
import { changePrinter } from "../../workflows/preview/change-columns.ts";
import { addDryRunOptions, checkDryRunFlags, type DryRunFlags, changeFormat } from "../../flags/change-flags.ts";
import { alikeNames } from "../../workflows/check/alike-names.ts";
import { manifestOptions } from "../../workflows/check/check-rows.ts";
import { type ManifestRunFlags, runManifest } from "../../workflows/run/manifest-run.ts";
import type { RowSource, RunItem } from "../../workflows/rows/row-source.ts";
import { type RowRun, runSource } from "../../workflows/run/run-rows.ts";
import { printVersionLine } from "../../workflows/version-line.ts";
import type { PolicyPass } from "../../workflows/policy/policy-pass.ts";
import { creationPass, policyPrescan } from "../../workflows/policy/prescan.ts";
import { withFlags } from "../../flags/next-command.ts";
import { numberText } from "../../text/words.ts";
import { payloadOptions } from "../../flags/payload-options.ts";
import { unreadable } from "../../workflows/readable.ts";
import { report } from "../../workflows/run/run-report.ts";
import { fileRows } from "../../workflows/rows/file-rows.ts";

export type UploadOptions = ManifestRunFlags &
	DryRunFlags & {
		readonly files: readonly string[];
		readonly as?: "manifest" | "files";
		readonly onExisting: OnExisting;
	};

/** Declares the interface of `docs upload`. What it does is in `upload`. */
export function uploadCommand(docs: Command, app: App, done: Done, run = upload): void {
	const command = docs
		.command("upload")
		.summary("upload files, then write their metadata")
		.description("Uploads files, then writes their metadata, and prints a CSV manifest of the new ids.")
		.argument("<files...>", "one manifest (- .csv .tsv .json .jsonl .ndjson, also with .gz), or files")
		.addOption(new Option("--as <what>", "what the arguments are").choices(["manifest", "files"]))
		.addOption(
			new Option(
				"--on-existing <what>",
				"if a document of that name exists: fail the row, leave the document, replace its metadata, or store another",
			)
				.choices(["error", "skip", "update-metadata", "upload-again"])
				.default("error"),
		)
		.option("--files-root <dir>", "folder of the files of a manifest (default: the manifest's folder)")
		.addHelpText(
			"before",
			"Examples:\n  ragtag docs upload report.pdf notes.md -d DATASET > ids.csv\n  ragtag docs upload files.csv -d DATASET --failed failed.csv\n  ragtag docs upload files.csv -d DATASET --on-existing update-metadata --dry-run\n",
		);
	addDryRunOptions(command);
	addToleranceOptions(addWriteOptions(addManifestOptions(addRunOptions(command)))).action(async (files: string[]) => {
		done(await run({ ...command.optsWithGlobals<Omit<UploadOptions, "files">>(), files }, app));
	});
}

type FileItem = RunItem & UploadItem & { readonly fileName: string };

/** Whether the arguments of `docs upload` are one manifest: told by the ending, unless `--as` says it. */
export function isManifest(files: readonly string[], as: "manifest" | "files" | undefined): boolean {
	const [first] = files;
	if (as !== undefined) return as === "manifest";
	return files.length === 1 && first !== undefined && /^-$|\.(csv|tsv|json|jsonl|ndjson)(\.gz)?$/i.test(first);
}

export async function upload(options: UploadOptions, app: App): Promise<ExitCode> {
	const [manifest] = options.files;
	checkDryRunFlags(options);
	const run = uploadRun(options, app);
	const instead = options.dryRun === true ? dryUpload(run, options, app) : undefined;
	const refuse = async (source: RowSource, session: Session): Promise<Stop | undefined> =>
		verifies(options) ? unreadable("--verify", source, session, options, app) : undefined;
	if (isManifest(options.files, options.as) && manifest !== undefined) {
		if (options.files.length > 1) throw new CliError("--as manifest takes one manifest", { exit: Exit.usage });
		return runManifest({ ...run, purpose: "upload", manifest, refuse, instead }, options, app);
	}
	if (options.json === true) await printVersionLine(app);
	return withSession(options, app, async (session, settings) => {
		if (options.failed !== undefined) await checkFailedPath(options.failed, "-");
		const { dataset, set } = await manifestOptions("upload", options, settings);
		const names = alikeNames(session, false, app);
		const source = await fileRows(options.files, dataset, set, names.alike);
		if (instead !== undefined && names.stop() === undefined) return instead(source, session, settings);
		const stop = names.stop() ?? (await refuse(source, session));
		if (stop !== undefined) {
			return report({ totals: unsentTotals(source), seconds: 0, stop }, options, app);
		}
		const context = {
			command: PURPOSES.upload.command,
			settings,
			options: payloadOptions(options, undefined, settings, undefined),
		};
		return runSource({ ...run, source }, context, options, session, app);
	});
}

/** Shows what an upload would do, in place of doing it. */
function dryUpload(
	run: Omit<RowRun<FileItem>, "source">,
	options: UploadOptions,
	app: App,
): (source: RowSource, session: Session, settings: Settings) => Promise<ExitCode> {
	const { onExisting } = options;
	const see = seeUpload(onExisting);
	return async (source, session, settings) => {
		const isCompared = onExisting === "update-metadata";
		const stop = isCompared ? await unreadable("--dry-run", source, session, options, app) : undefined;
		if (stop === undefined)
			return dryRun(
				{ ...run, source, see, sink: changePrinter(changeFormat(options), app) },
				options,
				session,
				settings,
				app,
			);
		return report({ totals: unsentTotals(source), seconds: 0, stop }, options, app);
	};
}

function seeUpload(onExisting: OnExisting) {
	return async (item: FileItem, { service, request }: Session, present: DocumentSource): Promise<Effect> => {
		const looked = await previewUpload(service, request, item, { onExisting, names: present.names(service.lookup) });
		switch (looked.action) {
			case "none":
				return looked;
			case "upload":
				return { action: "upload", documentId: "", present: new Map(), metadata: item.metadata };
			case "update":
				return { ...looked, metadata: item.metadata };
		}
	};
}

/** Where documents that are there may be left or written, only a look tells what a row does. */
function uploadPass(onExisting: OnExisting): PolicyPass<Row> {
	if (onExisting === "error" || onExisting === "upload-again") return creationPass;
	return policyPrescan({ itemOf, see: seeUpload(onExisting), compares: onExisting === "update-metadata" });
}

function itemOf({ index, line, datasetId, documentId, metadata, source, file }: Row): FileItem {
	if (file === undefined) throw new Error(`the row of line ${line} has no file`);
	return { index, line, datasetId, documentId, metadata, source, file, fileName: file.path };
}

function noteReplacing({ onExisting }: UploadOptions, { io }: App): void {
	if (onExisting !== "update-metadata") return;
	io.note("Keys that a row does not have are removed from an existing document.");
}

/** What to do about uploads whose answers were lost: to send them again at once could store them twice. */
function nextOfLost(files: number, retry: string): string | undefined {
	if (files === 0) return undefined;
	const which =
		files === 1 ? "1 file that failed may be stored" : `${numberText(files)} files that failed may be stored`;
	return `${which} all the same: find it with docs list --name. ${retry} waits and checks again before it sends.`;
}

async function printHead({ json }: UploadOptions, { io }: App): Promise<void> {
	if (json !== true) await io.out(csvLine(["document_id", "dataset_id", "name", "file"]));
}

function uploadRun(options: UploadOptions, app: App): Omit<RowRun<FileItem>, "source"> {
	const { json, onExisting } = options;
	return {
		tell: "all",
		itemOf,
		policyPass: uploadPass(onExisting),
		before: async () => {
			noteReplacing(options, app);
			await printHead(options, app);
		},
		operation: ({ service, timeout }, log, present) =>
			uploadFile(service, onExisting, {
				log,
				settling: new Settling(service, timeout),
				names: present.names(service.lookup),
			}),
		next: (run, failedWith) =>
			nextOfLost(failedWith("UNKNOWN_OUTCOME"), withFlags(`ragtag runs retry ${run}`, options)),
		// A row that failed after its file was stored has an id too: without it, nobody could tag or remove it.
		onOutcome: ({ item, documentId, storedName }: Outcome<FileItem>): Promise<void> | void => {
			if (json === true || documentId === "") return;
			return app.io.out(csvLine([documentId, item.datasetId, storedName ?? item.file.name, item.file.path]));
		},
	};
}
