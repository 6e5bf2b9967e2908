import { Exit, usageError } from "../../errors.ts";
import type { GlobalFlags } from "../../flags/flags.ts";
import { resumeCommand } from "../../flags/next-command.ts";
import type { SyncState } from "../../plan/sync/state.ts";
import type { RecordedRun } from "../../run/journal/reader.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { readSummary } from "../../run/recorded/run-summary.ts";
import { isFinished, markOf, SYNC_COMMAND } from "../../run/recorded/unfinished.ts";
import type { Run } from "../open-run.ts";
import type { SyncPair } from "./plan-sync.ts";

/**
 * The newest run of this state, where the state does not have all that it did: it was killed, could not write the state, or
 * does not know whether a file was stored. A run that stopped otherwise needs nothing: the folder is compared anew, by the
 * options of now.
 */
export async function unfinishedSync(
	{ settings, app, flags, session }: Run<GlobalFlags>,
	{ target, file: { state } }: SyncPair,
): Promise<{ readonly file: RunFile; readonly reopen: boolean } | undefined> {
	const runs = app.runs(settings);
	const isOurs = ({ options, baseUrl }: RunFile): boolean =>
		options["sync"] === target.state && options["dataset"] === target.datasetId && baseUrl === session.baseUrl;
	const file = (await runs.files()).find(isOurs);
	const recorded = file && (await runs.journal(file.run));
	if (file === undefined || recorded === undefined || markOf(runs, file.run)?.isUndone === true) return undefined;
	const isEnded = isFinished(recorded) && runs.hasSummary(file.run);
	// Its work is in its journal alone: without it, its documents would pass for those of other clients.
	const isUnfolded = readSummary(runs.path(file.run))?.exitCode === Exit.storage;
	if (file.command !== SYNC_COMMAND) {
		if (isEnded && !isUnfolded) return undefined;
		throw usageError(
			`run ${file.run} (${file.command}) of this folder did not end; nothing was sent`,
			`End it first: ${resumeCommand(file.run, flags)}`,
		);
	}
	const isInDoubt = await hasDoubts(recorded, state);
	const isStopped = recorded.state.end !== undefined && runs.hasSummary(file.run);
	return isStopped && !isUnfolded && !isInDoubt ? undefined : { file, reopen: isEnded && isInDoubt };
}

/** Whether a file may be stored that the state does not know, and only the run knows that. */
async function hasDoubts(recorded: RecordedRun, { entries }: SyncState): Promise<boolean> {
	const { state } = recorded;
	if (state.countInDoubt() + state.failedWith("UNKNOWN_OUTCOME") > 0) return true;
	if (state.countStoredButFailed() === 0) return false;
	const known = new Set(Array.from(entries.values(), ({ documentId }) => documentId));
	for await (const record of recorded.sentRecords()) {
		if (record.kind !== "stored" || known.has(record.documentId)) continue;
		if (state.statusOf(record.row) === "failed") return true;
	}
	return false;
}
