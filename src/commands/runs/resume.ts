import { checkManifestOfRun } from "../../workflows/outputs/prepare.ts";
import type { Command } from "commander";
import type { App } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import type { Done } from "../../flags/declare.ts";
import { addRunOptions, type RunFlags } from "../../flags/flags.ts";
import { payloadFlags } from "../../flags/payload-options.ts";
import { certainNewestWithResult, newestUnfinished, targetOf } from "../../workflows/recorded/recorded-run.ts";
import { resumes } from "../index.ts";

const FORCE = "for a plan, also changes documents that were changed after it was made; ";

/** Declares the interface of `runs resume`. What it does is in `resumeRun`. */
export function resumeRunCommand(runs: Command, app: App, done: Done, run = resumeRun): void {
	const command = runs
		.command("resume")
		.summary("resume a run where it stopped")
		.description(
			"Resumes a run where it stopped. Every option that changes what is sent comes from the record of the run.",
		)
		.argument("[run]", "name of the run (default: the newest unfinished one that is not superseded)")
		.addHelpText("before", "Examples:\n  ragtag runs resume\n  ragtag runs resume 20261121T170000-1a2b3c --rate 20\n");
	addRunOptions(command, FORCE).action(async (name: string | undefined) => {
		done(await run(name, command.optsWithGlobals<RunFlags>(), app, false));
	});
}

/** Declares the interface of `runs retry`. What it does is in `resumeRun`. */
export function retryCommand(runs: Command, app: App, done: Done, run = resumeRun): void {
	const command = runs
		.command("retry")
		.summary("try the failed rows of a run again")
		.description("Tries the failed rows of a run again, together with its pending rows.")
		.argument("[run]", "name of the run (default: the newest with any result)")
		.addHelpText("before", "Examples:\n  ragtag runs retry\n  ragtag runs retry 20261121T170000-1a2b3c\n");
	addRunOptions(command, FORCE).action(async (name: string | undefined) => {
		done(await run(name, command.optsWithGlobals<RunFlags>(), app, true));
	});
}

/** @param reopen whether failed rows are tried again */
async function resumeRun(name: string | undefined, flags: RunFlags, app: App, reopen: boolean): Promise<ExitCode> {
	const settings = await app.settings(flags);
	const runs = app.runs(settings);
	const file = await (name !== undefined
		? runs.find(name)
		: reopen
			? certainNewestWithResult("retry", runs)
			: newestUnfinished(runs));
	const resume = await resumes.get(file.command)?.();
	if (resume === undefined) {
		throw new CliError(`run ${file.run} is one of ${file.command}, which this version does not know`, {
			exit: Exit.foreign,
			hint: "Use the version of ragtag that began it.",
		});
	}
	await checkManifestOfRun(app, file.manifest.path);
	const target = await targetOf(reopen ? "retry" : "resume", file, flags, app);
	const recorded = payloadFlags(file.options);
	return resume(file, { ...recorded, ...flags, ...target, run: file.run, reopen, allowEmpty: true }, app);
}
