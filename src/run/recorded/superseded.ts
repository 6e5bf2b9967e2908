import { readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { errorCode } from "../../errors.ts";
import { isJsonObject, parseJson } from "../../json/values.ts";
import { byAge, type RunFile } from "./run-file.ts";
import { type Runs, SUMMARY_FILE } from "./runs.ts";

/** Names the run that took the place of this one. It is never removed: what that run wrote stays written. */
const SUPERSEDED_FILE = "superseded.json";

/**
 * The run that took the place of an unfinished one: a newer one of the same work, or what took it back. To go on with
 * the older one would count rows as done whose documents have something else by now.
 *
 * @param all every recorded run
 */
export async function supersededBy(runs: Runs, file: RunFile, all: readonly RunFile[]): Promise<string | undefined> {
	return (await markOf(runs, file.run)) ?? newerThan(file, all)?.run;
}

/**
 * The oldest of the newer runs of the same work, or that took it back: the mark of one that was killed as it began, or
 * of 0.1.0, is not there.
 */
function newerThan(file: RunFile, all: readonly RunFile[]): RunFile | undefined {
	const work = recordedJobKey(file);
	const takesPlace = (other: RunFile): boolean => undoneRunOf(other) === file.run || recordedJobKey(other) === work;
	return all.filter((other) => isNewer(other, file) && takesPlace(other)).toSorted(byAge)[0];
}

/** Where one of both has no number, as 0.1.0 was used again in between, the clock is asked too: to begin anew does no harm. */
function isNewer(other: RunFile, file: RunFile): boolean {
	if (other.run === file.run) return false;
	const isMixed = (other.order === undefined) !== (file.order === undefined);
	return byAge(other, file) > 0 || (isMixed && Date.parse(other.started) > Date.parse(file.started));
}

/**
 * Marks runs as superseded that did not come to their end. Finished ones are left as they are, and so are those that
 * bear a mark.
 *
 * @returns the names of those that it marked
 */
export async function supersede(runs: Runs, files: readonly RunFile[], by: string): Promise<string[]> {
	const marked: string[] = [];
	for (const { run } of files) {
		if (run === by || (await isComplete(runs, run)) || (await markOf(runs, run)) !== undefined) continue;
		const text = `${JSON.stringify({ schema: 1, by })}\n`;
		// At once: half a mark would be none, and in the way of every mark that comes later.
		const next = runs.path(run, `${SUPERSEDED_FILE}.${by}`);
		await writeFile(next, text, { mode: 0o600, flush: true });
		await rename(next, runs.path(run, SUPERSEDED_FILE));
		marked.push(run);
	}
	return marked;
}

/**
 * Before the record of a run goes: those whose place it took are marked, as it alone may say it. Records of 0.1.0 bear
 * no mark.
 */
export async function markReplacedRuns(runs: Runs, run: string): Promise<void> {
	const all = await runs.files();
	const own = all.find((file) => file.run === run);
	if (own === undefined) return;
	const work = recordedJobKey(own);
	const takenBack = undoneRunOf(own);
	const older = all.filter((file) => isNewer(own, file) && (file.run === takenBack || recordedJobKey(file) === work));
	await supersede(runs, older, run);
}

/** Whether a run has nothing left to do, by its summary alone: its journal may be long. */
export async function isComplete(runs: Runs, run: string): Promise<boolean> {
	const summary = await objectIn(runs.path(run, SUMMARY_FILE));
	return summary?.["pending"] === 0;
}

async function markOf(runs: Runs, run: string): Promise<string | undefined> {
	const by = (await objectIn(runs.path(run, SUPERSEDED_FILE)))?.["by"];
	return typeof by === "string" ? by : undefined;
}

async function objectIn(path: string): Promise<{ readonly [name: string]: unknown } | undefined> {
	try {
		const value = parseJson(await readFile(path, "utf8"));
		return isJsonObject(value) ? value : undefined;
	} catch (error) {
		// A summary that was damaged is none; a file that can't be read is no reason to overlook the run.
		if (errorCode(error) === undefined || errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR")
			return undefined;
		throw error;
	}
}

/** How a run is called that takes another back. */
export const UNDO_COMMAND = "runs undo";

/** What the manifest of such a run is called. */
const UNDO_PREFIX = "undo of ";

export function undoManifestName(run: string): string {
	return `${UNDO_PREFIX}${run}`;
}

/** The run that a run takes back; undefined where it takes none back. */
export function undoneRunOf({
	command,
	manifest: { name },
}: Pick<RunFile, "command"> & { readonly manifest: Pick<RunFile["manifest"], "name"> }): string | undefined {
	return command === UNDO_COMMAND && name.startsWith(UNDO_PREFIX) ? name.slice(UNDO_PREFIX.length) : undefined;
}

/** What tells the work of a run. */
export type Job = Pick<RunFile, "command" | "baseUrl" | "options"> & {
	readonly manifest: Pick<RunFile["manifest"], "name" | "sha256"> & {
		/** absolute; undefined where the run keeps a copy */
		readonly path: string | undefined;
	};
};

/** What stands in place of a manifest's name where it was typed: the files of an upload, the ids of a removal. */
const TYPED: readonly string[] = ["files", "--id"];

/**
 * What a run and a later one have in common where the later one takes the place of the earlier: command, target, and
 * where the rows come from. The same manifest with other content or other options is the same work: its documents are
 * not what the earlier run left any more.
 *
 * What comes through a pipe has no path, and all of it counts as one manifest. What was typed is told by itself, and a
 * filter by its options too, as `--set` is all that it writes.
 */
export function jobKeyOf({ command, baseUrl, options, manifest }: Job): string {
	const { name, path, sha256 } = manifest;
	const from =
		path !== undefined
			? ["path", path]
			: TYPED.includes(name)
				? ["typed", name, sha256]
				: ["copy", name, name.startsWith("--") ? JSON.stringify(options) : ""];
	return JSON.stringify([command, baseUrl, ...from]);
}

/** The same of a recorded run. */
export function recordedJobKey({ run, manifest, ...file }: RunFile): string {
	const { path } = manifest;
	// Wherever the state folder was when it began.
	const isCopy = basename(path) === "manifest" && basename(dirname(path)) === run;
	return jobKeyOf({ ...file, manifest: { ...manifest, path: isCopy ? undefined : path } });
}
