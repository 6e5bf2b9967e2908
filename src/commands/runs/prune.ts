import { type Command, Option } from "commander";
import type { App } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import { numberText } from "../../text/words.ts";
import { Locked } from "../../run/journal/lock.ts";
import { lockContent } from "../../run/recorded/run-lock.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { markReplacedRuns } from "../../run/recorded/superseded.ts";
import type { Done } from "../../flags/declare.ts";
import { addVerbosityOptions } from "../../flags/flags.ts";
import { withFlags } from "../../flags/next-command.ts";
import { parseTime } from "../../flags/values.ts";
import { type PruneCandidate, pruneCandidate } from "../../workflows/recorded/prune-candidate.ts";
import type { RunsFlags } from "../../workflows/recorded/recorded-run.ts";

type PruneFlags = RunsFlags & { readonly olderThan: number; readonly all?: boolean };

/** Milliseconds: younger runs may still be needed. */
const KEPT = 30 * 24 * 60 * 60 * 1000;

/** Declares the interface of `runs prune`. What it does is in `prune`. */
export function pruneCommand(runs: Command, app: App, done: Done, run = prune): void {
	const command = runs
		.command("prune")
		.summary("remove the records of old runs")
		.description(
			"Removes the records of old runs that have ended. Unfinished runs stay, unless --all is given. A run in progress always stays.",
		)
		.argument("[run]", "only this run, whatever its age")
		.addOption(
			new Option("--older-than <time>", "how long ago a run must have ended: 12h, 7d, 4w")
				.argParser(parseTime)
				.default(KEPT, "30d"),
		)
		.option("--all", "also removes unfinished runs")
		.addHelpText("before", "Examples:\n  ragtag runs prune\n  ragtag runs prune --older-than 7d\n");
	addVerbosityOptions(command).action(async (name: string | undefined) => {
		done(await run(name, command.optsWithGlobals<PruneFlags>(), app));
	});
}

export async function prune(name: string | undefined, flags: PruneFlags, app: App): Promise<ExitCode> {
	const { io } = app;
	const runs = app.runs(await app.settings(flags));
	const names = name === undefined ? await runs.names() : [(await runs.find(name)).run];
	let removed = 0;
	for (const run of names) {
		const old = await pruneCandidate(run, runs);
		if (old === undefined || (name === undefined && isYoung(old, flags.olderThan))) continue;
		if (staysUnfinished(old, flags)) {
			io.note(`Run ${run} is ${old.state}: it stays (--all removes it too).`);
			continue;
		}
		const why = await removeUnlessInProgress(old, flags, runs, app);
		if (why === undefined) {
			if (flags.quiet !== true) await io.out(`${run}\n`);
			removed += 1;
		} else if (name === undefined) {
			io.note(`Run ${run} stays: ${why}.`);
		} else {
			throw new CliError(`run ${run} stays: ${why}; nothing was removed`, {
				exit: Exit.locked,
				hint: "Wait until it has ended.",
			});
		}
	}
	if (name === undefined) await runs.sweep();
	io.note(`${numberText(removed)} ${removed === 1 ? "run" : "runs"} removed.`);
	return Exit.ok;
}

function isYoung({ ended, minimumAge }: PruneCandidate, olderThan: number): boolean {
	return Date.now() - ended < Math.max(olderThan, minimumAge);
}

function staysUnfinished({ state }: PruneCandidate, { all }: PruneFlags): boolean {
	return all !== true && (state === "unfinished" || state === "superseded" || state === "damaged");
}

/** Removes a run's record, holding the lock that a run holds while it is going on. @returns why it was left */
async function removeUnlessInProgress(
	{ run, recordedWork }: PruneCandidate,
	flags: PruneFlags,
	runs: RunStore,
	{ processes }: App,
): Promise<string | undefined> {
	// It has no record yet and is old, so no process works on it.
	const lock =
		recordedWork === undefined
			? undefined
			: await lockContent(recordedWork, { runs, processes, force: false }).catch((error: unknown) =>
					whyLocked(error, run, flags),
				);
	if (typeof lock === "string") return lock;
	try {
		// Read again under the lock: the run may have been resumed before.
		const now = await pruneCandidate(run, runs);
		if (now === undefined) return "another process has removed it";
		if (staysUnfinished(now, flags)) return `it is ${now.state} (--all removes it too)`;
		await markReplacedRuns(runs, run);
		await runs.remove(run);
		return undefined;
	} finally {
		await lock?.release();
	}
}

function whyLocked(error: unknown, run: string, flags: PruneFlags): string {
	if (!(error instanceof CliError) || !(error.cause instanceof Locked)) throw error;
	const { owner, forcible } = error.cause;
	if (!forcible) return "it or another run of its manifest is in progress";
	const who = owner === undefined ? "another process" : `process ${owner.pid} on ${owner.host}`;
	const take = withFlags(`ragtag runs repair ${run} --force`, flags);
	return `${who} holds its lock, and can't be checked from this machine; if that process has certainly ended, ${take} takes the lock`;
}
