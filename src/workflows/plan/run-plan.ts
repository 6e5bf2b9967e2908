import type { App, Session, Settings } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import { unsentTotals } from "../../run/journal/memory-journal.ts";
import { CONFLICT, doPlanned } from "../../run/operations/planned.ts";
import type { SentLog } from "../../run/operations/sent-log.ts";
import type { DocumentSource } from "../../run/documents/document-source.ts";
import type { Stop, Totals } from "../../run/types.ts";
import { changePrinter } from "../preview/change-columns.ts";
import { type ChangeSink, dryRun } from "../preview/preview.ts";
import { unreadable } from "../readable.ts";
import { changeFormat } from "../../flags/change-flags.ts";
import { withFlags } from "../../flags/next-command.ts";
import { policyPrescan } from "../policy/prescan.ts";
import { stopFromError } from "../stop-from-error.ts";
import { report } from "../run/run-report.ts";
import { runSource } from "../run/run-rows.ts";
import { itemOf, type PlanItem, rulesOf, seeOf } from "./preview-plan.ts";
import { type OpenedPlan, openPlan } from "./open-plan.ts";
import type { PlanFlags, PlanKind, PlanRun } from "./plan-kind.ts";
import { planRows } from "./plan-rows.ts";

type FailedWith = (code: string) => number;

/**
 * Checks a whole plan, then does what it says.
 *
 * A plan that was edited or cut, or is for another target, ends the command before its first request that writes.
 */
export async function runPlan(
	path: string,
	kind: PlanKind,
	flags: PlanFlags,
	session: Session,
	settings: Settings,
	app: App,
): Promise<ExitCode> {
	const refuse = (stop: Stop, rows: number): Promise<ExitCode> => {
		const totals = unsentTotals({ rows, invalid: 0, duplicateSkipped: 0 });
		return report({ totals, seconds: 0, stop }, flags, app);
	};
	const plan = await opened(path, kind, settings, app);
	if ("exit" in plan) return refuse(plan, 0);
	try {
		const source = planRows(plan, kind);
		const stop = foreign(plan, session) ?? (await unreadable(kind.command, source, session, flags, app));
		if (stop !== undefined) return await refuse(stop, source.rows);
		const run = { plan, source, kind, flags, session, settings, app };
		return await (flags.dryRun === true ? show(run) : send(run));
	} finally {
		await plan.close();
	}
}

/** Why the plan is none, as a stop that is reported like others. @throws CliError where it can't be read or kept */
async function opened(path: string, { actions }: PlanKind, settings: Settings, app: App): Promise<OpenedPlan | Stop> {
	try {
		return await openPlan(path, { stdin: app.stdin, temporaryFolder: await app.temporaryFolder(settings), actions });
	} catch (error) {
		if (!(error instanceof CliError) || error.exit !== Exit.foreign) throw error;
		return stopFromError(error);
	}
}

function foreign({ name, header }: OpenedPlan, { baseUrl }: Session): Stop | undefined {
	if (header.baseUrl === baseUrl) return undefined;
	return {
		exit: Exit.foreign,
		text: `${name}: the plan is for ${header.baseUrl}, and this would go to ${baseUrl}; nothing was sent`,
		hint: "Name its target with --base-url or --profile, or make a plan for this one.",
	};
}

function show(run: PlanRun): Promise<ExitCode> {
	const { source, kind, flags, session, settings, app } = run;
	const see = seeOf(run);
	const printer = changePrinter(changeFormat(flags), app);
	let documents = 0;
	const sink: ChangeSink = {
		...printer,
		end: async (tally) => {
			documents = tally.documents;
			await printer.end(tally);
		},
		get next() {
			const force = "--force also changes documents that were changed since.";
			return documents === 0 ? force : `The same command without --dry-run makes these changes; ${force}`;
		},
	};
	const { isExempt } = kind;
	return dryRun({ source, itemOf, see, tell: "failed", isExempt, sink }, flags, session, settings, app);
}

async function send(planned: PlanRun): Promise<ExitCode> {
	const { plan, source, kind, flags, session, settings, app } = planned;
	const { command, asksForEach, isExempt, countsUnplanned, undone, before, takesBack } = kind;
	const run = {
		source,
		itemOf,
		asksForEach,
		policyPass: isExempt ? undefined : policyPrescan({ itemOf, see: seeOf(planned) }),
		before: () => before(plan, source),
		operation: ({ service }: Session, log: SentLog, present: DocumentSource) =>
			doPlanned<PlanItem>(service, rulesOf(planned, present), log),
		tell: "failed" as const,
		undone: undone && ((totals: Totals, count: FailedWith) => undone(totals, count(CONFLICT))),
		next: (run: string, count: FailedWith, { failed, invalid }: Totals) => {
			if (count(CONFLICT) > 0) {
				const force = withFlags(`ragtag runs retry ${run} --force`, flags);
				return `Documents that were changed since were left alone. To change them as well: ${force}`;
			}
			if (!countsUnplanned) return undefined;
			// Rows that take a run back are not to be mended: fed to docs tag, one that removes a document would clear it.
			if (failed > 0) return `Try the failed rows again: ${withFlags(`ragtag runs retry ${run}`, flags)}`;
			return invalid > 0 ? "The others were not changed: ragtag docs list shows what they have." : undefined;
		},
	};
	// The plan alone says what is sent.
	return runSource(run, { command, settings, options: {}, takesBack }, flags, session, app);
}
