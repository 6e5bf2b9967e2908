import { readRun, type RecordedRun } from "../../run/journal/open.ts";
import { explained } from "../../run/recorded/faults.ts";
import { isFinished } from "../../run/recorded/choice.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import type { Runs } from "../../run/recorded/runs.ts";
import type { GlobalFlags } from "../../flags/flags.ts";

export type RunsFlags = GlobalFlags & { readonly json?: boolean };

/** What a run came to so far. */
export type RunState = "finished" | "failed rows" | "unfinished" | "superseded" | "not begun" | "damaged";

export type RunReport = { readonly file: RunFile; readonly recorded: RecordedRun | undefined };

/** A run and its journal. @throws CliError 7 or 8 where the journal can't be read */
export async function readReport(runs: Runs, file: RunFile): Promise<RunReport> {
	try {
		return { file, recorded: await readRun(runs.path(file.run)) };
	} catch (error) {
		throw explained(error);
	}
}

/** Whether a run may have written anything: what a repair has lost may have been the record of it. */
export function hasWritten(recorded: RecordedRun | undefined): recorded is RecordedRun {
	return recorded !== undefined && recorded.sent.count + recorded.sent.lost > 0;
}

/** @param supersededBy the run that took its place, where there is one */
export function stateOf(recorded: RecordedRun | undefined, supersededBy?: string): RunState {
	if (recorded === undefined) return "not begun";
	if (!isFinished(recorded)) return supersededBy === undefined ? "unfinished" : "superseded";
	return recorded.state.totals().failed > 0 ? "failed rows" : "finished";
}
