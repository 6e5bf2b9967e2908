import type { Command } from "commander";
import type { App } from "../../app.ts";
import { Exit, type ExitCode } from "../../errors.ts";
import { numberText } from "../../report/summary.ts";
import type { Done } from "../declare.ts";
import { addTalkOptions } from "../options/flags.ts";
import { parseTime } from "../options/values.ts";
import { readReport, type RunsFlags, stateOf } from "./read.ts";

type PruneFlags = RunsFlags & { readonly olderThan: number; readonly all?: boolean };

/** Milliseconds: what is younger may still be asked about. */
const KEPT = 30 * 24 * 60 * 60 * 1000;

/** Declares the interface of `runs prune`. What it does is in `prune`. */
export function pruneCommand(runs: Command, app: App, done: Done, run = prune): void {
	const command = runs
		.command("prune")
		.summary("remove the records of old runs")
		.description("Removes the records of runs that have ended and are old. Unfinished runs stay, unless --all.")
		.argument("[run]", "that run alone, whatever its age")
		.option("--older-than <time>", "how old a run must be: 12h, 90m (default: 30 days)", parseTime, KEPT)
		.option("--all", "unfinished runs too")
		.addHelpText("before", "Examples:\n  ragtag runs prune\n  ragtag runs prune --older-than 24h\n");
	addTalkOptions(command).action(async (name: string | undefined) => {
		done(await run(name, command.optsWithGlobals<PruneFlags>(), app));
	});
}

export async function prune(name: string | undefined, flags: PruneFlags, app: App): Promise<ExitCode> {
	const { io } = app;
	const runs = app.runs(await app.settings(flags));
	const names = name === undefined ? await runs.names() : [(await runs.find(name)).run];
	let removed = 0;
	for (const run of names) {
		const file = await runs.read(run);
		const age = Date.now() - Date.parse(file?.started ?? "");
		if (name === undefined && age < flags.olderThan) continue;
		if (file !== undefined && flags.all !== true) {
			const state = await readReport(runs, file).then(
				({ recorded }) => stateOf(recorded),
				() => "damaged" as const,
			);
			if (state === "unfinished" || state === "damaged") {
				io.note(`Run ${run} is ${state}: it stays (--all removes it too).`);
				continue;
			}
		}
		await runs.remove(run);
		await io.out(`${run}\n`);
		removed += 1;
	}
	io.note(`${numberText(removed)} ${removed === 1 ? "run" : "runs"} removed.`);
	return Exit.ok;
}
