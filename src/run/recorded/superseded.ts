import { basename, dirname } from "node:path";
import { errorCode } from "../../errors.ts";
import { jsonObjectOf } from "../../json/parse-json.ts";
import { writeWhole } from "../../write-whole.ts";
import { readTextIfThere, removeFile } from "../storage/quick-files.ts";
import type { RunFile } from "./run-file.ts";
import type { RunStore } from "./run-store.ts";
import { isComplete } from "./run-summary.ts";

/** Names the run that superseded or undid this one. It stays when that run's record is removed, as its writes stay too. */
export const SUPERSEDED_FILE = "superseded.json";

/**
 * Why a run is not resumed without its name: a newer run of its job began after it, or it was undone. It protects no
 * document: `newer/newer-runs.ts` does that, by the documents themselves.
 */
export type Mark = { readonly by: string; readonly isUndone: boolean };

/** The mark of a run; undefined for nearly every run. */
export function markOf(runs: RunStore, run: string): Mark | undefined {
	const text = readTextIfThere(runs.path(run, SUPERSEDED_FILE));
	// A damaged file does not count.
	const { by, undone } = (text === undefined ? undefined : jsonObjectOf(text)) ?? {};
	return typeof by === "string" ? { by, isUndone: undone === true } : undefined;
}

/**
 * Marks unfinished runs as superseded. Finished runs and runs that have a mark stay as they are.
 *
 * @returns the names of the runs that it marked
 */
export async function supersede(runs: RunStore, files: readonly RunFile[], by: string): Promise<string[]> {
	const open = files.filter(({ run }) => run !== by && !isComplete(runs, run) && markOf(runs, run) === undefined);
	return await mark(runs, open, { by, isUndone: false });
}

/** Marks a run that is about to be undone, finished or not, in place of another mark. @returns whether it was there */
export async function markUndone(runs: RunStore, undone: RunFile, by: string): Promise<string[]> {
	return await mark(runs, [undone], { by, isUndone: true });
}

async function mark(runs: RunStore, files: readonly RunFile[], { by, isUndone }: Mark): Promise<string[]> {
	const marked: string[] = [];
	const text = `${JSON.stringify({ schema: 1, by, ...(isUndone ? { undone: true } : {}) })}\n`;
	for (const { run } of files) {
		try {
			// An incomplete mark would not count, and no later mark would replace it.
			await writeWhole(runs.path(run, SUPERSEDED_FILE), text);
			marked.push(run);
		} catch (error) {
			// The record of the older run was removed since the runs were listed.
			if (errorCode(error) !== "ENOENT") throw error;
		}
	}
	return marked;
}

/** Takes the marks of a run away again, which has sent nothing. Call it before the record of that run is removed. */
export async function unmark(runs: RunStore, marked: readonly string[], by: string): Promise<void> {
	for (const run of marked) {
		if (markOf(runs, run)?.by === by) removeFile(runs.path(run, SUPERSEDED_FILE));
	}
}

/** The command of a run that takes another one back. */
export const UNDO_COMMAND = "runs undo";

const UNDO_PREFIX = "undo of ";

/** The name of the manifest of an undo. */
export function undoManifestName(run: string): string {
	return `${UNDO_PREFIX}${run}`;
}

/** The run that an undo takes back; undefined for any other run. */
export function undoneRunOf({
	command,
	manifest: { name },
}: Pick<RunFile, "command"> & { readonly manifest: Pick<RunFile["manifest"], "name"> }): string | undefined {
	return command === UNDO_COMMAND && name.startsWith(UNDO_PREFIX) ? name.slice(UNDO_PREFIX.length) : undefined;
}

/** The identity of a run's job, by which `--resume` finds it. */
export type Job = Pick<RunFile, "command" | "baseUrl" | "options"> & {
	readonly manifest: Pick<RunFile["manifest"], "sha256"> & {
		/** absolute; undefined where the run keeps a copy */
		readonly path: string | undefined;
	};
};

/**
 * The key that runs of the same job share: command, target, the options that change what is sent, and the manifest by its
 * path. Rows from a pipe or from arguments have no path: their content counts.
 */
export function jobKeyOf({ command, baseUrl, options, manifest: { path, sha256 } }: Job): string {
	const rows = path === undefined ? ["content", sha256] : ["path", path];
	return JSON.stringify([command, baseUrl, options, ...rows]);
}

export function recordedJobKey({ run, manifest, ...file }: RunFile): string {
	const { path } = manifest;
	// The state folder may have been elsewhere when the run began, so only the end of the path is compared.
	const isCopy = basename(path) === "manifest" && basename(dirname(path)) === run;
	return jobKeyOf({ ...file, manifest: { ...manifest, path: isCopy ? undefined : path } });
}
