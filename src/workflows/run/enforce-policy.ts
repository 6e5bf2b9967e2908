import type { App, Session, Settings } from "../../app.ts";
import type { ExitCode } from "../../errors.ts";
import type { Row } from "../../manifest/types.ts";
import { stopOf } from "../../run/stop/shutdown.ts";
import type { RowBytes } from "../../run/journal/row-states.ts";
import { unsentTotals } from "../../run/journal/memory-journal.ts";
import { journalCliError } from "../../run/recorded/faults.ts";
import { findUnfinished, type RunSpec } from "../../run/recorded/unfinished.ts";
import type { Stop, Totals } from "../../run/types.ts";
import type { RunFlags } from "../../flags/flags.ts";
import { foreignExplained } from "./resumed.ts";
import { resumeCommand } from "../../flags/next-command.ts";
import { stopOrSignal } from "../stop-from-error.ts";
import { report } from "./run-report.ts";
import { unsettled } from "../rows/unsettled-rows.ts";
import { type JudgedRows, PolicyChecker } from "../policy/policy-checker.ts";
import type { PolicyPass } from "../policy/policy-pass.ts";

/** A run that is resumed. */
type Unfinished = { readonly run: string; readonly totals: Totals; isSettled(index: number): boolean };

/**
 * Where the profile has a policy, checks everything that a run would do before it does any of it. Rows that an earlier
 * execution settled are left out.
 *
 * @param unseen the rows that could not be checked are set in it
 * @returns the exit code where the run may not begin, which was then reported; undefined where it may
 */
export async function stoppedByPolicy<SourceRow extends Row>(
	pass: PolicyPass<SourceRow> | undefined,
	source: JudgedRows & { read(): AsyncIterable<SourceRow> },
	wanted: RunSpec,
	flags: RunFlags,
	session: Session,
	settings: Settings,
	app: App,
	unseen: RowBytes,
): Promise<ExitCode | undefined> {
	const { policy } = settings;
	if (policy === undefined || pass === undefined) return undefined;
	const started = app.clock.now();
	const before = await unfinished(wanted, flags, settings, app);
	const watch = new PolicyChecker(policy, source, flags, app);
	const rows = (): AsyncIterable<SourceRow> =>
		untilStopped(before === undefined ? source.read() : unsettled(source.read(), before), app.signal);
	const passed = async (): Promise<Stop | undefined> => {
		const cut = await pass(rows, watch, { flags, session, settings, app, unseen });
		// After its last request the pass does not notice a signal, and a run that was stopped must not begin.
		return app.signal.aborted ? stopOf(app.signal.reason) : cut;
	};
	const cut = await passed().catch((error: unknown) => stopOrSignal(error, app.signal));
	const forbidden = await watch.end();
	const stop = cut ?? forbidden;
	if (stop === undefined) return undefined;
	const totals = before?.totals ?? unsentTotals(source);
	const seconds = (app.clock.now() - started) / 1000;
	const resumed = before === undefined ? {} : { run: before.run, resume: resumeCommand(before.run, flags) };
	return report({ totals, seconds, stop, ...resumed }, flags, app);
}

async function* untilStopped<Item>(items: AsyncIterable<Item>, signal: AbortSignal): AsyncGenerator<Item> {
	for await (const item of items) {
		if (signal.aborted) return;
		yield item;
	}
}

async function unfinished(
	wanted: RunSpec,
	flags: RunFlags,
	settings: Settings,
	app: App,
): Promise<Unfinished | undefined> {
	const resume = flags.run ?? flags.resume ?? false;
	if (resume === false) return undefined;
	const options = { runs: app.runs(settings), now: () => new Date(), resume };
	const found = await findUnfinished(wanted, options).catch((error: unknown) => {
		throw foreignExplained(journalCliError(error), wanted, flags);
	});
	if (found === "none" || !("resume" in found)) return undefined;
	const { header, state } = found.resume;
	return {
		run: header.run,
		totals: state.totals(),
		isSettled: (index) => {
			const status = state.statusOf(index);
			return status !== undefined && !(flags.reopen === true && status === "failed");
		},
	};
}
