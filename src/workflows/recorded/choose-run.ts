import type { Undo } from "../../report/summary.ts";
import type { JournalState } from "../../run/journal/state.ts";
import type { App } from "../../app.ts";
import { usageError } from "../../errors.ts";
import type { GlobalFlags } from "../../flags/flags.ts";
import { quoted, withFlags } from "../../flags/next-command.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { noRun, type RunStore } from "../../run/recorded/run-store.ts";
import type { Processes } from "../../run/storage/process-owner.ts";
import { show } from "../../text/show.ts";
import { factsOf, hasResult, type RunFacts, stateOf, executionOf } from "./run-state.ts";
import { markOf } from "../../run/recorded/unfinished.ts";

export type RunsFlags = GlobalFlags & {
	/** the run that is named */
	readonly run?: string | undefined;
	readonly json?: boolean | undefined;
};

/** Names the runs that a list or a choice of the newest run leaves out. */
export function noteDamaged(runs: RunStore, flags: GlobalFlags, { io }: Pick<App, "io">): void {
	for (const run of runs.damaged) {
		const remove = withFlags(`ragtag runs prune ${run} --all`, flags);
		io.note(`Run ${run} is left out: ${runs.path(run, "run.json")} is damaged. ${remove} removes its record.`);
	}
}

/** The newest run that may have written anything. @throws CliError exit 2 where there is none */
export async function newestWithWrites(runs: RunStore, flags: GlobalFlags, app: Pick<App, "io">): Promise<RunFile> {
	const all = await runs.files();
	noteDamaged(runs, flags, app);
	const found = await newestOf(all, runs, (facts) => facts?.wrote === true);
	if (found !== undefined) return found;
	throw usageError("no recorded run has written anything", "ragtag runs list shows all runs.");
}

/**
 * The newest run with a row that was sent or has an outcome; without such a run, the newest of all. A row that failed
 * before its write has an outcome although nothing was sent: users want to see it and to try it again.
 *
 * @throws CliError exit 2 where no run is recorded
 */
export async function newestWithResult(runs: RunStore): Promise<RunFile> {
	const all = await runs.files();
	const found = (await newestOf(all, runs, hasResult)) ?? all[0];
	if (found === undefined) throw noRun();
	return found;
}

async function newestOf(
	all: readonly RunFile[],
	runs: RunStore,
	isWanted: (facts: RunFacts | undefined) => boolean,
): Promise<RunFile | undefined> {
	for (const file of all) if (isWanted(await factsOf(file.run, runs))) return file;
	return undefined;
}

/**
 * The newest run that was killed or is unfinished, is not superseded and does not go on.
 *
 * @throws CliError exit 2 where there is none; 7 or 8 where a candidate can't be read
 */
export async function newestUnfinished(runs: RunStore, processes: Processes): Promise<RunFile> {
	const all = await runs.files();
	if (all.length === 0) throw noRun();
	const superseded: string[] = [];
	const running: string[] = [];
	for (const file of all) {
		const { run } = file;
		// A damaged run may be the one that the user means. Its error says how to repair it.
		const facts = await factsOf(run, runs);
		if (facts?.ended !== undefined && facts.totals.pending === 0) continue;
		const state = stateOf(facts, markOf(runs, run));
		if ((await executionOf(run, runs, processes)) === "running") running.push(run);
		else if (state === "unfinished") return file;
		if (state === "superseded") superseded.push(run);
	}
	const [active] = running;
	const hint =
		active !== undefined
			? `Run ${active} is going on: ragtag runs show ${active} says how far it is.`
			: superseded.length === 0
				? "ragtag runs list shows all runs; ragtag runs retry tries failed rows again."
				: `Runs that newer runs have superseded are resumed only by name: ${superseded.join(", ")}.`;
	throw usageError("no recorded run is unfinished; nothing was sent", hint);
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
	throw usageError(
		`run ${run} went to ${show(baseUrl)}, which only its record says; nothing was sent`,
		`The key is sent only to an address that you give. If this one is right, type: ${command}`,
	);
}

/** Whether a recorded run can be undone, and how. */
export function undoOfRun(
	{ run, options }: Pick<RunFile, "run" | "options">,
	state: JournalState,
	flags: GlobalFlags,
): Undo {
	const { updated, uploaded, renamed, removed, replaced } = state.totals();
	const blind = state.countWithoutBeforeImage();
	// Of these it needs the documents, and may have kept them.
	const gone = removed + replaced;
	const isKept = options["trash"] === true;
	// Files of failed rows may be stored. Updates that changed nothing need no undo.
	const written = updated + uploaded + renamed + state.countStoredButFailed() - state.noOpUpdates;
	const reversible = written - blind + (isKept ? gone : 0);
	const command = reversible > 0 ? withFlags(`ragtag runs undo ${run}`, flags) : undefined;
	return { command, blind, removed: isKept ? 0 : gone };
}
