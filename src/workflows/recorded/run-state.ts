import { JournalUnreadable } from "../../run/journal/errors.ts";
import type { RecordedRun } from "../../run/journal/reader.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { readRunSummary, type RunSummary } from "../../run/recorded/run-summary.ts";
import { type Mark, markOf } from "../../run/recorded/superseded.ts";
import { millisecondsOf } from "../../run/recorded/unfinished.ts";
import type { Processes } from "../../run/storage/process-owner.ts";
import { type GoingOn, goingOn } from "./going-on.ts";

/** The state of a recorded run. */
export type RunState =
	| ("finished" | "failed rows" | "unfinished" | "superseded" | "undone" | "not begun" | "damaged" | "other format")
	/** of runs without an end, by the process that executes them, or did */
	| ("running" | "paused" | "killed");

/** The facts that decide in which state a run is: from its summary, or else from its journal. */
export type RunFacts = Pick<RunSummary, "totals" | "superseded" | "wrote" | "seconds"> & {
	/** undefined while a run goes on, and where it was killed */
	readonly ended: string | undefined;
	readonly exitCode: number | undefined;
};

/**
 * The facts of a run. Its journal is read only where no summary fits it.
 *
 * @returns undefined for a run that was killed before it recorded anything
 * @throws JournalUnreadable, JournalLost as `readRun`
 */
export async function factsOf(run: string, runs: RunStore): Promise<RunFacts | undefined> {
	const summary = readRunSummary(runs, run);
	const recorded = summary === undefined ? await runs.journal(run) : undefined;
	if (recorded === undefined) return summary;
	const { state } = recorded;
	return {
		totals: state.totals(),
		superseded: state.superseded,
		wrote: hasWritten(recorded),
		seconds: (await millisecondsOf(recorded, runs)) / 1000,
		ended: state.end?.time,
		exitCode: state.end?.exitCode,
	};
}

/** Whether a run may have written anything. A record that a repair lost counts as a write. */
export function hasWritten(recorded: RecordedRun | undefined): recorded is RecordedRun {
	return recorded?.state.wrote === true;
}

/** Whether a row was sent, or has an outcome: it may have failed before its write. */
export function hasResult(facts: RunFacts | undefined): boolean {
	if (facts === undefined) return false;
	const { rows, pending, invalid, duplicateSkipped } = facts.totals;
	return facts.wrote || rows - pending - invalid - duplicateSkipped > 0;
}

/**
 * The state of a run. One that was killed before it sent a row is not begun, as there is nothing to resume. Failed rows that
 * a newer run has written since are settled.
 *
 * @param mark whether it was superseded or undone
 */
export function stateOf(facts: RunFacts | undefined, mark: Mark | undefined): RunState {
	const isDone = facts?.ended !== undefined && facts.totals.pending === 0;
	if (facts === undefined || !(hasResult(facts) || isDone)) return "not begun";
	if (mark?.isUndone === true) return "undone";
	if (!isDone) return mark === undefined ? "unfinished" : "superseded";
	return facts.totals.failed > facts.superseded ? "failed rows" : "finished";
}

/** The state of a run whose journal can't be read. */
export function unreadableState(error: unknown): RunState {
	return error instanceof JournalUnreadable && error.kind !== "corrupt" ? "other format" : "damaged";
}

/** A recorded run as a list shows it. */
export type ListedRun = {
	readonly file: RunFile;
	readonly state: RunState;
	/** undefined where the journal can't be read, or where the run was killed before it recorded anything */
	readonly facts: RunFacts | undefined;
	/** undefined where its process said that it ended */
	readonly going: GoingOn | undefined;
};

/** States of runs that a process may execute. */
const OPEN: readonly RunState[] = ["unfinished", "superseded", "not begun"];

/**
 * All recorded runs, the newest first.
 *
 * @param onRead called with the number of runs that were read, and of all
 */
export async function* listedRuns(
	runs: RunStore,
	processes: Processes,
	onRead: (done: number, total: number) => void,
): AsyncGenerator<ListedRun> {
	const all = await runs.files();
	for (const [at, file] of all.entries()) {
		onRead(at, all.length);
		yield await listedRun(runs, file, processes);
	}
}

export async function listedRun(runs: RunStore, file: RunFile, processes: Processes): Promise<ListedRun> {
	let facts: RunFacts | undefined;
	let state: RunState;
	try {
		facts = await factsOf(file.run, runs);
		state = stateOf(facts, markOf(runs, file.run));
	} catch (error) {
		// One run that can't be read must not hide the others.
		state = unreadableState(error);
	}
	const going = OPEN.includes(state) ? await goingOn(file.run, runs, processes) : undefined;
	return { file, state: stateNow(state, going), facts, going };
}

function stateNow(state: RunState, going: GoingOn | undefined): RunState {
	// One that was killed before it sent anything has nothing to resume, and one that was superseded is resumed by name alone.
	if (going?.state === undefined || (going.state === "killed" && state !== "unfinished")) return state;
	return going.state;
}
