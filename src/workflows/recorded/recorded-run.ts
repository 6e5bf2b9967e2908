import type { RecordedRun } from "../../run/journal/reader.ts";
import { journalCliError } from "../../run/recorded/faults.ts";
import type { Totals } from "../../run/types.ts";
import { isFinished } from "../../run/recorded/unfinished.ts";
import { startedLaterByClock, type RunFile } from "../../run/recorded/run-file.ts";
import { noRun, type RunStore } from "../../run/recorded/run-store.ts";
import type { GlobalFlags } from "../../flags/flags.ts";
import { CliError, Exit } from "../../errors.ts";
import { isComplete, readRunSummary } from "../../run/recorded/run-summary.ts";
import { type Mark, markOf } from "../../run/recorded/superseded.ts";
import type { App } from "../../app.ts";
import type { Processes } from "../../run/storage/process-owner.ts";
import { show } from "../../text/show.ts";
import { executionOf } from "./going-on.ts";
import { quoted, withFlags } from "../../flags/next-command.ts";

export type RunsFlags = GlobalFlags & { readonly json?: boolean };

/** The state of a recorded run. */
export type RunState =
	| ("finished" | "failed rows" | "unfinished" | "superseded" | "undone" | "not begun" | "damaged")
	/** of runs without an end, by the process that executes them, or did */
	| ("running" | "paused" | "killed");

export type RunReport = { readonly file: RunFile; readonly recorded: RecordedRun | undefined };

/** A run and its journal. @throws CliError 7 or 8 where the journal can't be read */
export async function readReport(runs: RunStore, file: RunFile): Promise<RunReport> {
	try {
		return { file, recorded: await runs.journal(file.run) };
	} catch (error) {
		throw journalCliError(error);
	}
}

/** Names the runs that a list or a choice of the newest run leaves out. */
export function noteDamaged(runs: RunStore, flags: GlobalFlags, { io }: Pick<App, "io">): void {
	for (const run of runs.damaged) {
		const remove = withFlags(`ragtag runs prune ${run} --all`, flags);
		io.note(`Run ${run} is left out: ${runs.path(run, "run.json")} is damaged. ${remove} removes its record.`);
	}
}

/** Whether a run may have written anything. A record that a repair lost counts as a write. */
export function hasWritten(recorded: RecordedRun | undefined): recorded is RecordedRun {
	return recorded !== undefined && recorded.sent.count + recorded.sent.lost > 0;
}

/**
 * The state of a run by its journal. One that was killed before it sent a row is not begun, as there is nothing to resume.
 *
 * @param mark whether it was superseded or undone
 */
export function stateOf(recorded: RecordedRun | undefined, mark?: Mark): RunState {
	if (recorded === undefined) return "not begun";
	const isBegun = hasWritten(recorded) || hasSettled(recorded) || isFinished(recorded);
	const { state } = recorded;
	const facts = { ...state.totals(), superseded: state.superseded, isBegun, isDone: isFinished(recorded) };
	return stateFrom(facts, mark);
}

/** The counts that decide in which state a run is. */
type StateCounts = Pick<Totals, "rows" | "failed" | "invalid" | "duplicateSkipped" | "pending">;

/** Failed rows that a newer run has written since: they are settled, as there is nothing left to do. */
type Superseded = { readonly superseded: number };

/**
 * The state of a run by its counts alone.
 *
 * @param wrote whether any row may have been sent
 */
export function stateBySummary(
	{ wrote, totals, superseded }: Superseded & { readonly wrote: boolean; readonly totals: StateCounts },
	mark?: Mark,
): RunState {
	const isDone = totals.pending === 0;
	return stateFrom({ ...totals, superseded, isBegun: wrote || settledIn(totals) > 0 || isDone, isDone }, mark);
}

type StateFacts = Superseded & Pick<Totals, "failed"> & { readonly isBegun: boolean; readonly isDone: boolean };

function stateFrom({ isBegun, isDone, failed, superseded }: StateFacts, mark: Mark | undefined): RunState {
	if (!isBegun) return "not begun";
	if (mark?.isUndone === true) return "undone";
	if (!isDone) return mark === undefined ? "unfinished" : "superseded";
	return failed > superseded ? "failed rows" : "finished";
}

/** The newest run that may have written anything. @throws CliError exit 2 where there is none */
export async function newestWithWrites(runs: RunStore, flags: GlobalFlags, app: Pick<App, "io">): Promise<RunFile> {
	const all = await runs.files();
	noteDamaged(runs, flags, app);
	for (const file of all) {
		if (hasWritten((await readReport(runs, file)).recorded)) return file;
	}
	throw new CliError("no recorded run has written anything", {
		exit: Exit.usage,
		hint: "ragtag runs list shows all runs.",
	});
}

/** The newest runs stay, however old they are by the clock: where it was wrong once, a run that ended just now seems old. */
export const KEPT_RUNS = 20;

/** The newest runs that may have written anything, so many at most. @param all the newest first */
export async function newestThatWrote(
	count: number,
	all: readonly RunFile[],
	runs: RunStore,
): Promise<ReadonlySet<string>> {
	const found = new Set<string>();
	for (const { run } of all) {
		if (found.size >= count) break;
		if (await mayHaveWritten(run, runs)) found.add(run);
	}
	return found;
}

async function mayHaveWritten(run: string, runs: RunStore): Promise<boolean> {
	const summary = readRunSummary(runs, run);
	if (summary !== undefined) return summary.wrote;
	// A journal that can't be read may hold writes.
	return await runs.journal(run).then(hasWritten, () => true);
}

/**
 * The same for a command that writes or undoes.
 *
 * @param verb of `ragtag runs`
 * @throws CliError exit 2 where there is none, or where another run has a later start time
 */
export async function certainNewestWithWrites(
	verb: string,
	runs: RunStore,
	flags: GlobalFlags,
	app: Pick<App, "io">,
): Promise<RunFile> {
	return undisputed(verb, await newestWithWrites(runs, flags, app), await runs.files());
}

/**
 * The newest run with a row that was sent or has an outcome; without such a run, the newest of all. A row that failed
 * before its write has an outcome although nothing was sent: users want to see it and to try it again.
 *
 * @throws CliError exit 2 where no run is recorded
 */
export async function newestWithResult(runs: RunStore): Promise<RunFile> {
	const all = await runs.files();
	for (const file of all) {
		const { recorded } = await readReport(runs, file);
		if (hasWritten(recorded) || hasSettled(recorded)) return file;
	}
	const [last] = all;
	if (last === undefined) throw noRun();
	return last;
}

function hasSettled(recorded: RecordedRun | undefined): boolean {
	return recorded !== undefined && settledIn(recorded.state.totals()) > 0;
}

function settledIn({ rows, pending, invalid, duplicateSkipped }: StateCounts): number {
	return rows - pending - invalid - duplicateSkipped;
}

/** The same for a command that writes. @throws CliError exit 2 where another run has a later start time */
export async function certainNewestWithResult(verb: string, runs: RunStore): Promise<RunFile> {
	return undisputed(verb, await newestWithResult(runs), await runs.files());
}

/**
 * The newest run that was killed or is unfinished, is not superseded and does not go on.
 *
 * @throws CliError exit 2 where there is none, or where another run has a later start time; 7 or 8 where a candidate can't
 *   be read
 */
export async function newestUnfinished(runs: RunStore, processes: Processes): Promise<RunFile> {
	const all = await runs.files();
	const superseded: string[] = [];
	const running: string[] = [];
	for (const file of all) {
		const { run } = file;
		if (isComplete(runs, run)) continue;
		// A damaged run may be the one that the user means. Its error says how to repair it.
		const { recorded } = await readReport(runs, file);
		const state = stateOf(recorded, markOf(runs, run));
		if ((await executionOf(run, runs, processes)) === "running") running.push(run);
		else if (state === "unfinished") return undisputed("resume", file, all);
		if (state === "superseded") superseded.push(run);
	}
	if (all.length === 0) throw noRun();
	const [first] = superseded;
	const [active] = running;
	throw new CliError("no recorded run is unfinished; nothing was sent", {
		exit: Exit.usage,
		hint:
			active !== undefined
				? `Run ${active} is going on: ragtag runs show ${active} says how far it is.`
				: first === undefined
					? "ragtag runs list shows all runs; ragtag runs retry tries failed rows again."
					: `Runs that newer runs have superseded are resumed only by name: ${superseded.join(", ")}.`,
	});
}

function undisputed(verb: string, file: RunFile, all: readonly RunFile[]): RunFile {
	const other = startedLaterByClock(file, all);
	if (other === undefined) return file;
	throw new CliError(
		`run ${file.run} began last, but by its start time run ${other.run} did, so this machine's clock was changed; nothing was sent`,
		{
			exit: Exit.usage,
			hint: `Name the run that you mean: ragtag runs ${verb} ${file.run}, or ragtag runs ${verb} ${other.run}. ragtag runs list shows all runs.`,
		},
	);
}

/**
 * The target of a command that continues, verifies or undoes a recorded run. A flag, the environment or a profile gives it,
 * the run's own profile included. The address of the record alone is refused: a program that can write the record could
 * otherwise send the key to any address.
 *
 * @param verb of `ragtag runs`
 * @throws CliError exit 2 where nothing gives an address
 */
export async function targetOf(
	verb: string,
	{ run, baseUrl, flags: pairs }: Pick<RunFile, "run" | "baseUrl" | "flags">,
	flags: GlobalFlags,
	app: App,
): Promise<Pick<GlobalFlags, "profile">> {
	const at = pairs.indexOf("--profile");
	const profile = flags.profile ?? (at === -1 ? undefined : pairs[at + 1]);
	const settings = await app.settings({ ...flags, profile });
	if (settings.baseUrl !== undefined) return profile === undefined ? {} : { profile };
	const command = withFlags(`ragtag runs ${verb} ${run} --base-url ${quoted(baseUrl)}`, flags);
	throw new CliError(`run ${run} went to ${show(baseUrl)}, which only its record says; nothing was sent`, {
		exit: Exit.usage,
		hint: `The key is sent only to an address that you give. If this one is right, type: ${command}`,
	});
}
