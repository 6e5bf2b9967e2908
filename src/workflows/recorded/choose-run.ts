import type { Undo } from "../../report/summary.ts";
import type { JournalState } from "../../run/journal/state.ts";
import type { App } from "../../app.ts";
import { usageError } from "../../errors.ts";
import type { GlobalFlags } from "../../flags/flags.ts";
import { quoted, withFlags } from "../../flags/next-command.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { noRun, type RunStore } from "../../run/recorded/run-store.ts";
import { show } from "../../text/show.ts";
import { executionOf, factsOf, hasResult, stateOf } from "./run-state.ts";
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

/** The choice of a run that no name is given for. */
type Otherwise = "newest" | "newest that wrote" | "newest with a result" | "newest unfinished";

/**
 * The run of that name, or the newest of all, or the newest that may have written anything, or the newest with a result: a
 * row that was sent or has an outcome, and without such a run the newest of all. A row that failed before its write has an
 * outcome although nothing was sent: users want to see it and to try it again. Or the newest that was killed or is unfinished,
 * is not superseded and does not go on.
 *
 * @throws CliError exit 2 where there is none, 7 or 8 where it, or a candidate, can't be read
 */
export async function chosenRun(
	name: string | undefined,
	otherwise: Otherwise,
	flags: GlobalFlags,
	app: App,
): Promise<{ readonly file: RunFile; readonly runs: RunStore }> {
	const runs = app.runs(await app.settings(flags));
	if (name !== undefined) return { file: await runs.find(name), runs };
	const [newest, ...others] = await runs.files();
	noteDamaged(runs, flags, app);
	if (newest === undefined) throw noRun();
	const all = [newest, ...others];
	if (otherwise === "newest unfinished") return { file: await newestUnfinished(all, runs), runs };
	if (otherwise === "newest") return { file: newest, runs };
	const isWritten = otherwise === "newest that wrote";
	for (const file of all) {
		const facts = await factsOf(file.run, runs);
		if (isWritten ? facts?.wrote === true : hasResult(facts)) return { file, runs };
	}
	if (!isWritten) return { file: newest, runs };
	throw usageError("no recorded run has written anything", "ragtag runs list shows all runs.");
}

async function newestUnfinished(all: readonly RunFile[], runs: RunStore): Promise<RunFile> {
	const superseded: string[] = [];
	const running: string[] = [];
	for (const file of all) {
		const { run } = file;
		// A damaged run may be the one that the user means. Its error says how to repair it.
		const facts = await factsOf(run, runs);
		if (facts?.ended !== undefined && facts.totals.pending === 0) continue;
		const state = stateOf(facts, markOf(runs, run));
		if ((await executionOf(run, runs)) === "running") running.push(run);
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
