import { CliError, Exit } from "../../errors.ts";
import type { FileFlags } from "../../flags/input-flags.ts";
import { membersText } from "../../json/values.ts";
import type { ManifestOptions } from "../../manifest/types.ts";
import { temporaryFile } from "../../run/storage/temporary-folders.ts";
import type { Stop } from "../../run/types.ts";
import { numberText } from "../../text/words.ts";
import { manifestOptions } from "../check/check-manifest.ts";
import { requireDataset } from "../dataset.ts";
import type { Run } from "../open-run.ts";
import { endBefore, NO_ROWS } from "../report.ts";
import { type FactSetting, factSettings, fileMetadata } from "./file-values.ts";
import { type FoundFile, findFiles } from "./find-files.ts";
import { type ManifestReadFlags, checkedRows } from "./manifest-rows.ts";
import type { RowSource } from "./row-source.ts";

type FileRowFlags = ManifestReadFlags & FileFlags;

/**
 * Files and folders of the command line as rows. They may be anywhere, as the user typed each path. They are written as a
 * manifest, of which a recorded run keeps a copy: a resumed run sends the metadata that was checked.
 *
 * @throws CliError exit 3 where the metadata of one has a problem, after all problems were printed
 */
export async function fileRows(run: Run<FileRowFlags>, paths: readonly string[]): Promise<RowSource> {
	const { flags, settings, app } = run;
	const { plain, facts } = factSettings(flags.set ?? []);
	// The keys of sidecars are mapped here, and must not be mapped again.
	const { map, ignore, ...others } = flags;
	const ownFlags = { ...others, set: flags.set && plain };
	const options = await manifestOptions("upload", { ...ownFlags, map, ignore }, settings);
	requireDataset("an upload of files", options.dataset);
	const files = await findFiles(run, paths);
	if (files.length === 0 && flags.allowEmpty !== true) endBefore(run, NO_ROWS, NO_FILES);
	const sidecars = files.filter(hasSidecar).length;
	const count = sidecars === 1 ? "1 sidecar is" : `${numberText(sidecars)} sidecars are`;
	if (sidecars > 0) app.io.note(`${count} read as metadata, and not uploaded; --no-sidecars uploads them.`);
	const lines = await manifestLines(run, files, facts, options);
	const path = await temporaryFile(await app.temporaryFolder(settings), "the metadata of the files", lines);
	const reading = { ...options, map: new Map<string, string>(), ignore: new Set<string>(), filesRoot: "/" };
	const checking = { ...run, flags: { ...ownFlags, allowEmpty: true } };
	return checkedRows(checking, { path, name: "files" }, reading, undefined);
}

const NO_FILES: Stop = {
	exit: Exit.manifest,
	text: "there are no files to upload; nothing was sent",
	hint: "Hidden files are left out, and what --include and --exclude leave out. If that is right, add --allow-empty.",
};

function hasSidecar({ facts }: FoundFile): boolean {
	return facts.sidecar !== undefined;
}

/** @param settings the values of `--set` that are facts of each file */
async function manifestLines(
	{ flags, app }: Run<ManifestReadFlags>,
	files: readonly FoundFile[],
	settings: readonly FactSetting[],
	options: ManifestOptions,
): Promise<readonly string[]> {
	const metadata = await fileMetadata(app, flags.json === true, options);
	const lines: string[] = [];
	for (const { facts, name } of files) {
		const own = await metadata.of(facts, facts.sidecar, settings);
		const row = { dataset_id: options.dataset, file: facts.path, name, meta_fields: own ?? new Map() };
		lines.push(`${membersText(row)}\n`);
	}
	const problems = metadata.end();
	if (problems === 0) return lines;
	const what = files.some(hasSidecar) ? "the sidecars have" : "the values of --set have";
	throw new CliError(`${what} ${numberText(problems)} ${problems === 1 ? "problem" : "problems"}; nothing was sent`, {
		exit: Exit.manifest,
		hint: "Correct them, or leave them out.",
	});
}
