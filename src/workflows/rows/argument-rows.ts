import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { CliError, Exit, reason } from "../../errors.ts";
import { quoted } from "../../flags/next-command.ts";
import { payloadOptions } from "../../flags/payload-options.ts";
import { SeenValues } from "../../manifest/seen-values.ts";
import type { CheckDependencies } from "../../manifest/types.ts";
import { csvFailedRows } from "../../manifest/failed-rows.ts";
import { csvLine } from "../../manifest/csv/cells.ts";
import { isStoredName } from "../../text/names.ts";
import { idKey } from "../../text/names.ts";
import { nameFoldingCheck } from "../check/ask-service.ts";
import { manifestOptions } from "../check/check-manifest.ts";
import { keyNotes } from "../values/key-warnings.ts";
import type { Run } from "../open-run.ts";
import { endedBefore } from "../report.ts";
import { checkFailedPath } from "./failed-rows.ts";
import type { ManifestReadFlags } from "./manifest-rows.ts";
import { sidecarRows, sidecarsOf } from "./sidecar-rows.ts";
import { type RowSource, recordedText } from "./row-source.ts";

/** The ids of `--id` as rows. An id that is given twice is sent once, and counted as a duplicate. */
export async function idRows({ flags, settings }: Run<ManifestReadFlags>, ids: readonly string[]): Promise<RowSource> {
	await checkFailedPath(flags.failed, "-");
	const dataset = flags.dataset ?? settings.dataset?.value;
	if (dataset === undefined) {
		throw new CliError("--id needs a dataset", {
			exit: Exit.usage,
			hint: "Name it with -d DATASET.",
		});
	}
	if (ids.some((id) => id.trim() === "" || id === "." || id === "..")) {
		throw new CliError("--id has an id that is empty, . or ..; nothing was sent", {
			exit: Exit.usage,
			hint: "Was a variable not set?",
		});
	}
	const repeated = ids.length - new Set(ids.map(idKey)).size;
	const text = csvLine(["dataset_id", "document_id"]) + ids.map((id) => csvLine([dataset, id])).join("");
	return {
		name: "--id",
		rows: ids.length,
		invalid: 0,
		duplicateSkipped: repeated,
		stop: undefined,
		async *read() {
			const seen = new Set<string>();
			for (const [index, documentId] of ids.entries()) {
				if (seen.has(idKey(documentId))) continue;
				seen.add(idKey(documentId));
				const source = { kind: "csv" as const, cells: [dataset, documentId] };
				yield { index, line: index + 1, datasetId: dataset, documentId, file: undefined, metadata: new Map(), source };
			}
		},
		failedRows: csvFailedRows(["dataset_id", "document_id"], ","),
		content: recordedText(text),
		options: payloadOptions(flags, undefined, settings, undefined),
		[Symbol.asyncDispose]: async () => undefined,
	};
}

/** Files of the command line as rows. They may be in any folder, as the user typed each path. */
export async function fileRows(
	run: Run<ManifestReadFlags & { readonly sidecars?: boolean | undefined }>,
	paths: readonly string[],
): Promise<RowSource> {
	const { flags, settings, session, app } = run;
	const found = flags.sidecars === false ? { files: paths, sidecars: new Map<string, string>() } : sidecarsOf(paths);
	const { files } = found;
	await checkFailedPath(flags.failed, "-");
	const options = await manifestOptions("upload", flags, settings);
	const { dataset, set: metadata } = options;
	if (dataset === undefined) {
		throw new CliError("files need a dataset", { exit: Exit.usage, hint: "Name it with -d DATASET." });
	}
	const names = new Map<string, string>();
	for (const file of files) {
		await checkFile(file);
		const name = basename(file);
		const same = names.get(name);
		if (same !== undefined) {
			throw new CliError(`${same} and ${file} would both be stored as ${name}; nothing was sent`, {
				exit: Exit.usage,
				hint: "Give them different names in a manifest with the columns file and name.",
			});
		}
		names.set(name, file);
	}
	for (const sidecar of found.sidecars.values()) await checkFile(sidecar);
	if (found.sidecars.size > 0) return sidecarRows(run, found, options);
	const { keys, notes } = new SeenValues(options);
	for (const note of notes) app.io.note(`warning: ${note}`);
	const folding = nameFoldingCheck(session, false, app);
	await checkFolding(names, folding.nameFolding);
	const stop = folding.stop();
	const intake = { rows: files.length, invalid: 0, duplicateSkipped: 0 };
	const lines = files.map((name) => csvLine([dataset, resolve(name)]));
	return {
		...intake,
		name: "files",
		onPresent: keyNotes({ keys, format: "csv" }, (text) => app.io.note(text)),
		stop: stop && endedBefore(intake, stop),
		async *read() {
			for (const [index, name] of files.entries()) {
				const file = { path: resolve(name), name: basename(name) };
				const source = { kind: "csv" as const, cells: [dataset, file.path] };
				yield { index, line: index + 1, datasetId: dataset, documentId: "", name: file.name, file, metadata, source };
			}
		},
		failedRows: csvFailedRows(["dataset_id", "file"], ",", (at) => ["dataset_id", "file"][at]),
		content: recordedText(csvLine(["dataset_id", "file"]) + lines.join("")),
		options: payloadOptions(flags, undefined, settings, undefined),
		[Symbol.asyncDispose]: async () => undefined,
	};
}

/** @throws CliError exit 2 where this service stores two of the names under one */
async function checkFolding(
	names: ReadonlyMap<string, string>,
	nameFolding: CheckDependencies["nameFolding"],
): Promise<void> {
	const seen = new Map<string, string>();
	for (const [name, file] of names) {
		const key = nameFolding?.fold(name) ?? name;
		const same = seen.get(key);
		seen.set(key, file);
		if (same === undefined || (await nameFolding?.applies(0)) !== true) continue;
		throw new CliError(
			`${same} and ${file} would be stored under one name by this service, which ignores letter case, accents and trailing blanks; nothing was sent`,
			{ exit: Exit.usage, hint: "Give them different names in a manifest with the columns file and name." },
		);
	}
}

async function checkFile(file: string): Promise<void> {
	try {
		const status = await stat(file);
		if (status.isDirectory()) throw folderNamed(file);
		if (!status.isFile()) throw new Error("is not a regular file");
		await access(file, constants.R_OK);
		// A service stores a line end in another form, so the document would not be found by its name again.
		if (!isStoredName(basename(file))) throw new Error("has a name that is not a plain file name; rename it");
	} catch (error) {
		if (error instanceof CliError) throw error;
		throw new CliError(`${file}: ${reason(error)}; nothing was sent`, { exit: Exit.usage, cause: error });
	}
}

function folderNamed(folder: string): CliError {
	const inside = folder.endsWith("/") ? folder : `${folder}/`;
	return new CliError(`${folder} is a folder; nothing was sent`, {
		exit: Exit.usage,
		hint: `Name the files in it: ragtag docs upload ${quoted(inside)}* -d DATASET`,
	});
}
