import { CliError, Exit, usageError } from "../../errors.ts";
import { declare, toggle, valued } from "../../flags/declare.ts";
import { type GlobalFlags, VERBOSITY } from "../../flags/flags.ts";
import { resumeCommand, withFlags } from "../../flags/next-command.ts";
import { collect } from "../../flags/values.ts";
import { undoOfRun } from "../../workflows/recorded/choose-run.ts";
import { type MergedRun, mergeRuns } from "../../run/recorded/merge-runs.ts";
import { lockContent } from "../../run/recorded/run-lock.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { readSummary, type RunSummary } from "../../run/recorded/run-summary.ts";
import { findParts, type ShardRun, wholeOf, wholeOptions } from "../../run/recorded/shard-runs.ts";
import { show } from "../../text/show.ts";
import { numberText } from "../../text/words.ts";
import { VERSION } from "../../version.ts";
import type { Ended } from "../../report/summary.ts";
import { printVersionLine, report } from "../../workflows/report.ts";
import { recordEnd } from "../../workflows/run/open-record.ts";

export const mergeCommand = declare({
	summary: "join the runs of all shards of a manifest into one run",
	description:
		"Joins the records of the shards of one manifest into one recorded run, which can be shown, verified, undone, blamed and reported as one. Prints its name. It sends nothing, and leaves the records of the shards as they are.",
	examples:
		"ragtag runs merge --from collected/\nragtag runs merge 20261121T170000-1a2b3c 20261121T170000-4d5e6f\nragtag runs merge node1/20261121T170000-1a2b3c node2/20261121T170001-4d5e6f",
	arguments: { "[runs...]": "names of runs, or folders of runs from other machines" },
	options: {
		...VERBOSITY,
		from: valued("--from <dir>", "takes all shards whose runs are below a folder (repeatable)", collect),
		json: toggle("--json", "the summary of the merged run as JSON lines"),
	},
	run: async ({ runs: names, ...flags }, app) => {
		const { from = [] } = flags;
		if (names.length + from.length === 0) {
			throw usageError(
				"runs merge needs the runs of all shards; nothing was merged",
				"Name them, or a folder that has copies of them: ragtag runs merge --from DIR. ragtag runs list shows the runs of this machine.",
			);
		}
		if (flags.json === true) await printVersionLine(app);
		const settings = await app.settings(flags);
		const runs = app.runs(settings);
		runs.secure();
		app.monitor.enter("checking", "the records of the shards");
		const whole = wholeOf(await findParts(names, from, runs), (run) => resumeCommand(run, flags));
		const { manifest, options } = whole[0].file;
		// No shard may be tried again meanwhile, and no second merge of them begin.
		await using _lock = await lockContent({ manifest, options: wholeOptions(options) }, { runs, force: false });
		await refuseSecond(whole, runs);
		const merged = await mergeRuns(runs, whole, VERSION);
		const { run } = merged.file;
		const writers = whole
			.filter(({ recorded }) => recorded.state.totals().updated + recorded.state.totals().uploaded > 0)
			.map((shard) => readSummary(shard.folder));
		const ended = endOf(merged, writers, runs, flags);
		const record = { run: { flags, settings, app }, name: run, journal: merged.journal };
		const recorded = await recordEnd(record, ended, merged.ended);
		await merged.journal.close();
		app.io.note(`Merged ${numberText(whole.length)} shards of ${show(manifest.name)} into run ${run}.`);
		if (flags.json !== true) await app.io.out(`${run}\n`);
		return await report({ flags, app }, recorded);
	},
});

/** @throws CliError exit 8 where these shards are one run already: each would claim the same writes */
async function refuseSecond(whole: readonly ShardRun[], runs: RunStore): Promise<void> {
	const names = whole.map(({ file }) => file.run).join(" ");
	const earlier = (await runs.files()).find(({ mergedFrom }) => mergedFrom?.join(" ") === names);
	if (earlier === undefined) return;
	throw new CliError(`these shards are merged already, into run ${earlier.run}; nothing was merged`, {
		exit: Exit.foreign,
		hint: `See it with: ragtag runs show ${earlier.run}`,
	});
}

/** The end of a merged run, from the end of its shards. A shard without a summary has seen nothing. */
function endOf(
	{ file, journal, seconds }: MergedRun,
	writers: readonly (RunSummary | undefined)[],
	runs: RunStore,
	flags: GlobalFlags,
): Ended {
	const { run } = file;
	const totals = journal.totals();
	const retry = withFlags(`ragtag runs retry ${run}`, flags);
	return {
		totals,
		seconds,
		stop: undefined,
		verified: writers.length > 0 && writers.every((end) => end?.isVerified === true),
		run,
		folder: runs.path(run),
		same: journal.state.noOpUpdates,
		undo: undoOfRun(file, journal.state, flags),
		next:
			totals.failed > 0
				? `Try the failed rows again, where ${show(file.manifest.name)} is: ${retry}`
				: "Fix the invalid rows, which the shards listed, and send only those.",
	};
}
