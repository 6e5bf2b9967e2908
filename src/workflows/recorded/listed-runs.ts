import { millisecondsOf } from "../../run/recorded/run-time.ts";
import { readRunSummary } from "../../run/recorded/run-summary.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { batches, READ_AT_ONCE, type RunStore } from "../../run/recorded/run-store.ts";
import { markOf } from "../../run/recorded/superseded.ts";
import type { Processes } from "../../run/storage/process-owner.ts";
import type { Totals } from "../../run/types.ts";
import { type GoingOn, goingOn } from "./going-on.ts";
import { readReport, type RunState, stateBySummary, stateOf } from "./recorded-run.ts";

/** A recorded run as a list shows it. */
export type ListedRun = {
	readonly file: RunFile;
	readonly state: RunState;
	/** undefined where the journal can't be read, or where the run was killed before it recorded anything */
	readonly totals: Totals | undefined;
	/** rows that reached their goal */
	readonly done: number | undefined;
	/** of all executions together */
	readonly seconds: number | undefined;
	/** ISO time; undefined while a run goes on, and where it was killed */
	readonly ended: string | undefined;
	/** undefined where `ended` is */
	readonly exitCode: number | undefined;
	/** undefined where its process said that it ended */
	readonly going: GoingOn | undefined;
};

/** States of runs that a process may execute. */
const OPEN: readonly RunState[] = ["unfinished", "superseded", "not begun"];

/**
 * All recorded runs, the newest first. The counts of a run that ended are in its summary. Those of any other run are read from
 * its journal.
 *
 * @param onRead called with the number of runs that were read, and of all
 */
export async function* listedRuns(
	runs: RunStore,
	processes: Processes,
	onRead: (done: number, total: number) => void,
): AsyncGenerator<ListedRun> {
	const all = await runs.files();
	for (const [batch, files] of batches(all, READ_AT_ONCE).entries()) {
		onRead(batch * READ_AT_ONCE, all.length);
		yield* await Promise.all(files.map((file) => listedRun(runs, file, processes)));
	}
}

export async function listedRun(runs: RunStore, file: RunFile, processes: Processes): Promise<ListedRun> {
	const recorded = bySummary(runs, file) ?? (await byJournal(runs, file));
	const going = OPEN.includes(recorded.state) ? await goingOn(file.run, runs, processes) : undefined;
	return { ...recorded, state: stateNow(recorded.state, going), going };
}

function stateNow(state: RunState, going: GoingOn | undefined): RunState {
	// One that was killed before it sent anything has nothing to resume, and one that was superseded is resumed by name alone.
	if (going?.state === undefined || (going.state === "killed" && state !== "unfinished")) return state;
	return going.state;
}

type WithoutProcess = Omit<ListedRun, "going">;

function bySummary(runs: RunStore, file: RunFile): WithoutProcess | undefined {
	const summary = readRunSummary(runs, file.run);
	if (summary === undefined) return undefined;
	const { totals } = summary;
	const state = stateBySummary(summary, markOf(runs, file.run));
	return { ...summary, file, state, done: doneOf(totals) };
}

async function byJournal(runs: RunStore, file: RunFile): Promise<WithoutProcess> {
	const unknown = {
		file,
		totals: undefined,
		done: undefined,
		seconds: undefined,
		ended: undefined,
		exitCode: undefined,
	};
	// One damaged run must not hide the others.
	const report = await readReport(runs, file).catch(() => undefined);
	if (report === undefined) return { ...unknown, state: "damaged" };
	const { recorded } = report;
	if (recorded === undefined) return { ...unknown, state: "not begun" };
	const { end } = recorded.state;
	const totals = recorded.state.totals();
	return {
		file,
		state: stateOf(recorded, markOf(runs, file.run)),
		totals,
		done: doneOf(totals),
		seconds: (await millisecondsOf(recorded, runs)) / 1000,
		ended: end?.time,
		exitCode: end?.exitCode,
	};
}

function doneOf({ updated, unchanged, uploaded, removed }: Totals): number {
	return updated + unchanged + uploaded + removed;
}
