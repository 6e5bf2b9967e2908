import { noOutcomes, countWritten } from "../../outcomes.ts";
import { chosenRun, type RunsFlags } from "../../workflows/recorded/choose-run.ts";
import type { App } from "../../app.ts";
import { Exit, type ExitCode } from "../../errors.ts";
import { rowsText } from "../../text/words.ts";
import { verifyText } from "../../report/verify.ts";
import { type Totals, totalsOf, type VerifyCounts, type VerifyMode } from "../../run/types.ts";
import { choice, declare } from "../../flags/declare.ts";
import { outageOption, OUTPUTS, READ, type VerifyFlags } from "../../flags/flags.ts";
import { resumeCommand, withFlags } from "../../flags/next-command.ts";
import { sendsPlan } from "../../workflows/plan/open-plan.ts";
import { connectTo } from "../../workflows/open-run.ts";
import { NO_ROWS, printVersionLine, report } from "../../workflows/report.ts";
import { againText, verifyRows } from "../../workflows/verify/verify-rows.ts";
import { UNDO_COMMAND } from "../../run/recorded/unfinished.ts";

type VerifyRunFlags = VerifyFlags & RunsFlags & { readonly verify: VerifyMode };

export const verifyCommand = declare({
	summary: "read back what a run wrote, and report what is lost",
	description:
		"Reads back what a run wrote, and reports what is equal, normalised by the service, lost, or changed since. Writes nothing. Exit 10 if anything is lost.",
	examples: "ragtag runs verify\nragtag runs verify 20261121T170000-1a2b3c --verify sample",
	arguments: { "[run]": "name of the run (default: the newest that wrote)" },
	options: {
		...READ,
		...OUTPUTS,
		maxOutage: outageOption("30s"),
		verify: choice("--verify <what>", ["all", "sample"], "all that was written, or a sample of 300 rows"),
	},
	run: verify,
});

async function verify({ run: name, ...flags }: VerifyRunFlags, app: App): Promise<ExitCode> {
	const { io, clock } = app;
	if (flags.json === true) await printVersionLine(app);
	const { file, runs } = await chosenRun(name, "newest that wrote", flags, app);
	const { run } = file;
	app.monitor.enter("verifying", `the journal of ${run}`);
	const recorded = await runs.journal(run);
	if (recorded === undefined || countWritten(recorded.state.totals()) === 0) {
		io.note(`Run ${run} has written nothing, so there is nothing to verify.`);
		return report({ flags, app }, { totals: checkedOf(undefined), seconds: 0, stop: undefined, run });
	}
	const { pending } = recorded.state.totals();
	if (pending > 0) {
		const rest = `${rowsText(pending)} of it ${pending === 1 ? "is" : "are"} pending`;
		io.note(`Run ${run} did not end: ${rest}, and can't be verified. Resume it with: ${resumeCommand(run, flags)}`);
	}
	// `verifyRows` waits out an outage by itself.
	const sessionFlags = { ...flags, concurrency: undefined, maxOutage: undefined };
	await using connected = await connectTo("verify", file, sessionFlags, app);
	const { session } = connected;
	const started = clock.now();
	const { command, manifest } = file;
	// The rows of a plan have the lines of the manifest that it was made from.
	const source =
		sendsPlan(command) || command === UNDO_COMMAND
			? (manifest.source ?? `manifest of ${manifest.name}`)
			: manifest.name;
	const what = { recorded, runs, mode: flags.verify, name: source, started, unreadable: Exit.usage };
	const { counts, stop } = await verifyRows(what, { flags, session, settings: connected.settings, app });
	const hint = `${stop?.hint === undefined || stop.exit === Exit.limit ? "" : `${stop.hint} `}Begin again with: ${withFlags(`ragtag runs verify ${run}`, flags)}`;
	const ended = {
		totals: checkedOf(counts),
		seconds: (clock.now() - started) / 1000,
		stop: stop === undefined || stop.exit === Exit.usage ? stop : { ...stop, hint },
		run,
		verify: { counts, again: await againText(run, runs, counts, flags) },
		counted: verifyText(counts),
	};
	return await report({ flags, app }, ended);
}

/** A verification writes nothing, so the checked rows count as unchanged. */
function checkedOf(counts: VerifyCounts | undefined): Totals {
	const { checked = 0, unknown = 0, pending = 0 } = counts ?? {};
	const outcomes = { ...noOutcomes(), unchanged: checked - unknown, failed: unknown };
	return totalsOf({ ...NO_ROWS, rows: checked + pending }, outcomes, 0);
}
