import { rename } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { errorCode } from "../../errors.ts";
import { jsonObjectOf } from "../../json/parse-json.ts";
import { areDisjoint, shardIn } from "../../shard.ts";
import { byAge, type RunFile } from "./run-file.ts";
import { readTextIfThere, removeFile, replaceDurably } from "../storage/quick-files.ts";
import { isComplete } from "./run-summary.ts";
import type { RunStore } from "./run-store.ts";

/** Names the run that superseded this one. The file stays when that run's record is removed, as its writes stay too. */
export const SUPERSEDED_FILE = "superseded.json";

/**
 * The run that superseded an unfinished one: a newer run of the same job, or the undo of it. If the older run were
 * resumed, it would count rows as done whose documents have other values by now.
 *
 * @param all every recorded run
 */
export async function supersededBy(
	runs: RunStore,
	file: RunFile,
	all: readonly RunFile[],
): Promise<string | undefined> {
	return supersededAmong(runs, all)(file);
}

/** The same for many runs: their jobs are compared once. */
export function supersededAmong(
	runs: RunStore,
	all: readonly RunFile[],
): (file: RunFile) => Promise<string | undefined> {
	let replacements: ReadonlyMap<string, readonly RunFile[]> | undefined;
	return async (file) => {
		const mark = readMark(runs, file.run);
		if (mark !== undefined) return mark;
		// Found without a mark: a run that was killed as it began has not marked another, and neither has one of 0.1.0.
		replacements ??= byReplacedRun(all);
		const sameJob = replacements.get(recordedJobKey(file)) ?? [];
		const others = [...(replacements.get(file.run) ?? []), ...sameJob.filter((other) => overlaps(other, file))];
		return others.filter((other) => isNewer(other, file)).toSorted(byAge)[0]?.run;
	};
}

/** Runs by the key of their job, and undos also by the name of the run that they take back. */
function byReplacedRun(all: readonly RunFile[]): ReadonlyMap<string, readonly RunFile[]> {
	const found = new Map<string, RunFile[]>();
	for (const file of all) {
		for (const key of [recordedJobKey(file), undoneRunOf(file)]) {
			if (key === undefined) continue;
			const same = found.get(key) ?? [];
			same.push(file);
			found.set(key, same);
		}
	}
	return found;
}

/**
 * Where only one of the runs has an order number, 0.1.0 was used in between, and the later start counts too. An error
 * here only starts a new run, which does no harm.
 */
function isNewer(other: RunFile, file: RunFile): boolean {
	if (other.run === file.run) return false;
	const isMixed = (other.order === undefined) !== (file.order === undefined);
	return byAge(other, file) > 0 || (isMixed && Date.parse(other.started) > Date.parse(file.started));
}

/**
 * Marks unfinished runs as superseded. Finished runs and runs that have a mark stay as they are.
 *
 * @returns the names of the runs that it marked
 */
export async function supersede(runs: RunStore, files: readonly RunFile[], by: string): Promise<string[]> {
	const marked: string[] = [];
	for (const { run } of files) {
		if (run === by || isComplete(runs, run) || readMark(runs, run) !== undefined) continue;
		const text = `${JSON.stringify({ schema: 1, by })}\n`;
		// The mark is renamed into place: an incomplete one would not count, and no later mark would replace it.
		const draft = runs.path(run, `${SUPERSEDED_FILE}.${by}`);
		try {
			await replaceDurably(draft, text);
			await rename(draft, runs.path(run, SUPERSEDED_FILE));
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
		if (readMark(runs, run) === by) removeFile(runs.path(run, SUPERSEDED_FILE));
	}
}

/**
 * Marks the runs that a run superseded, before its own record is removed: without a mark, only that record shows it.
 * Runs of 0.1.0 left no marks.
 */
export async function markReplacedRuns(runs: RunStore, run: string, all: readonly RunFile[]): Promise<void> {
	const own = all.find((file) => file.run === run);
	if (own === undefined) return;
	const undone = undoneRunOf(own);
	const older = all.filter((file) => isNewer(own, file) && (file.run === undone || isSameJob(file, own)));
	await supersede(runs, older, run);
}

function readMark(runs: RunStore, run: string): string | undefined {
	const text = readTextIfThere(runs.path(run, SUPERSEDED_FILE));
	// A damaged file does not count.
	const by = text === undefined ? undefined : jsonObjectOf(text)?.["by"];
	return typeof by === "string" ? by : undefined;
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

/** The identity of a run's job. */
export type Job = Pick<RunFile, "command" | "baseUrl" | "options"> & {
	readonly manifest: Pick<RunFile["manifest"], "name" | "sha256"> & {
		/** absolute; undefined where the run keeps a copy */
		readonly path: string | undefined;
	};
};

/** Names that a run has in place of a manifest's where its rows were typed: the files of an upload, the ids of a removal. */
const TYPED_ROWS: readonly string[] = ["files", "--id"];

/**
 * The key that runs of the same job share: command, target, and where the rows come from. A newer run of a job supersedes
 * the older ones. Other content or options of the same manifest are the same job: its documents no longer have what the
 * older run wrote.
 *
 * All manifests from a pipe count as one, as they have no path. Typed rows are identified by their content. A filter is
 * identified by its options too, as these are all that it writes. Shards have the key of the whole manifest: `isSameJob`
 * keeps them apart.
 */
export function jobKeyOf({ command, baseUrl, options, manifest }: Job): string {
	const { name, path, sha256 } = manifest;
	const rows =
		path !== undefined
			? ["path", path]
			: TYPED_ROWS.includes(name)
				? ["typed", name, sha256]
				: ["copy", name, name.startsWith("--") ? JSON.stringify(options) : ""];
	return JSON.stringify([command, baseUrl, ...rows]);
}

export function recordedJobKey({ run, manifest, ...file }: RunFile): string {
	const { path } = manifest;
	// The state folder may have been elsewhere when the run began, so only the end of the path is compared.
	const isCopy = basename(path) === "manifest" && basename(dirname(path)) === run;
	return jobKeyOf({ ...file, manifest: { ...manifest, path: isCopy ? undefined : path } });
}

/** Whether of two runs the newer one supersedes the older: both have the same job, and a row may be in both. */
export function isSameJob(one: RunFile, other: RunFile): boolean {
	return recordedJobKey(one) === recordedJobKey(other) && overlaps(one, other);
}

/** Whether a row may be in both runs of one manifest: it can't be in two shards of the same division. */
export function overlaps({ options }: Pick<RunFile, "options">, other: Pick<RunFile, "options">): boolean {
	return !areDisjoint(shardIn(options), shardIn(other.options));
}
