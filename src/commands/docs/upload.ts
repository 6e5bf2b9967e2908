import { unaskedOptions } from "../../flags/change-flags.ts";
import { show } from "../../text/show.ts";
import { numberText } from "../../text/words.ts";
import { rowLine } from "../../report/summary.ts";
import type { App } from "../../app.ts";
import { type ExitCode, usageError } from "../../errors.ts";
import { csvLine } from "../../manifest/csv/cells.ts";
import { PURPOSES } from "../../manifest/purposes.ts";
import type { Row } from "../../manifest/types.ts";
import type { OnExisting } from "../../run/operations/namesakes.ts";
import type { Operation } from "../../run/operations/operation.ts";
import type { Parsing } from "../../run/operations/parsing.ts";
import { judgeExisting } from "../../run/operations/existing-documents.ts";
import type { UploadItem } from "../../run/operations/store-file.ts";
import { uploadFile } from "../../run/operations/upload.ts";
import { ParsingStates } from "../../run/documents/parsing-states.ts";
import { holds, refuseValues } from "../../run/service/arrival.ts";
import { requireCall } from "../../run/service/detect-flavour.ts";
import type { Outcome } from "../../run/types.ts";
import { choice, declare, Flag, oneOf, toggle, type ValuesOf } from "../../flags/declare.ts";
import { type MANIFEST, RUN_OF_MANIFEST, type RunFlags, verifies, WRITE } from "../../flags/flags.ts";
import { PARSE, parsingWanted } from "../../flags/parse-flags.ts";
import { withFlags } from "../../flags/next-command.ts";
import { refused } from "../../flags/refuse.ts";
import { effectOfParsing, type PreviewRow } from "../../workflows/effect.ts";
import { openRun, type Run } from "../../workflows/open-run.ts";
import { policyPrescan, prescanCreations } from "../../workflows/policy/prescan.ts";
import { changePrinter, type ChangeSink } from "../../workflows/preview/change-printer.ts";
import { preview } from "../../workflows/preview/preview.ts";
import { endIfMetadataHidden } from "../../workflows/readable.ts";
import { fileRows, type ManifestReadFlags, manifestRows } from "../../workflows/rows/manifest-rows.ts";
import type { AllowedRows, RowSource } from "../../workflows/rows/row-source.ts";
import type { RunRecord } from "../../workflows/run/open-record.ts";
import { type RowOperation, runRows } from "../../workflows/run/run-rows.ts";
import { FILES, shardOption, SHARDS_NEED_A_MANIFEST, sidecarsOption } from "../../flags/input-flags.ts";

const OPTIONS = {
	...RUN_OF_MANIFEST,
	...unaskedOptions(),
	...FILES,
	sidecars: sidecarsOption("uploads"),
	...PARSE,
	shard: shardOption(),
	...WRITE,
	as: oneOf("--as <what>", ["manifest", "files"], "what the arguments are"),
	onExisting: choice(
		"--on-existing <what>",
		["error", "skip", "update-metadata", "upload-again", "replace"],
		"if a document of that name exists: fail the row, leave the document, replace its metadata, store another, or replace the document where the file has changed",
	),
	checksum: toggle(
		"--checksum",
		"with --on-existing replace, also compares contents of equal size: downloads the documents",
	).rule("needs", "--on-existing replace"),
	filesRoot: new Flag<string>(
		"--files-root <dir>",
		"folder of the files of a manifest (default: the manifest's folder)",
	),
};

type UploadOptions = ManifestReadFlags &
	RunFlags &
	ValuesOf<Omit<typeof OPTIONS, keyof typeof MANIFEST>> & { readonly files: readonly string[] };

export const uploadCommand = declare({
	summary: "upload files, then write their metadata",
	description: "Uploads files, then writes their metadata, and prints a CSV manifest of the new ids.",
	examples:
		"ragtag docs upload report.pdf notes.md -d DATASET > ids.csv\nragtag docs upload papers -d DATASET --include '*.pdf' --set folder={folder}\nragtag docs upload files.csv -d DATASET --failed failed.csv\nragtag docs upload files.csv -d DATASET --on-existing update-metadata --dry-run\nragtag docs upload papers -d DATASET --on-existing replace --parse --wait",
	arguments: {
		"[files...]": "one manifest (- .csv .tsv .json .jsonl .ndjson, also with .gz), or files and folders",
	},
	options: OPTIONS,
	run: upload,
	resume: (file, flags, app) => {
		const { onExisting = "error" } = flags;
		return upload({ ...flags, files: [file.manifest.path], as: "manifest", onExisting }, app);
	},
});

/** Whether the arguments of `docs upload` are one manifest: by the file's ending, unless `--as` says it. */
export function isManifest(files: readonly string[], as: "manifest" | "files" | undefined): boolean {
	const [first] = files;
	if (as !== undefined) return as === "manifest";
	return files.length === 1 && first !== undefined && /^-$|\.(csv|tsv|json|jsonl|ndjson)(\.gz)?$/i.test(first);
}

async function upload(options: UploadOptions, app: App): Promise<ExitCode> {
	const { files, onExisting, dryRun = false } = options;
	const manifest = checkFlags(options);
	const { command } = PURPOSES.upload;
	await using run = await openRun(command, options, app);
	await using rows = await (manifest === undefined
		? fileRows(run, files)
		: manifestRows(run, manifest, { purpose: "upload" }));
	// A manifest is checked before the first request.
	if (onExisting === "replace") {
		for (const call of ["download", "rename"] as const) await requireCall(run.session, call, "--on-existing replace");
	}
	if (options.parse === true) await requireCall(run.session, "parse", "--parse");
	const compares = comparesMetadata(onExisting);
	const previewed = dryRun && compares ? "--dry-run" : undefined;
	await endIfMetadataHidden(run, rows, verifies(options) ? "--verify" : previewed);
	if (dryRun) return await preview(run, rows, uploadPreview(options, app.clock), uploadPrinter(run));
	const allowed = await prescanUploads(run, rows);
	await using _lists = allowed.documents;
	if (onExisting === "update-metadata") {
		app.io.note("Keys that a row does not have are removed from an existing document.");
	}
	if (options.json !== true) await app.io.out(csvLine(["document_id", "dataset_id", "name", "file"]));
	const parsing = parsingWanted(run.session, options);
	return await runRows(run, allowed, uploadFiles(run, parsing), {
		hasSent: () => parsing?.hasStarted === true,
		onOutcome: (outcome) => printOutcome(run, outcome),
		ending: (record) => ({ next: nextOfLost(record) }),
	});
}

/** The manifest, where the arguments are one. @throws CliError exit 2 for flags that mean nothing without others */
function checkFlags(options: UploadOptions): string | undefined {
	const { files, as, filesFrom } = options;
	if (files.length === 0 && filesFrom === undefined) {
		throw usageError("missing argument 'files': name a manifest, files or folders");
	}
	if (files.length === 0 || !isManifest(files, as)) {
		if (options.shard !== undefined) throw refused("--shard needs a manifest", SHARDS_NEED_A_MANIFEST);
		return undefined;
	}
	const [manifest, ...others] = files;
	const given: Readonly<Record<string, unknown>> = options;
	const ofFolders = Object.entries(FILES).find(([name]) => given[name] !== undefined)?.[1];
	if (ofFolders !== undefined) {
		const text = `${ofFolders.long} is for files and folders, and ${manifest} is a manifest`;
		throw refused(text, `If ${manifest} is a file to upload, add --as files.`);
	}
	if (others.length > 0) throw usageError("--as manifest takes one manifest");
	return manifest;
}

/** An existing document may be skipped or updated. Then only a request shows what a row does. */
function prescanUploads(run: Run<UploadOptions>, rows: RowSource): Promise<AllowedRows> {
	const { onExisting } = run.flags;
	if (onExisting === "error" || onExisting === "upload-again") return prescanCreations(run, rows);
	// A content of equal size changes nothing that is judged, unless a policy counts the documents.
	const checksum = run.flags.checksum === true && run.settings.policy !== undefined;
	return policyPrescan(run, rows, uploadPreview({ onExisting, checksum }, run.app.clock), {
		compares: comparesMetadata(onExisting),
		keepsLists: true,
	});
}

/** Whether the metadata of documents that are there decides what is sent. */
function comparesMetadata(onExisting: OnExisting): boolean {
	return onExisting === "update-metadata" || onExisting === "replace";
}

function uploadPreview(
	{ onExisting, checksum = false, parse = false }: Pick<UploadOptions, "onExisting" | "checksum" | "parse">,
	clock: App["clock"],
): PreviewRow {
	const states = new ParsingStates(clock);
	return async (row, session, documents) => {
		const { service, request } = session;
		const api = await service.known(request);
		const item = withFile(row);
		const { datasetId, file } = item;
		const namesakes = await documents.byName(api, request, datasetId, file.name);
		const judged = await judgeExisting({ service, api, request, datasetId, item, onExisting, checksum }, namesakes);
		const { what, document, metadata } = judged ?? { what: "upload", document: undefined, metadata: item.metadata };
		const documentId = document?.id ?? "";
		const isSame = what === "update" && holds(document, metadata, api.dialect.flavour.normalise);
		if (what === "nothing" || isSame) {
			if (!parse) return { action: "none", documentId };
			return effectOfParsing(states, session, { ...row, documentId }, { onlyFailed: false, again: false });
		}
		refuseValues(service, metadata);
		const { metadata: present = new Map(), inexact } = document ?? {};
		return { action: what, documentId, present, inexact, metadata };
	};
}

function uploadFiles({ session: { service, timeout }, flags }: Run<UploadOptions>, parsing?: Parsing): RowOperation {
	const { onExisting, checksum = false } = flags;
	return (log, documents) => {
		const upload = uploadFile(service, onExisting, documents, { log, timeout, checksum, parsing });
		const operation: Operation<Row> = (row, request, memory) => upload(withFile(row), request, memory);
		return parsing?.after(operation) ?? operation;
	};
}

function withFile(row: Row): Row & UploadItem {
	const { file } = row;
	if (file === undefined) throw new Error(`the row of line ${row.line} has no file`);
	return { ...row, file };
}

/** With `--json` a dry run prints unchanged rows, too. */
function uploadPrinter({ flags, app }: Run<UploadOptions>): ChangeSink {
	const printer = changePrinter(flags, app);
	return flags.json === true ? { ...printer, unchanged: (outcome) => app.io.out(`${rowLine(outcome)}\n`) } : printer;
}

/** The line of a row: with `--json` of each (those that fail are printed for every command), else of each stored document. */
async function printOutcome({ flags, app: { io } }: Run, outcome: Outcome<Row>): Promise<void> {
	const { item, status, documentId, storedName, replaces } = outcome;
	if (replaces !== undefined) io.note(`${show(storedName ?? "")}: ${show(replaces)} → ${show(documentId)}`);
	if (flags.json === true) return status === "failed" ? undefined : io.out(`${rowLine(outcome)}\n`);
	// A row that failed after its file was stored has an id too: without it, the document could not be tagged or removed.
	if (documentId === "") return undefined;
	return io.out(csvLine([documentId, item.datasetId, storedName ?? item.file?.name ?? "", item.file?.path ?? ""]));
}

/** The advice for uploads whose answers were lost: sending them again at once could store them twice. */
function nextOfLost({ name, journal, run }: RunRecord): string | undefined {
	const files = journal.state.failedWith("UNKNOWN_OUTCOME");
	if (files === 0) return undefined;
	const which =
		files === 1 ? "1 file that failed may be stored" : `${numberText(files)} files that failed may be stored`;
	const retry = withFlags(`ragtag runs retry ${name}`, run.flags);
	return `${which} all the same: find it with docs list --name. ${retry} waits and checks again before it sends.`;
}
