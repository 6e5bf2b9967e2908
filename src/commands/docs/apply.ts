import type { Command } from "commander";
import type { App } from "../../app.ts";
import type { ExitCode } from "../../errors.ts";
import { documentsText } from "../../text/words.ts";
import { checkInput } from "../../workflows/check/check-rows.ts";
import type { Done } from "../../flags/declare.ts";
import { addDryRunOptions, checkDryRunFlags, type DryRunFlags } from "../../flags/change-flags.ts";
import { checkFailedPath } from "../../workflows/run/failed-file.ts";
import { addBodyOption, addResumeOption, addRunOptions, type RunFlags, withSession } from "../../flags/flags.ts";
import { APPLY } from "../../workflows/plan/names.ts";
import type { PlanKind } from "../../workflows/plan/plan-kind.ts";
import { runPlan } from "../../workflows/plan/run-plan.ts";
import { printVersionLine } from "../../workflows/version-line.ts";

export type ApplyOptions = RunFlags &
	DryRunFlags & {
		/** the plan; - reads standard input */
		readonly file: string;
	};

/** Declares the interface of `docs apply`. What it does is in `apply`. */
export function applyCommand(docs: Command, app: App, done: Done, run = apply): void {
	const command = docs
		.command("apply")
		.summary("send exactly what a plan says")
		.description(
			"Sends exactly what a plan says, and nothing else. A document that was changed after the plan was made is left alone, and its row fails.",
		)
		.argument("<file>", "a plan that docs plan has written; - reads standard input")
		.addHelpText(
			"before",
			"Examples:\n  ragtag docs apply plan.jsonl\n  ragtag docs apply plan.jsonl --dry-run\n  ragtag docs apply plan.jsonl --failed failed.jsonl\n",
		);
	addRunOptions(addDryRunOptions(command), "also changes documents that were changed after the plan was made; ");
	addResumeOption(addBodyOption(command), "plan").action(async (file: string) => {
		done(await run({ ...command.optsWithGlobals<Omit<ApplyOptions, "file">>(), file }, app));
	});
}

export async function apply(options: ApplyOptions, app: App): Promise<ExitCode> {
	const { file } = options;
	checkDryRunFlags(options);
	checkInput(file, options);
	if (options.json === true) await printVersionLine(app);
	return withSession(options, app, async (session, settings) => {
		if (options.failed !== undefined) await checkFailedPath(options.failed, file);
		return runPlan(file, kindOf(app), options, session, settings, app);
	});
}

function kindOf({ io }: App): PlanKind {
	return {
		command: APPLY,
		actions: ["update"],
		// A list would be cheaper, and as old as the run: what somebody changed meanwhile would be written over.
		asksForEach: true,
		isExempt: false,
		isExact: false,
		since: "the plan was made",
		countsUnplanned: false,
		before: async ({ header, counts }, { linesOf, name }) => {
			const documents = documentsText(counts.changes);
			io.note(`To change: ${documents}, as planned from ${linesOf ?? name} at ${header.created}.`);
		},
	};
}
