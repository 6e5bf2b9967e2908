import { type HeaderRecord, compareHeader } from "../journal/records.ts";
import { type RecordedRun, readRun } from "../journal/open.ts";
import type { RunFile } from "./run-file.ts";
import type { Runs } from "./runs.ts";
import { supersededBy, recordedWork } from "./superseded.ts";

/** What `--resume` comes to. */
export type Choice =
	/** goes on with it */
	| { readonly goesOn: RecordedRun }
	/** begins a new run, and leaves an unfinished one alone */
	| { readonly instead: { readonly run: string; readonly why: string } }
	/** begins a new run, as there is none to go on with */
	| "none";

/**
 * Looks at the newest run of a work. It is gone on with where it is unfinished and of the same content and options: of
 * an older one nobody knows what its documents have by now.
 *
 * @param headerOf what the header of a run would be now
 * @param all every recorded run, the newest first
 */
export async function chooseUnfinished(
	work: string,
	headerOf: (run: string) => HeaderRecord,
	runs: Runs,
	all: readonly RunFile[],
): Promise<Choice> {
	for (const file of all) {
		if (recordedWork(file) !== work) continue;
		const recorded = await readRun(runs.path(file.run));
		// Cut off before its header was written: nothing was sent.
		if (recorded === undefined) continue;
		const { run } = file;
		if (isFinished(recorded) && (await runs.hasSummary(run))) return "none";
		const by = await supersededBy(runs, file, all);
		if (by !== undefined) return { instead: { run, why: `run ${by} has taken its place` } };
		const why = compareHeader(recorded.header, headerOf(run));
		return why === undefined ? { goesOn: recorded } : { instead: { run, why } };
	}
	return "none";
}

/**
 * Whether nothing is left to do. A run that was killed behind its last row, before it told how it ended, is not over: a
 * new one would send all of it again.
 */
export function isFinished({ state }: RecordedRun): boolean {
	return state.end !== undefined && state.totals().pending === 0;
}
