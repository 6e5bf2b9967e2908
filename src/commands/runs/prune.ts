import { type Command, Option } from "commander";
import type { App } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { runsText, sizeText } from "../../text/words.ts";
import type { Done } from "../../flags/declare.ts";
import { addVerbosityOptions } from "../../flags/flags.ts";
import { parseCount, parseTime } from "../../flags/values.ts";
import { printList } from "../../workflows/lists/list-output.ts";
import { type PruneCandidate, pruneCandidate } from "../../workflows/recorded/prune-candidate.ts";
import type { RunsFlags } from "../../workflows/recorded/recorded-run.ts";
import { isEnded, packFinished, type Removal, removeRun } from "../../workflows/recorded/remove-run.ts";

type PruneFlags = RunsFlags & {
	readonly olderThan: number;
	readonly keepLast?: number;
	readonly all?: boolean;
	readonly dryRun?: boolean;
};

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
		.addOption(
			new Option("--keep-last <count>", "keeps the newest runs, whatever their age").argParser(
				parseCount(0, 1_000_000),
			),
		)
		.option("--all", "also removes unfinished runs")
		.option("--dry-run", "prints what would be removed, with sizes, and removes nothing")
		.addHelpText(
			"before",
			"Examples:\n  ragtag runs prune --older-than 90d --dry-run\n  ragtag runs prune --older-than 7d --keep-last 20\n",
		);
	addVerbosityOptions(command).action(async (name: string | undefined) => {
		done(await run(name, command.optsWithGlobals<PruneFlags>(), app));
	});
}

export async function prune(name: string | undefined, flags: PruneFlags, app: App): Promise<ExitCode> {
	const { io, processes } = app;
	const runs = app.runs(await app.settings(flags));
	const isDry = flags.dryRun === true;
	const all = await runs.files();
	const names = name === undefined ? await chosenByAge(all, flags, () => runs.names()) : [(await runs.find(name)).run];
	const staysBecause = (candidate: PruneCandidate): string | undefined =>
		staysUnfinished(candidate, flags) ? `it is ${candidate.state} (--all removes it too)` : undefined;
	const removal: Removal = { runs, processes, all, staysBecause, isDry, flags };
	const removed: Removed[] = [];
	for (const run of names) {
		const old = await pruneCandidate(run, runs);
		if (old === undefined) continue;
		if (name === undefined && isYoung(old, flags.olderThan)) {
			if (!isDry && isEnded(old)) await packFinished(old, removal);
			continue;
		}
		if (staysUnfinished(old, flags)) {
			io.note(`Run ${run} is ${old.state}: it stays (--all removes it too).`);
			continue;
		}
		const bytes = await runs.sizeOf(run).catch(() => 0);
		const why = await removeRun(old, removal);
		if (why === undefined) {
			if (flags.quiet !== true && !isDry) await io.out(`${run}\n`);
			removed.push({ ...old, file: all.find((file) => file.run === run), bytes });
		} else if (name === undefined) {
			io.note(`Run ${run} stays: ${why}.`);
		} else {
			throw new CliError(`run ${run} stays: ${why}; nothing was removed`, {
				exit: Exit.locked,
				hint: "Wait until it has ended.",
			});
		}
	}
	if (isDry && removed.length > 0 && flags.quiet !== true) await printList(removed, WOULD_GO, undefined, app);
	if (name === undefined && !isDry) await runs.sweep();
	const bytes = removed.reduce((sum, each) => sum + each.bytes, 0);
	const size = bytes === 0 ? "" : `, ${sizeText(bytes)}`;
	io.note(
		isDry ? `${runsText(removed.length)} would be removed${size}.` : `${runsText(removed.length)} removed${size}.`,
	);
	return Exit.ok;
}

/** A run that was removed, or would be. */
type Removed = PruneCandidate & { readonly file: RunFile | undefined; readonly bytes: number };

const WOULD_GO = {
	columns: ["run", "command", "state", "rows", "ended", "size", "manifest"],
	cells: ({ run, file, state, rows, ended, bytes }: Removed): readonly string[] => [
		run,
		file?.command ?? "",
		state,
		rows === undefined ? "" : String(rows),
		new Date(ended).toISOString().replace(/\.\d+Z$/, "Z"),
		sizeText(bytes),
		file?.manifest.name ?? "",
	],
	json: ({ run }: Removed): string => JSON.stringify({ run }),
	spare: ["rows", "ended"],
};

/** The folders of all runs but the newest that `--keep-last` keeps, the newest first. */
async function chosenByAge(
	all: readonly RunFile[],
	{ keepLast = 0 }: PruneFlags,
	names: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
	const kept = new Set(all.slice(0, keepLast).map(({ run }) => run));
	return (await names()).filter((run) => !kept.has(run));
}

function isYoung({ ended, minimumAge }: PruneCandidate, olderThan: number): boolean {
	return Date.now() - ended < Math.max(olderThan, minimumAge);
}

function staysUnfinished({ state }: PruneCandidate, { all }: PruneFlags): boolean {
	return all !== true && (state === "unfinished" || state === "superseded" || state === "damaged");
}
