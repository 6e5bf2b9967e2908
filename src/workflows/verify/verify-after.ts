import { Exit } from "../../errors.ts";
import { rowsText } from "../../text/words.ts";
import { readRun } from "../../run/journal/reader.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { MAX_OUTAGE } from "../../run/rate/outage.ts";
import type { Stop, VerifyCounts } from "../../run/types.ts";
import { againCommand } from "./again-command.ts";
import type { GlobalFlags } from "../../flags/flags.ts";
import { withFlags } from "../../flags/next-command.ts";
import { APPLY } from "../plan/open-plan.ts";
import type { Run } from "../open-run.ts";
import { stopFromError } from "../stop-from-error.ts";
import { verifyRows } from "./verify-rows.ts";

/** The run to verify, which has just ended. */
export type VerifyAfter = {
	readonly run: string;
	readonly runs: RunStore;
	/** the file whose lines the rows name */
	readonly name: string;
	/** when the run began, on the clock */
	readonly started: number;
	/** why it stopped early */
	readonly stop: Stop | undefined;
};

export type VerifiedAfter = {
	/** the result, and the next command if something is missing; undefined if nothing could be checked */
	readonly found?: { readonly counts: VerifyCounts; readonly unexplained: number; readonly again: string };
	/** why the verification stopped early, with the next command */
	readonly stop?: Stop | undefined;
};

const SURPLUS =
	"warning: an answer came that no request had waited for, so earlier answers may belong to other rows. A proxy or the service is at fault.";

/**
 * Reads back what a run wrote, over all its executions: with `--verify`, or where a surplus answer came. Does nothing if the
 * reason for the stop would stop this too.
 */
export async function verifyAfter(
	{ run, runs, name, started, stop }: VerifyAfter,
	context: Pick<Run, "flags" | "session" | "settings" | "app">,
): Promise<VerifiedAfter> {
	const { flags, app, session } = context;
	const mode = session.hadSurplusAnswer ? "all" : (flags.verify ?? "none");
	if (mode === "none") return {};
	if (session.hadSurplusAnswer) app.io.note(SURPLUS);
	const later = withFlags(`ragtag runs verify ${run}`, flags);
	// The reason for the stop would stop this too, except a limit, which counts only rows.
	if (app.signal.aborted || (stop !== undefined && stop.exit !== Exit.limit)) {
		app.io.note(`What was written was not verified. Verify it with: ${later}`);
		return {};
	}
	try {
		const recorded = await readRun(runs.path(run));
		if (recorded === undefined) return {};
		const written = recorded.state.totals();
		app.io.note(`Reading back what was written: ${rowsText(written.updated + written.uploaded + written.removed)}.`);
		const what = { recorded, runs, mode, name, started, unreadable: Exit.failedRows };
		const verified = await verifyRows(what, {
			...context,
			flags: { ...flags, maxOutage: flags.maxOutage ?? MAX_OUTAGE },
		});
		const hint = `What was written is recorded. Verify it with: ${later}`;
		return {
			found: {
				counts: verified.counts,
				unexplained: verified.unexplained,
				again: await againText(run, runs, verified.counts, flags),
			},
			stop: verified.stop === undefined ? undefined : { ...verified.stop, hint },
		};
	} catch (error) {
		return { stop: stopFromError(error) };
	}
}

/** The next command if something is lost or could not be checked. */
export async function againText(
	run: string,
	runs: RunStore,
	{ mode, lost, changed_since: changed }: VerifyCounts,
	flags: GlobalFlags,
): Promise<string> {
	const verify = withFlags(`ragtag runs verify ${run}`, flags);
	if (lost === 0) return `Check again with: ${verify}`;
	if (mode === "sample") return `List all that is lost with: ${verify}`;
	const file = await runs.read(run);
	const again = file === undefined ? undefined : againCommand(file, flags);
	if (again === undefined) return `Check again with: ${verify}`;
	const also = changed > 0 && file?.command !== APPLY ? ", which also overwrites what was changed since" : "";
	return `Send what was lost again${also}: ${again}`;
}
