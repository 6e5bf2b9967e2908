import { readdir, readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { CliError, errorCode, Exit, reason } from "../../errors.ts";
import { readRun } from "../../run/journal/reader.ts";
import { journalCliError } from "../../run/recorded/faults.ts";
import { isRunId, readRunFile, type RunFile } from "../../run/recorded/run-file.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import type { RunPart } from "../../run/recorded/shard-runs.ts";
import { SUPERSEDED_FILE } from "../../run/recorded/superseded.ts";
import { shardIn } from "../../shard.ts";
import { show } from "../../text/show.ts";

/** Folders below that of `--from`: MACHINE/.local/state/ragtag/runs/RUN is the deepest that is usual. */
const DEEPEST = 6;

/** The runs of the command line, each once: names of recorded runs, folders of runs, and folders that contain such. */
export async function findParts(
	named: readonly string[],
	from: readonly string[],
	runs: RunStore,
): Promise<readonly RunPart[]> {
	const parts = new Map<string, RunPart>();
	const add = (part: RunPart): void => {
		// The run of this machine, rather than a copy of it, is the one that the user sees in lists.
		if (!parts.has(part.file.run) || part.isLocal) parts.set(part.file.run, part);
	};
	for (const name of named)
		add(isRunId(name) ? await localPart(await runs.find(name), runs) : await namedPart(name, runs));
	for (const folder of from) {
		const found = await runFoldersBelow(folder, DEEPEST);
		let shards = 0;
		for (const each of found) {
			const file = await runFileIn(each);
			if (file === undefined || shardIn(file.options) === undefined) continue;
			// A newer run of the same shard has taken its place.
			if (await isThere(join(each, SUPERSEDED_FILE))) continue;
			add(await partOf(each, file, runs));
			shards += 1;
		}
		if (shards === 0) {
			throw new CliError(`--from ${show(folder)}: there is no run of a shard below it; nothing was merged`, {
				exit: Exit.usage,
				hint: "Name a folder that has copies of the state folders of the machines, or of their runs.",
			});
		}
	}
	return [...parts.values()];
}

async function localPart(file: RunFile, runs: RunStore): Promise<RunPart> {
	return partOf(runs.path(file.run), file, runs);
}

/** @throws CliError exit 2 where the folder is none of a run */
async function namedPart(folder: string, runs: RunStore): Promise<RunPart> {
	const file = await runFileIn(folder);
	if (file !== undefined) return partOf(folder, file, runs);
	throw new CliError(`${show(folder)} is neither the name nor the folder of a run; nothing was merged`, {
		exit: Exit.usage,
		hint: "ragtag runs list shows all runs of this machine; a folder that contains runs is named with --from DIR.",
	});
}

async function partOf(folder: string, file: RunFile, runs: RunStore): Promise<RunPart> {
	try {
		const isLocal = resolve(folder) === resolve(runs.path(file.run));
		return { folder, file, recorded: await readRun(folder), isLocal };
	} catch (error) {
		throw journalCliError(error);
	}
}

/** @throws CliError exit 2 where the folder can't be read */
async function runFoldersBelow(folder: string, depth: number): Promise<string[]> {
	const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
		throw new CliError(`--from ${show(folder)}: ${reason(error)}; nothing was merged`, {
			exit: Exit.usage,
			cause: error,
		});
	});
	if (entries.some(({ name }) => name === "run.json")) return [folder];
	if (depth === 0) return [];
	const found: string[] = [];
	for (const { name } of entries.filter((entry) => entry.isDirectory())) {
		found.push(...(await runFoldersBelow(join(folder, name), depth - 1)));
	}
	return found.toSorted();
}

async function runFileIn(folder: string): Promise<RunFile | undefined> {
	try {
		return readRunFile(await readFile(join(folder, "run.json"), "utf8"));
	} catch (error) {
		if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return undefined;
		throw new CliError(`${show(folder)}: ${reason(error)}; nothing was merged`, { exit: Exit.usage, cause: error });
	}
}

async function isThere(path: string): Promise<boolean> {
	return stat(path).then(
		() => true,
		() => false,
	);
}
