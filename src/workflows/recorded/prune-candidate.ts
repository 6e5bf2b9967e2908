import { stat } from "node:fs/promises";
import { errorCode } from "../../errors.ts";
import { JOURNAL_FILE, readRun, type RecordedRun } from "../../run/journal/reader.ts";
import type { lockContent } from "../../run/recorded/run-lock.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { readRunSummary } from "../../run/recorded/run-summary.ts";
import { markOf } from "../../run/recorded/superseded.ts";
import { hasWritten, type RunState, stateBySummary, stateOf } from "./recorded-run.ts";

/** A run's folder, with what decides whether it may be removed. */
export type PruneCandidate = {
	readonly run: string;
	readonly state: RunState;
	/** rows of its manifest; undefined where that is not known */
	readonly rows: number | undefined;
	/** when it ended, or was last written; epoch milliseconds */
	readonly ended: number;
	/** milliseconds: a younger run is removed only by its name */
	readonly minimumAge: number;
	/** target and manifest, which name its lock; undefined where neither was recorded yet */
	readonly recordedWork: Parameters<typeof lockContent>[0] | undefined;
};

/** Milliseconds: a run that begins copies its manifest before it records its target and manifest. */
const BEGINNING = 60 * 60 * 1000;

/** Reads the folder of a run; undefined where it was removed. The journal is read only where no summary fits it. */
export async function pruneCandidate(run: string, runs: RunStore): Promise<PruneCandidate | undefined> {
	const folder = await stat(runs.path(run)).catch((error: unknown) => {
		if (errorCode(error) === "ENOENT") return undefined;
		throw error;
	});
	if (folder === undefined) return undefined;
	const file = await runs.read(run);
	const summary = readRunSummary(runs, run);
	if (file !== undefined && summary !== undefined) {
		const { totals, ended } = summary;
		const state = stateBySummary(summary, markOf(runs, run));
		return { run, state, rows: totals.rows, ended: Date.parse(ended), minimumAge: 0, recordedWork: file };
	}
	const journal = await readRun(runs.path(run)).catch(() => "damaged" as const);
	const recorded = journal === "damaged" ? undefined : journal;
	const touched = await stat(runs.path(run, JOURNAL_FILE)).then(
		({ mtimeMs }) => mtimeMs,
		() => folder.mtimeMs,
	);
	const ended = endOf(recorded) ?? touched;
	const rows = recorded?.header.manifest.rows;
	if (file === undefined) {
		const header = recorded?.header;
		// Its run file can't be read, so it can't be undone. If its journal has writes, it is not a run that never began.
		const state = journal === "damaged" || hasWritten(recorded) ? "damaged" : "not begun";
		const recordedWork = header && { manifest: header.manifest };
		return { run, state, rows, ended, minimumAge: BEGINNING, recordedWork };
	}
	const state = journal === "damaged" ? "damaged" : stateOf(recorded, markOf(runs, run));
	return { run, state, rows, ended, minimumAge: 0, recordedWork: file };
}

function endOf(recorded: RecordedRun | undefined): number | undefined {
	const time = Date.parse(recorded?.state.end?.time ?? "");
	return Number.isNaN(time) ? undefined : time;
}
