import { CliError, Exit } from "../../errors.ts";
import { readRun, type RecordedRun } from "../../run/journal/open.ts";
import { explained } from "../../run/recorded/faults.ts";
import { isFinished } from "../../run/recorded/recording.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import type { Runs } from "../../run/recorded/runs.ts";
import type { GlobalFlags } from "../options/flags.ts";

export type RunsFlags = GlobalFlags & { readonly json?: boolean };

/** What a run came to so far. */
export type RunState = "finished" | "failed rows" | "unfinished" | "not begun" | "damaged";

export type RunReport = { readonly file: RunFile; readonly recorded: RecordedRun | undefined };

/** A run and its journal. @throws CliError 7 or 8 where the journal can't be read */
export async function readReport(runs: Runs, file: RunFile): Promise<RunReport> {
	try {
		return { file, recorded: await readRun(runs.path(file.run)) };
	} catch (error) {
		throw explained(error);
	}
}

/** The newest run that may have written anything. @throws CliError exit 2 where there is none */
export async function findThatWrote(runs: Runs): Promise<RunFile> {
	for (const name of await runs.names()) {
		const file = await runs.read(name);
		if (file === undefined) continue;
		if (hasWritten((await readReport(runs, file)).recorded)) return file;
	}
	throw new CliError("no recorded run has written anything", {
		exit: Exit.usage,
		hint: "ragtag runs list shows those that there are.",
	});
}

/** Whether a run may have written anything: what a repair has lost may have been the record of it. */
export function hasWritten(recorded: RecordedRun | undefined): recorded is RecordedRun {
	return recorded !== undefined && recorded.sent.count + recorded.sent.lost > 0;
}

export function stateOf(recorded: RecordedRun | undefined): RunState {
	if (recorded === undefined) return "not begun";
	if (!isFinished(recorded)) return "unfinished";
	return recorded.state.totals().failed > 0 ? "failed rows" : "finished";
}
