import { readFile, writeFile } from "node:fs/promises";
import { errorCode } from "../../errors.ts";
import { isJsonObject, parseJson } from "../../json.ts";
import { byAge } from "./order.ts";
import type { RunFile } from "./run-file.ts";
import { type Runs, SUMMARY_FILE } from "./runs.ts";
import { recordedWork } from "./work.ts";

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

/** The oldest of the newer runs of the same work. */
function newerThan(file: RunFile, all: readonly RunFile[]): RunFile | undefined {
	const work = recordedWork(file);
	return all.filter((other) => byAge(other, file) > 0 && recordedWork(other) === work).toSorted(byAge)[0];
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
		if (run === by || (await isOver(runs, run)) || (await markOf(runs, run)) !== undefined) continue;
		const text = `${JSON.stringify({ schema: 1, by })}\n`;
		await writeFile(runs.path(run, SUPERSEDED_FILE), text, { mode: 0o600, flag: "wx", flush: true });
		marked.push(run);
	}
	return marked;
}

/**
 * Before the record of a run goes: those whose place it took are marked, as it alone may say it. Records of 0.1.0 bear
 * no mark.
 */
export async function keepSuperseded(runs: Runs, run: string): Promise<void> {
	const all = await runs.files();
	const own = all.find((file) => file.run === run);
	if (own === undefined) return;
	const work = recordedWork(own);
	const older = all.filter((file) => byAge(file, own) < 0 && recordedWork(file) === work);
	await supersede(runs, older, run);
}

/** Whether a run has nothing left to do, by its summary alone: its journal may be long. */
export async function isOver(runs: Runs, run: string): Promise<boolean> {
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
