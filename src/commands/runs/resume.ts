import { checkManifestOfRun } from "../../workflows/outputs/prepare.ts";
import type { Command } from "commander";
import type { App } from "../../app.ts";
import { CliError, Exit, type ExitCode, usageError } from "../../errors.ts";
import { declare, toggle } from "../../flags/declare.ts";
import { forceOption, RUN, type RunFlags } from "../../flags/flags.ts";
import { payloadFlags } from "../../flags/payload-options.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { chosenRun, targetOf } from "../../workflows/recorded/choose-run.ts";
import { commandNamed } from "../index.ts";
import { markOf } from "../../run/recorded/unfinished.ts";

const KEPT =
	"The --no-undo, --rate and --concurrency of the run are kept; a --rate or --concurrency that is given here wins.";
const OPTIONS = {
	...RUN,
	force: forceOption(
		"also writes documents that a newer run has touched since; for a plan, also those that were changed after it was made; ",
	),
};

export const resumeRunCommand = declare({
	summary: "resume a run where it stopped",
	description: `Resumes a run where it stopped. The record of the run has every option that changes what is sent. ${KEPT}`,
	examples: "ragtag runs resume\nragtag runs resume 20261121T170000-1a2b3c --rate 20",
	arguments: {
		"[run]": "name of the run (default: the newest unfinished one that is not superseded and does not go on)",
	},
	options: {
		...OPTIONS,
		yes: toggle("-y, --yes", "removes documents, or goes on with an undo, without asking again"),
	},
	run: resumeRun,
});

export const retryCommand = declare({
	summary: "try the failed rows of a run again",
	description: `Tries the failed rows of a run again, together with its pending rows. ${KEPT}`,
	examples: "ragtag runs retry\nragtag runs retry 20261121T170000-1a2b3c",
	arguments: { "[run]": "name of the run (default: the newest with any result)" },
	options: OPTIONS,
	run: resumeRun,
});

async function resumeRun({ run: name, ...flags }: RunFlags, app: App, command: Command): Promise<ExitCode> {
	// Whether failed rows are tried again.
	const reopen = command.name() === "retry";
	const { file, runs } = await chosenRun(name, reopen ? "newest with a result" : "newest unfinished", flags, app);
	refuseUndone(reopen ? "retried" : "resumed", file, runs, await runs.files());
	const resume = (await commandNamed(file.command))?.resume;
	if (resume === undefined) {
		throw new CliError(`run ${file.run} is one of ${file.command}, which this version does not know`, {
			exit: Exit.foreign,
			hint: "Use the version of ragtag that began it.",
		});
	}
	await checkManifestOfRun(app, file.manifest.path);
	const target = await targetOf(reopen ? "retry" : "resume", file, flags, app);
	const recorded = payloadFlags(file.options);
	const { undo, rate, concurrency } = file.sending ?? {};
	const sending = {
		undo: undo ?? flags.undo,
		rate: flags.rate ?? rate,
		// A default was not typed.
		concurrency:
			command.getOptionValueSource("concurrency") === "cli" ? flags.concurrency : (concurrency ?? flags.concurrency),
	};
	// Only a run that goes on by itself asks again: a retry was typed for rows that had failed.
	const own = { run: file.run, reopen, allowEmpty: true, ...(reopen ? { yes: true } : {}) };
	return resume(file, { ...recorded, ...flags, ...sending, ...target, ...own }, app);
}

/** @throws CliError exit 2 where the run, or the run that its shards were merged into, was undone */
function refuseUndone(verb: string, { run }: RunFile, runs: RunStore, all: readonly RunFile[]): void {
	const merged = all.filter(({ mergedFrom }) => mergedFrom?.includes(run) === true);
	for (const name of [run, ...merged.map((one) => one.run)]) {
		const mark = markOf(runs, name);
		if (mark?.isUndone !== true) continue;
		throw usageError(
			`run ${run} was undone by run ${mark.by}, and is not ${verb}; nothing was sent`,
			"Run its command again to write its rows; ragtag runs list shows all runs.",
		);
	}
}
