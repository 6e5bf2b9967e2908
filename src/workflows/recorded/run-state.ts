import { countSettled } from "../../outcomes.ts";
import { JournalUnreadable } from "../../run/journal/errors.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { readRunSummary, type RunSummary } from "../../run/recorded/run-summary.ts";
import { millisecondsOf, type Mark, markOf } from "../../run/recorded/unfinished.ts";
import { type LockOwner, ownerStateOf, type OwnerState, readOwner } from "../../run/storage/process-owner.ts";
import { Exit, usageError } from "../../errors.ts";
import { PROCESS_FILE } from "../../run/recorded/adjust-file.ts";
import { datasetIn } from "../../run/recorded/run-lock.ts";
import { show } from "../../text/show.ts";
import { readSeries, SERIES_FILE, type SeriesPoint } from "../../run/series/series-file.ts";

/** The state of a recorded run. */
export type RunState =
	| ("finished" | "failed rows" | "unfinished" | "superseded" | "undone" | "not begun" | "damaged" | "other format")
	/** of runs without an end, by the process that executes them, or did */
	| ("running" | "paused" | "killed");

/** The facts that decide in which state a run is: from its summary, or else from its journal. */
type RunFacts = Pick<RunSummary, "totals" | "superseded" | "wrote" | "seconds"> & {
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
		// A record that a repair lost counts as a write.
		wrote: state.wrote,
		seconds: (await millisecondsOf(recorded, runs)) / 1000,
		ended: state.end?.time,
		exitCode: state.end?.exitCode,
	};
}

/** Whether a row was sent, or has an outcome: it may have failed before its write. */
export function hasResult(facts: RunFacts | undefined): boolean {
	return facts !== undefined && (facts.wrote || countSettled(facts.totals) > 0);
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

/** The facts of a run, and its state by them. One run that can't be read must not hide the others. */
export async function judgedRun(
	run: string,
	runs: RunStore,
): Promise<{ readonly facts: RunFacts | undefined; readonly state: RunState }> {
	try {
		const facts = await factsOf(run, runs);
		return { facts, state: stateOf(facts, markOf(runs, run)) };
	} catch (error) {
		const isOther = error instanceof JournalUnreadable && error.exit === Exit.foreign;
		return { facts: undefined, state: isOther ? "other format" : "damaged" };
	}
}

/** A recorded run as a list shows it. */
export type ListedRun = Awaited<ReturnType<typeof listedRun>>;

/** States of runs that a process may execute. */
const OPEN: readonly RunState[] = ["unfinished", "superseded", "not begun"];

/**
 * All recorded runs, the newest first.
 *
 * @param onRead called with the number of runs that were read, and of all
 */
export async function* listedRuns(
	runs: RunStore,
	onRead: (done: number, total: number) => void,
): AsyncGenerator<ListedRun> {
	const all = await runs.files();
	for (const [at, file] of all.entries()) {
		onRead(at, all.length);
		yield await listedRun(runs, file);
	}
}

/** A run with its facts; without any where it can't be read, or was killed before it recorded anything. */
export async function listedRun(runs: RunStore, file: RunFile) {
	const { facts, state } = await judgedRun(file.run, runs);
	const going = OPEN.includes(state) ? await goingOn(file.run, runs) : undefined;
	return { file, state: stateNow(state, going), facts, going };
}

function stateNow(state: RunState, going: GoingOn | undefined): RunState {
	// One that was killed before it sent anything has nothing to resume, and one that was superseded is resumed by name alone.
	if (going?.state === undefined || (going.state === "killed" && state !== "unfinished")) return state;
	return going.state;
}

/** The process that executes a run, and whether it still does; undefined where none has said that it does. */
async function ownerOfExecution(
	run: string,
	runs: RunStore,
): Promise<(LockOwner & { readonly state: OwnerState }) | undefined> {
	const owner = readOwner((await runs.readFile(run, PROCESS_FILE)) ?? "");
	return owner && { ...owner, state: ownerStateOf(owner, runs.processes) };
}

/** A run whose process has not said that it ended. */
type GoingOn = LockOwner & {
	/** undefined where another machine executes it, as whether it still does can't be known here */
	readonly state: "running" | "paused" | "killed" | undefined;
	/** the last part of its series, mostly a second old; undefined where this execution has none yet */
	readonly now: SeriesPoint | undefined;
};

/** What becomes of a run without an end; undefined for one whose process said that it ended. */
async function goingOn(run: string, runs: RunStore): Promise<GoingOn | undefined> {
	const owner = await ownerOfExecution(run, runs);
	if (owner === undefined) return undefined;
	const gone = owner.state === "gone" ? "killed" : undefined;
	if (owner.state !== "running") return { ...owner, state: gone, now: undefined };
	const last = (await readSeries(runs.path(run, SERIES_FILE)).catch(() => [])).at(-1);
	// The series of an earlier execution says nothing of this one.
	const now = last !== undefined && last.t * 1000 >= Date.parse(owner.since) ? last : undefined;
	return { ...owner, state: now?.state === "paused" ? "paused" : "running", now };
}

/** Whether the process that executes a run still does; undefined where no process has said that it does. */
export async function executionOf(run: string, runs: RunStore): Promise<OwnerState | undefined> {
	return (await ownerOfExecution(run, runs))?.state;
}

/** The one run that is going on in a process of this machine. @throws CliError exit 2 where there is none, or several */
export async function runGoingOn(runs: RunStore): Promise<string> {
	const found: string[] = [];
	for (const run of await runs.names()) {
		if ((await executionOf(run, runs)) === "running") found.push(run);
	}
	const [only, ...others] = found;
	if (only !== undefined && others.length === 0) return only;
	if (only === undefined) {
		throw usageError(
			"no run is going on",
			"ragtag runs list shows all runs; ragtag runs resume RUN --rate N resumes one at another rate.",
		);
	}
	throw usageError(
		`${found.length} runs are going on: ${found.join(", ")}`,
		`Name the run that you mean: ragtag runs adjust ${only}. ragtag runs list shows what each of them does.`,
	);
}

/** Other runs that write the same dataset at this moment, a sentence for each. */
export async function runsOnDataset(
	options: RunFile["options"],
	own: string,
	all: readonly RunFile[],
	runs: RunStore,
): Promise<readonly string[]> {
	const dataset = datasetIn({ options });
	const others = all.filter((file) => dataset !== "" && file.run !== own && datasetIn(file) === dataset);
	const notes: string[] = [];
	for (const { run, command, manifest } of others) {
		if ((await executionOf(run, runs)) !== "running") continue;
		const which = `Run ${run} (${command}, ${show(manifest.name)})`;
		notes.push(`${which} is going on and writes the same dataset: of two writes to one document, the later one stays.`);
	}
	return notes;
}

/** The members that a list has of a run that goes on, or was killed. */
export function goingMembers(going: GoingOn | undefined) {
	const { pid, host, now } = going ?? {};
	const rate = now === undefined || now.s === 0 ? null : Math.round((now.sent / now.s) * 10) / 10;
	return { process: pid ?? null, host: host ?? null, rate, doing: now?.state ?? null };
}

/** `process 4711 on node1 since 2026-11-24T02:15:00Z, 31 requests a second, waiting`. */
export function goingText(going: GoingOn): string {
	const { rate, doing } = goingMembers(going);
	const { pid, host, since } = going;
	const speed = rate === null ? [] : [`${rate} requests a second`];
	const what = doing !== null && doing !== "running" && doing !== "paused" ? [doing] : [];
	return [`process ${pid} on ${show(host)} since ${since.replace(/\.\d+Z$/, "Z")}`, ...speed, ...what].join(", ");
}
