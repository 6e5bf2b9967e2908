import { stat } from "node:fs/promises";
import { JOURNAL_FILE, type RecordedRun } from "../journal/reader.ts";
import type { HeaderRecord } from "../journal/records.ts";
import type { RunStore } from "./run-store.ts";

/** The duration of all executions of a run. A killed execution ended at the last write to its journal. */
export async function millisecondsOf(recorded: RecordedRun, runs: RunStore): Promise<number> {
	const last = recorded.state.headers.at(-1);
	if (last === undefined) return 0;
	return millisecondsUntil(last, await lastRecordedAt(recorded, runs));
}

/**
 * The duration of all executions of a run up to a time.
 *
 * @param last header of the execution that goes on then
 * @param until epoch milliseconds
 */
function millisecondsUntil({ earlierMilliseconds = 0, time }: HeaderRecord, until: number): number {
	return earlierMilliseconds + Math.max(0, Math.round(until - Date.parse(time)));
}

/** When the last execution of a run ended, or was last seen to write; epoch milliseconds. */
async function lastRecordedAt({ state, header }: RecordedRun, runs: RunStore): Promise<number> {
	if (state.end !== undefined) return Date.parse(state.end.time);
	return (await stat(runs.path(header.run, JOURNAL_FILE))).mtimeMs;
}
