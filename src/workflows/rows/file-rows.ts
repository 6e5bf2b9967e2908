import { resolve } from "node:path";
import { writeFile } from "node:fs/promises";
import { CliError, Exit, usageError } from "../../errors.ts";
import { payloadOptions } from "../../flags/payload-options.ts";
import { csvLine } from "../../manifest/csv/cells.ts";
import { csvFailedRows } from "../../manifest/failed-rows.ts";
import { SeenValues } from "../../manifest/seen-values.ts";
import { manifestOptions } from "../check/check-manifest.ts";
import type { Run } from "../open-run.ts";
import { endedBefore } from "../report.ts";
import { keyNotes } from "../values/key-warnings.ts";
import type { Stop } from "../../run/types.ts";
import { FileMetadata } from "./file-metadata.ts";
import { type FactSetting, factSettings } from "./file-values.ts";
import { checkFailedPath } from "./failed-rows.ts";
import { type FoundFile, findFiles, isRenamed, namedSidecars } from "./find-files.ts";
import { type ManifestReadFlags, checkedRows, madeRows } from "./manifest-rows.ts";
import { type RowSource, recordedText } from "./row-source.ts";
import { type JsonValue, metadataText } from "../../json/values.ts";
import type { ManifestOptions } from "../../manifest/types.ts";
import { numberText } from "../../text/words.ts";
import type { FileFlags } from "../../flags/input-flags.ts";

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
		rowsByDataset: new Map([[dataset, files.length]]),
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

/** Files whose metadata comes from sidecars, by the absolute paths of their files, or from facts of each. */
type DescribedFiles = {
	readonly files: readonly FoundFile[];
	readonly sidecars: ReadonlyMap<string, string>;
	readonly facts: readonly FactSetting[];
};

/**
 * Files with metadata of their own, as rows. They are written as a manifest, of which a recorded run keeps a copy: a resumed
 * run sends the metadata that was checked.
 *
 * @throws CliError exit 3 where the metadata of one has a problem, after all problems were printed
 */
async function describedRows(
	run: Run<ManifestReadFlags>,
	described: DescribedFiles,
	options: ManifestOptions,
): Promise<RowSource> {
	const { app } = run;
	const { size } = described.sidecars;
	const count = size === 1 ? "1 sidecar is" : `${numberText(size)} sidecars are`;
	if (size > 0) app.io.note(`${count} read as metadata, and not uploaded; --no-sidecars uploads them.`);
	const text = await manifestText(run, described, options);
	// The keys of sidecars are mapped already, and must not be mapped again.
	const { map: _map, ignore: _ignore, ...flags } = run.flags;
	const reading = { ...options, map: new Map<string, string>(), ignore: new Set<string>(), filesRoot: "/" };
	return madeRows(
		run,
		"the metadata of the files",
		(path) => writeFile(path, text, { flag: "wx", mode: 0o600 }),
		(path) => checkedRows({ ...run, flags }, { path, name: "files" }, reading, undefined),
	);
}

async function manifestText(
	{ flags, app }: Run<ManifestReadFlags>,
	{ files, sidecars, facts: settings }: DescribedFiles,
	options: ManifestOptions,
): Promise<string> {
	const metadata = await FileMetadata.create(app, flags.json === true, options);
	let text = "";
	for (const found of files) {
		const { facts, name } = found;
		const own = (await metadata.of(facts, sidecars.get(facts.path), settings)) ?? new Map<string, JsonValue>();
		const [dataset, path] = [JSON.stringify(options.dataset), JSON.stringify(facts.path)];
		const named = isRenamed(found) ? `"name":${JSON.stringify(name)},` : "";
		text += `{"dataset_id":${dataset},"file":${path},${named}"meta_fields":${metadataText(own)}}\n`;
	}
	metadata.end();
	const { problems } = metadata;
	if (problems === 0) return text;
	const what = sidecars.size > 0 ? "the sidecars have" : "the values of --set have";
	throw new CliError(`${what} ${numberText(problems)} ${problems === 1 ? "problem" : "problems"}; nothing was sent`, {
		exit: Exit.manifest,
		hint: "Correct them, or leave them out.",
	});
}
