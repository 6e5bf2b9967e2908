import { stat } from "node:fs/promises";
import { errorCode } from "../../errors.ts";
import { JOURNAL_FILE, readRun, type RecordedRun } from "../../run/journal/reader.ts";
import type { lockContent } from "../../run/recorded/run-lock.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { supersededBy } from "../../run/recorded/superseded.ts";
import { hasWritten, type RunState, stateOf } from "./recorded-run.ts";

/** A run's folder, as it is judged for whether it may go. */
export type Old = {
	readonly run: string;
	readonly state: RunState;
	/** when it ended, or was last written; epoch milliseconds */
	readonly ended: number;
	/** milliseconds of age below which it never goes by itself */
	readonly least: number;
	/** what its lock is of; undefined where nothing was written down of what it is to do */
	readonly work: Parameters<typeof lockContent>[0] | undefined;
};

/** Milliseconds: a run that is just beginning copies its manifest before it is written down what it is to do. */
const BEGINNING = 60 * 60 * 1000;

/** Judges the folder of a run; undefined where there is none any more. */
export async function oldRun(run: string, runs: RunStore): Promise<Old | undefined> {
	const folder = await stat(runs.path(run)).catch((error: unknown) => {
		if (errorCode(error) === "ENOENT") return undefined;
		throw error;
	});
	if (folder === undefined) return undefined;
	const file = await runs.read(run);
	const journal = await readRun(runs.path(run)).catch(() => "damaged" as const);
	const recorded = journal === "damaged" ? undefined : journal;
	const touched = await stat(runs.path(run, JOURNAL_FILE)).then(
		({ mtimeMs }) => mtimeMs,
		() => folder.mtimeMs,
	);
	const ended = endOf(recorded) ?? touched;
	const header = recorded?.header;
	const work = file ?? (header && { baseUrl: header.target.baseUrl, manifest: header.manifest });
	if (file === undefined) {
		// Its record can't be read: what it wrote can't be taken back then, but it is not nothing.
		const state = journal === "damaged" || hasWritten(recorded) ? "damaged" : "not begun";
		return { run, state, ended, least: BEGINNING, work };
	}
	const by = journal === "damaged" ? undefined : await supersededBy(runs, file, await runs.files());
	return { run, state: journal === "damaged" ? "damaged" : stateOf(recorded, by), ended, least: 0, work };
}

function endOf(recorded: RecordedRun | undefined): number | undefined {
	const time = Date.parse(recorded?.state.end?.time ?? "");
	return Number.isNaN(time) ? undefined : time;
}
