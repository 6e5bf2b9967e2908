import { resolve } from "node:path";
import { Exit, usageError } from "../../errors.ts";
import type { FileFlags } from "../../flags/file-flags.ts";
import { payloadOptions } from "../../flags/payload-options.ts";
import { csvLine } from "../../manifest/csv/cells.ts";
import { csvFailedRows } from "../../manifest/failed-rows.ts";
import { SeenValues } from "../../manifest/seen-values.ts";
import { manifestOptions } from "../check/check-manifest.ts";
import type { Run } from "../open-run.ts";
import { endedBefore } from "../report.ts";
import { keyNotes } from "../values/key-warnings.ts";
import type { Stop } from "../../run/types.ts";
import { factSettings } from "./fact-settings.ts";
import { checkFailedPath } from "./failed-rows.ts";
import { findFiles, isRenamed, namedSidecars } from "./find-files.ts";
import type { ManifestReadFlags } from "./manifest-rows.ts";
import { type RowSource, recordedText } from "./row-source.ts";
import { describedRows } from "./sidecar-rows.ts";

type FileRowFlags = ManifestReadFlags & FileFlags;

/** Files and folders of the command line as rows. They may be anywhere, as the user typed each path. */
export async function fileRows(run: Run<FileRowFlags>, paths: readonly string[]): Promise<RowSource> {
	const { flags, settings, app } = run;
	const byName =
		flags.sidecars === false ? { others: paths, sidecars: new Map<string, string>() } : namedSidecars(paths);
	await checkFailedPath(flags.failed, "-");
	const { plain, facts } = factSettings(flags.set ?? []);
	const ownFlags = { ...flags, set: flags.set && plain };
	const options = await manifestOptions("upload", ownFlags, settings);
	const { dataset, set: metadata } = options;
	if (dataset === undefined) {
		throw usageError("files need a dataset", "Name it with -d DATASET.");
	}
	const { files, stop } = await findFiles(run, byName.others);
	const sidecars = new Map(byName.sidecars);
	for (const { facts: each } of files) if (each.sidecar !== undefined) sidecars.set(each.path, each.sidecar);
	const intake = { rows: files.length, invalid: 0, duplicateSkipped: 0 };
	const ended = stop ?? (files.length === 0 && flags.allowEmpty !== true ? NO_FILES : undefined);
	if (ended === undefined && sidecars.size + facts.length > 0) {
		return describedRows({ ...run, flags: ownFlags }, { files, sidecars, facts }, options);
	}
	const { keys, notes } = new SeenValues(options);
	for (const note of notes) app.io.note(`warning: ${note}`);
	// Only where it says more than the path: a recorded run is found again by its content.
	const hasNames = files.some(isRenamed);
	const columns = ["dataset_id", "file", ...(hasNames ? ["name"] : [])];
	const cellsOf = ({ facts: { path }, name }: (typeof files)[number]): readonly string[] =>
		hasNames ? [dataset, path, name] : [dataset, path];
	return {
		...intake,
		name: "files",
		onPresent: keyNotes({ keys, format: "csv" }, (text) => app.io.note(text)),
		stop: ended && endedBefore(intake, ended),
		async *read() {
			for (const [index, found] of files.entries()) {
				const file = { path: resolve(found.facts.path), name: found.name };
				const source = { kind: "csv" as const, cells: cellsOf(found) };
				yield { index, line: index + 1, datasetId: dataset, documentId: "", name: file.name, file, metadata, source };
			}
		},
		failedRows: csvFailedRows(columns, ",", (at) => columns[at]),
		content: recordedText(csvLine(columns) + files.map((found) => csvLine(cellsOf(found))).join("")),
		options: payloadOptions(ownFlags, undefined, settings, undefined),
		[Symbol.asyncDispose]: async () => undefined,
	};
}

const NO_FILES: Stop = {
	exit: Exit.manifest,
	text: "there are no files to upload; nothing was sent",
	hint: "Hidden files are left out, and what --include and --exclude leave out. If that is right, add --allow-empty.",
};
