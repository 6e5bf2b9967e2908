import type { App } from "../../app.ts";
import { Exit, type ExitCode } from "../../errors.ts";
import { foundRateText, causesText } from "../../report/pace.ts";
import { countsText, undoText } from "../../report/summary.ts";
import { shardIn, shardText } from "../../shard.ts";
import { durationText, rowsText } from "../../text/words.ts";
import { show as shown } from "../../text/show.ts";
import { declare, toggle } from "../../flags/declare.ts";
import { VERBOSITY } from "../../flags/flags.ts";
import { runFileMembers } from "../../run/recorded/run-file.ts";
import { resumeCommand, withFlags } from "../../flags/next-command.ts";
import { readSummary } from "../../run/recorded/run-summary.ts";
import { chosenRun, type RunsFlags, undoOfRun } from "../../workflows/recorded/choose-run.ts";
import { type ListedRun, listedRun, goingMembers, goingText } from "../../workflows/recorded/run-state.ts";
import { type Mark, markOf } from "../../run/recorded/unfinished.ts";

export const showCommand = declare({
	summary: "show a run and the outcomes of its rows",
	description: "Shows a recorded run: what it does, the outcomes of its rows, and the next command.",
	examples: "ragtag runs show\nragtag runs show --json",
	arguments: { "[run]": "name of the run (default: the newest with any result)" },
	options: { ...VERBOSITY, json: toggle("--json", "as one JSON object") },
	run: show,
});

function stateText({ state, going }: ListedRun, mark: Mark | undefined): string {
	if (going !== undefined) return `${state}: ${goingText(going)}`;
	if (state === "superseded") return `superseded by ${mark?.by}, and resumed only by its name`;
	return state === "undone" ? `undone by ${mark?.by}` : state;
}

async function show({ run: name, ...flags }: RunsFlags, app: App): Promise<ExitCode> {
	const { io } = app;
	const { file, runs } = await chosenRun(name, "newest with a result", flags, app);
	const recorded = await runs.journal(file.run);
	const totals = recorded?.state.totals();
	const printed = readSummary(runs.path(file.run));
	const found = printed?.foundRate;
	const mark = markOf(runs, file.run);
	const listed = await listedRun(runs, file);
	const { state, facts } = listed;
	const { ended, exitCode, seconds } = facts ?? {};
	// The summary of an earlier execution says nothing of one that was killed.
	const end = ended === undefined ? undefined : printed;
	const goesOn = state === "running" || state === "paused";
	const resume = state === "unfinished" || state === "killed" ? resumeCommand(file.run, flags) : undefined;
	const undo = recorded === undefined || goesOn ? undefined : undoOfRun(file, recorded.state, flags);
	if (flags.json === true) {
		const { duplicateSkipped = 0, ...others } = totals ?? {};
		const counts = totals === undefined ? null : { ...others, duplicate_skipped: duplicateSkipped };
		const executions = recorded?.state.headers.length ?? 0;
		const object = {
			...runFileMembers(file),
			state,
			counts,
			in_doubt: recorded?.state.countInDoubt() ?? 0,
			sittings: executions,
			undo: undo?.command ?? null,
			found_rate: found ?? null,
			superseded_by: state === "superseded" ? mark?.by : null,
			undone_by: state === "undone" ? mark?.by : null,
			ended: ended ?? null,
			seconds: seconds ?? null,
			exit_code: exitCode ?? null,
			stop: end?.stop ?? null,
			slow: end?.slow ?? [],
			...goingMembers(listed.going),
		};
		await io.out(`${JSON.stringify({ ...object, folder: runs.path(file.run), resume: resume ?? null })}\n`);
		return Exit.ok;
	}
	const shard = shardIn(file.options);
	const lines: readonly (readonly [label: string, text: string | undefined])[] = [
		["run", file.run],
		["command", file.command],
		["manifest", `${shown(file.manifest.name)} (${shown(file.manifest.path)})`],
		["shard", shard && shardText(shard)],
		["merged of", file.mergedFrom?.join(", ")],
		["service", file.baseUrl],
		["started", file.started],
		["state", stateText(listed, mark)],
		["ended", ended && `${ended}, exit code ${exitCode ?? ""}`],
		["took", seconds === undefined ? undefined : durationText(seconds)],
		["stopped", end?.stop && shown(end.stop.text)],
		["slow", end === undefined || end.slow.length === 0 ? undefined : causesText(end.slow)],
		["rows", totals === undefined ? "none was sent" : countsText(totals)],
		["in doubt", `${rowsText(recorded?.state.countInDoubt() ?? 0)} sent with unknown outcome`],
		["executions", String(recorded?.state.headers.length ?? 0)],
		["rate auto", found && foundRateText(found)],
		["folder", runs.path(file.run)],
	];
	for (const [label, text] of lines) if (text !== undefined) await io.print(`${label.padEnd(10)} ${text}\n`);
	const undoLine = undo === undefined ? undefined : undoText(undo);
	if (goesOn) await io.print(`Change it with: ${withFlags(`ragtag runs adjust ${file.run}`, flags)} --rate N\n`);
	if (resume !== undefined) await io.print(`Resume it with: ${resume}\n`);
	if (undoLine !== undefined) await io.print(`${undoLine}\n`);
	return Exit.ok;
}
