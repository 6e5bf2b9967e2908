import { Exit } from "../../errors.ts";
import { numberText } from "../../text/words.ts";
import { type Repaired, repairRun } from "../../run/journal/repair.ts";
import { JOURNAL_FILE } from "../../run/journal/reader.ts";
import { lockContent } from "../../run/recorded/run-lock.ts";
import { declare } from "../../flags/declare.ts";
import { forceOption, VERBOSITY } from "../../flags/flags.ts";
import { resumeCommand } from "../../flags/next-command.ts";
import { chosenRun } from "../../workflows/recorded/choose-run.ts";

export const repairCommand = declare({
	summary: "make a run with a damaged journal readable",
	description:
		"Keeps every good record of a damaged journal, and keeps the damaged file beside it. Rows whose outcome was lost become pending again.",
	examples: "ragtag runs repair",
	arguments: { "[run]": "name of the run (default: the newest)" },
	options: { ...VERBOSITY, force: forceOption() },
	run: async ({ run: name, ...flags }, app) => {
		const { io } = app;
		const { file, runs } = await chosenRun(name, "newest", flags, app);
		const { run } = file;
		await using _lock = await lockContent(file, { runs, force: flags.force === true });
		const repaired = await repairRun(runs.path(run), () => new Date());
		await io.out(`${JOURNAL_FILE}: ${repairedText(repaired)}\n`);
		if (repaired.lost > 0) {
			io.note(`Rows whose outcome was lost are pending again. Resume it with: ${resumeCommand(run, flags)}`);
		}
		return Exit.ok;
	},
});

function repairedText({ kept, lost, original }: Repaired): string {
	if (original === undefined) return `nothing to repair, ${numberText(kept)} records`;
	return `${numberText(kept)} records kept, at least ${numberText(lost)} lost; the damaged file is ${original}`;
}
