import type { Change } from "../../plan/change.ts";
import { resolve } from "node:path";
import { CliError, Exit, usageError } from "../../errors.ts";
import { membersText } from "../../json/values.ts";
import { temporaryFile } from "../../run/storage/temporary-folders.ts";
import { PURPOSES, type Purpose } from "../../manifest/purposes.ts";
import type { CheckedManifest, ManifestOptions } from "../../manifest/types.ts";
import { nameFoldingCheck, presentValues } from "../check/ask-service.ts";
import { checkAndReport, manifestOptions, refusal } from "../check/check-manifest.ts";
import type { RowFlags } from "../../flags/flags.ts";
import type { FileFlags } from "../../flags/input-flags.ts";
import { ownFilesRoot, type PayloadFlags, payloadOptions } from "../../flags/payload-options.ts";
import { keyNotes } from "../values/key-warnings.ts";
import type { Run } from "../open-run.ts";
import type { Stop } from "../../run/types.ts";
import { isDatasetId, refuseUnlisted, requireDataset } from "../dataset.ts";
import { numberText } from "../../text/words.ts";
import { endBefore, NO_ROWS } from "../report.ts";
import { stopOrSignal } from "../../run/stop/shutdown.ts";
import { type FactSetting, factSettings, fileMetadata } from "./file-values.ts";
import { findFiles, type FoundFile } from "./find-files.ts";
import type { RowSource } from "./row-source.ts";

/** Flags about what is read from a manifest, and which problems it may have. */
export type ManifestReadFlags = RowFlags & PayloadFlags;

export type Reading = {
	readonly purpose: Purpose;
	/** how rows become what is sent: where it is given, a value that its document has already is no problem */
	readonly alreadyPresent?: Change | undefined;
};

/**
 * The rows of a manifest. All of it is checked and its problems are printed, which end the command.
 *
 * ARCHITECTURE.md says when an exit of 2 or 3 follows a request.
 *
 * @throws EarlyEnd where none of them may be sent
 */
export async function manifestRows(
	run: Run<ManifestReadFlags>,
	manifest: string,
	{ purpose, alreadyPresent }: Reading,
): Promise<RowSource> {
	const { flags, settings } = run;
	const filesRoot = flags.filesRoot ?? ownFilesRoot(manifest, settings);
	const options = await manifestOptions(purpose, { ...flags, filesRoot }, settings);
	return checkedRows(run, { path: manifest }, options, alreadyPresent);
}

/** The ids of `--id` as rows. An id that is given twice is sent once, and counted as a duplicate. */
export async function idRows(
	run: Run<ManifestReadFlags>,
	ids: readonly string[],
	{ purpose }: Reading,
): Promise<RowSource> {
	const { flags, settings, app } = run;
	const dataset = requireDataset("--id", flags.dataset ?? settings.dataset?.value);
	if (ids.some((id) => id.trim() === "" || id === "." || id === "..")) {
		throw usageError("--id has an id that is empty, . or ..; nothing was sent", "Was a variable not set?");
	}
	const lines = ids.map((id) => `${JSON.stringify({ dataset_id: dataset, document_id: id })}\n`);
	const path = await temporaryFile(await app.temporaryFolder(settings), "the ids", lines);
	return checkedRows(run, { path, name: "--id" }, await manifestOptions(purpose, { dataset }, settings), undefined);
}

/** A manifest of the user, or one with a name that a command has made. A recorded run keeps a copy of that. */
type ManifestFile = { readonly path: string; readonly name?: string | undefined };

/** The rows of a manifest whose options are known. @throws EarlyEnd as above */
export async function checkedRows(
	run: Run<ManifestReadFlags>,
	{ path, name }: ManifestFile,
	options: ManifestOptions,
	alreadyPresent: Change | undefined,
): Promise<RowSource> {
	const { flags, session, settings, app } = run;
	const { purpose } = options;
	await using present = alreadyPresent === undefined ? undefined : presentValues(run, alreadyPresent);
	const names = PURPOSES[purpose].subject.hasFile
		? nameFoldingCheck(session, flags.skipInvalid === true, app)
		: undefined;
	const more = { name, isAlreadyPresent: present?.isAlreadyPresent, foldsNames: names?.foldsNames };
	const checked = await checkAndReport(run, path, options, more);
	const shard = options.shard && { ...options.shard, otherRows: checked.otherRows };
	const stop =
		refusal(checked, flags, purpose) ?? present?.stop() ?? names?.stop() ?? (await stopIfUnlisted(run, checked));
	if (stop !== undefined) {
		await checked.close();
		endBefore(run, { ...checked, shard }, stop);
	}
	const { sha256, bytes, spooled: copy = name === undefined ? undefined : path } = checked.content;
	return {
		...checked,
		shard,
		onPresent: keyNotes(checked, (text) => app.io.note(text)),
		content: { sha256, bytes, source: copy === undefined ? { path: resolve(path) } : { copy } },
		options: payloadOptions(flags, name === undefined ? path : undefined, settings, options.schema),
		[Symbol.asyncDispose]: () => checked.close(),
	};
}

/**
 * Why rows must not be sent whose column `dataset_id` has several datasets, or what is no id for certain, and the service does
 * not list one of them. The only id of a manifest costs no request here: the first refusal shows that it is wrong.
 */
async function stopIfUnlisted(
	run: Run<ManifestReadFlags>,
	{ name, datasets }: Pick<CheckedManifest, "name" | "datasets">,
): Promise<Stop | undefined> {
	const { flags, settings, app } = run;
	const given = flags.dataset ?? settings.dataset?.value;
	const named = [...datasets].filter(([id]) => id !== given);
	if (named.length === 0 || (datasets.size === 1 && named.every(([id]) => isDatasetId(id)))) return undefined;
	const lines = new Map(named.map(([id, line]) => [id, `${name}:${line}`]));
	try {
		await refuseUnlisted(run, lines);
		return undefined;
	} catch (error) {
		return stopOrSignal(error, app.signal);
	}
}

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
