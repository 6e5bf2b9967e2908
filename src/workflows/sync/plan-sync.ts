import { createHash } from "node:crypto";
import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { CliError, Exit, reason, usageError } from "../../errors.ts";
import type { SyncTarget } from "../../plan/plan-file/lines.ts";
import { mostRemovals, planSync, type SyncSteps, type WantedFile } from "../../plan/sync/steps.ts";
import { isSameName } from "../../run/documents/find-named.ts";
import type { MaxErrors } from "../../run/stop/limits.ts";
import { show } from "../../text/show.ts";
import { documentsText, numberText } from "../../text/words.ts";
import { manifestOptions } from "../check/check-manifest.ts";
import type { Run } from "../open-run.ts";
import { factSettings, type SourceFlags, sourcesOf } from "../rows/file-values.ts";
import { checkNames, named, walked } from "../rows/find-files.ts";
import { absentFiles, adopt, equalDocuments, listDataset, refuseLost, scanFiles } from "./compared.ts";
import { readStateFile, type StateFile, statePath } from "./state-file.ts";
import { toggle, valued, type ValuesOf } from "../../flags/declare.ts";
import type { RunFlags } from "../../flags/flags.ts";
import type { FileFlags } from "../../flags/input-flags.ts";
import { parseMaxErrors, parseNonEmpty } from "../../flags/values.ts";

/** Options of `docs sync` alone. */
export const SYNC = {
	remove: toggle("--remove", "removes documents whose files are gone"),
	deleteExcluded: toggle("--delete-excluded", "with --remove, also those whose files the filters leave out").rule(
		"needs",
		"--remove",
	),
	maxRemove: valued(
		"--max-remove <n or n%>",
		"most documents that --remove removes (default: 10%, at least 5)",
		parseMaxErrors,
	).rule("needs", "--remove"),
	trash: toggle(
		"--trash",
		"keeps what it removes or replaces in the folder of the run, so that runs undo can bring it back",
	),
	adopt: toggle("--adopt", "takes over documents that have the name and size of a file; with --checksum its content"),
	noAdopt: toggle("--no-adopt", "leaves them alone, where there is no state of the folder"),
	checksum: toggle("--checksum", "reads all files, also those of the same size and time"),
	state: valued(
		"--state <file>",
		"what syncs of this folder have stored (default: in the state folder)",
		parseNonEmpty,
	),
	schema: valued("--schema <file>", "JSON Schema for the metadata; none turns off the built-in checks", parseNonEmpty),
	allowEmpty: toggle("--allow-empty", "accepts a folder without files"),
};

type SyncFlags = ValuesOf<typeof SYNC> & FileFlags & SourceFlags & Pick<RunFlags, "set" | "json">;

/** A folder and a dataset, and the file of the state that joins them. */
export type SyncPair = { readonly target: SyncTarget; readonly file: StateFile };

/** The steps of a sync. */
export type SyncPlan = Awaited<ReturnType<typeof planFolder>>;

/** Finds the folder and its state. @throws CliError exit 2 where there is no such folder, 8 where the state is another's */
export async function openPair(
	{ session, settings, app }: Run<unknown>,
	folder: string,
	datasetId: string,
	given: string | undefined,
): Promise<SyncPair> {
	const root = await realpath(folder).catch((error: unknown) => {
		throw usageError(`${show(folder)}: ${reason(error)}; nothing was sent`, undefined, error);
	});
	const status = await stat(root);
	if (!status.isDirectory()) throw usageError(`${show(folder)} is no folder; nothing was sent`);
	const { baseUrl } = session;
	const place = { baseUrl, datasetId, root, device: status.dev };
	const file = await readStateFile(statePath(given, app.runs(settings).folder, place), place);
	return { target: { ...place, state: file.path, was: file.sha256, isUntagged: false }, file };
}

/**
 * Compares folder, dataset and state. It writes nothing.
 *
 * @throws CliError exit 2 where names clash or the folder is empty, 8 where the state is lost, 9 where too much would be removed
 */
export async function planFolder(run: Run<SyncFlags>, folder: string, { target, file: stateFile }: SyncPair) {
	const { flags, settings, session, app } = run;
	const { state } = stateFile;
	const { datasetId, root } = target;
	const walk = await walked(run, [folder]);
	const own = await realpath(target.state).catch(() => target.state);
	const tree = { ...walk, files: walk.files.filter(({ relative }) => join(root, relative) !== own) };
	const found = named(run, tree.files);
	await checkNames(run, found);
	if (found.length === 0 && tree.problems.length === 0)
		refuseEmpty(folder, state.entries.size, flags.allowEmpty === true);
	const { plain, facts } = factSettings(flags.set ?? []);
	app.monitor.enter("checking", "the files");
	const files = await scanFiles(found, {
		entries: state.entries,
		checksum: flags.checksum === true,
		sources: sourcesOf(flags),
		settings: facts,
		manifest: await manifestOptions("upload", { set: plain, schema: flags.schema, dataset: datasetId }, settings),
		signal: app.signal,
		onProgress: (count) => app.monitor.count({ done: count, unit: "files" }),
	});
	const adopts = flags.adopt === true;
	// What was never tagged may be tagged for the first time only by a person: then a search that fails hides that.
	const isUntagged = !state.isTagged && (stateFile.is === "read" || !adopts);
	if (isUntagged) session.service.searches.isNoneBelieved = true;
	const listed = await listDataset(run, datasetId, state.entries.values(), { files, adopts });
	const equal = equalDocuments(files, state.entries, listed);
	if (flags.adopt === undefined) refuseLost(stateFile, { equal: equal.length, documents: listed.count });
	const adopted = adopts ? await adopt(run, target, equal) : [];
	const entries = new Map([...state.entries, ...adopted.map((entry) => [entry.path, entry] as const)]);
	const known = new Map([...listed.known, ...equal.map(({ document }) => [document.id, document] as const)]);
	const unread = tree.problems.map(({ path, text }): WantedFile => {
		const file = { path, size: 0, mtime: 0, ino: 0, sha256: "" };
		return { file, name: path, metadata: new Map(), fault: { code: "FILE_UNREADABLE", text } };
	});
	const wanted = [...files, ...unread];
	const faults = wanted.filter(({ fault }) => fault !== undefined).length;
	const { calls } = session.service.api.dialect.flavour;
	const absent = await absentFiles(root, entries, new Set(found.map(({ facts: { relative } }) => relative)), flags);
	const removes = flags.remove === true && found.length > 0;
	const steps = planSync({
		datasetId,
		files: wanted,
		entries,
		documents: known,
		retag: listed.retag,
		absent,
		canRename: calls.includes("rename"),
		isWhole: faults === 0,
		removes: removes && faults === 0,
		removesLeftOut: removes && flags.deleteExcluded === true && faults === 0,
		isSameName,
	});
	const isOther = state.entries.size > 0 && state.device !== target.device;
	if (isOther && removes && steps.gone > 0) throw otherDevice(folder);
	const removals = steps.changes.filter(({ action }) => action === "remove").length;
	refuseMany(removals, listed.known.size, flags.maxRemove);
	noteKept(run, steps, { faults, removes, removals });
	const hash = createHash("sha256");
	for (const { file } of files) hash.update(`${file.path}\0${file.sha256}\n`);
	const isTagged = state.isTagged || listed.isTagged;
	return {
		...steps,
		/** SHA-256 of the paths and the contents of the files */
		sha256: hash.digest("hex"),
		files: files.length,
		target: { ...target, isUntagged: isUntagged && !isTagged },
		/** the state, where the list has changed it: it is the first to show metadata */
		state: isTagged === state.isTagged ? undefined : { ...state, isTagged },
	};
}

function refuseEmpty(folder: string, known: number, isAllowed: boolean): void {
	if (isAllowed) return;
	if (known === 0) {
		throw new CliError(`${show(folder)} has no files to sync; nothing was sent`, {
			exit: Exit.manifest,
			hint: "Hidden files are left out, and what --include and --exclude leave out. If that is right, add --allow-empty.",
		});
	}
	throw usageError(
		`${show(folder)} has no files, and the dataset has ${documentsText(known)} of it; nothing was sent`,
		"Is it mounted? Remove all of its documents with docs rm, if that is what you want.",
	);
}

function refuseMany(removals: number, known: number, limit: MaxErrors | undefined): void {
	const most = mostRemovals(known, limit);
	if (removals <= most) return;
	throw new CliError(
		`${documentsText(removals)} of ${numberText(known)} would be removed, and --max-remove allows ${numberText(most)}; nothing was sent`,
		{ exit: Exit.limit, hint: `See them with --dry-run. If they are right: --max-remove ${removals}` },
	);
}

function otherDevice(folder: string): CliError {
	return new CliError(
		`${show(folder)} is on another device than the last time, and files of it are gone; nothing was sent`,
		{ exit: Exit.limit, hint: "Is it mounted? If it was moved, a sync without --remove takes the new device." },
	);
}

/** Says which documents stay although their files are not there. */
function noteKept(
	{ app, flags }: Run<SyncFlags>,
	{ gone, leftOut, misnamed }: SyncSteps,
	{ faults, removes, removals }: { readonly faults: number; readonly removes: boolean; readonly removals: number },
): void {
	if (gone > 0 && !removes) app.io.note(`${numberText(gone)} would be removed with --remove: their files are gone.`);
	else if (gone > 0 && removals === 0) {
		const why = `${numberText(faults)} ${faults === 1 ? "file or folder is" : "files or folders are"} not readable or valid`;
		app.io.note(`warning: ${numberText(gone)} are not removed: ${why}.`);
	}
	if (misnamed > 0) {
		app.io.note(
			`${documentsText(misnamed)} ${misnamed === 1 ? "keeps its name" : "keep their names"}: this service renames none.`,
		);
	}
	if (leftOut > 0 && faults === 0 && flags.deleteExcluded !== true) {
		app.io.note(`${numberText(leftOut)} stay whose files are only left out; --delete-excluded removes them.`);
	}
}
